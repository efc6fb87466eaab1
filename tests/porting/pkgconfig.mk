# SPDX-License-Identifier: MIT
# Builds the example with pkg-config alone. Variables: ARCH CC FAMILY (clang, gcc) MACHINE RAM IMAGE OUT LLD LINK; MODE (GENERIC,
# SW_TAGS, HW_TAGS), OFFSET and LAYOUT (options of the shadow), CHECKS and CODE (names of redzone.pc's variables),
# MORE (further sources), OPTIMIZE (2, s or z; empty: the default).
pc = $(shell pkg-config --define-variable=shadow_offset=$(OFFSET) --variable=$(1) redzone)
cppflags := $(shell pkg-config --define-variable=mode=$(MODE) --cflags redzone) $(LAYOUT) -DCONFIG_KASAN_DEPOT_SIZE=65536UL -DCONFIG_KASAN_DEPOT_BUCKETS=256
code := $(call pc,$(CODE))
more := $(addprefix $(OUT)/,$(patsubst %.c,%.o,$(filter %.c,$(MORE))))
common := $(MACHINE) -ffreestanding -O2 -g -fno-pic -Wall -Wextra -Wno-unused-parameter $(cppflags) $(code)
sources := $(call pc,sources)
runtime := $(addprefix $(OUT)/kasan/,$(notdir $(sources:.c=.o)))

$(OUT)/template.elf: template.lds start.S $(filter %.S,$(MORE)) $(addprefix $(OUT)/,main.o board.o heap.o port.o) \
		$(more) $(runtime)
	$(CC) $(MACHINE) $(cppflags) $(if $(LLD),--ld-path=$(LLD)) -nostdlib -static -T template.lds -Wl,--defsym=RAM_START=$(RAM) \
		-Wl,--defsym=IMAGE_START=$(IMAGE) -Wl,--build-id=none $(LINK) $(filter %.S %.o,$^) -o $@

$(OUT)/main.o: checks := $(if $(CHECKS),$(call pc,$(CHECKS)))
$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(common) $(checks) -c $< -o $@

own := $(shell pkg-config $(if $(OPTIMIZE),--define-variable=optimize=$(OPTIMIZE)) --variable=runtime redzone)
define compile
$(OUT)/kasan/$(notdir $(1:.c=.o)): $(1)
	@mkdir -p $$(@D)
	$$(CC) $$(common) $$(own) -c $$< -o $$@
endef
$(foreach source,$(sources),$(eval $(call compile,$(source))))
