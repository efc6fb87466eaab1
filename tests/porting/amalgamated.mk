# SPDX-License-Identifier: MIT
# Builds the example with kasan.c and kasan.h copied into its folder. Variables: CC MACHINE RAM IMAGE OUT LLD LINK;
# FLAGS, DEFINES and CODE, as ./redzone flags prints them; MORE: further sources; OWN: options of
# kasan.c alone.
common := $(MACHINE) -std=gnu17 -ffreestanding -O2 -g -fno-pic -fno-stack-protector -Wall -Wextra -Werror \
	-Wno-unused-parameter -I. $(DEFINES) -DCONFIG_KASAN_DEPOT_SIZE=65536UL -DCONFIG_KASAN_DEPOT_BUCKETS=256 $(CODE)

more := $(addprefix $(OUT)/,$(patsubst %.c,%.o,$(filter %.c,$(MORE))))
$(OUT)/template.elf: template.lds start.S $(filter %.S,$(MORE)) $(addprefix $(OUT)/,main.o board.o heap.o port.o kasan.o) \
		$(more)
	$(CC) $(MACHINE) -I. $(DEFINES) $(if $(LLD),--ld-path=$(LLD)) -nostdlib -static -T template.lds -Wl,--defsym=RAM_START=$(RAM) \
		-Wl,--defsym=IMAGE_START=$(IMAGE) -Wl,--build-id=none $(LINK) $(filter %.S %.o,$^) -o $@

$(OUT)/main.o: checks := $(FLAGS)
$(OUT)/kasan.o: checks := $(OWN)
$(OUT)/%.o: %.c kasan.h
	@mkdir -p $(OUT)
	$(CC) $(common) $(checks) -c $< -o $@
