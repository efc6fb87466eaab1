# SPDX-License-Identifier: MIT
# The example by pkg-config alone. Variables: ARCH CC FAMILY (clang, gcc) MACHINE RAM IMAGE OFFSET OUT LLD.
pc = $(shell pkg-config --define-variable=shadow_offset=$(OFFSET) --variable=$(1) redzone)
cppflags := $(shell pkg-config --cflags redzone) -DCONFIG_KASAN_SHADOW_WINDOWED=1 \
	-DCONFIG_KASAN_SHADOW_OFFSET=$(OFFSET)UL -DCONFIG_KASAN_DEPOT_SIZE=65536UL -DCONFIG_KASAN_DEPOT_BUCKETS=256
code := $(call pc,$(FAMILY)_code$(if $(filter gcc-arm64,$(FAMILY)-$(ARCH)),_arm64))
common := $(MACHINE) -ffreestanding -O2 -g -fno-pic -Wall -Wextra -Wno-unused-parameter $(cppflags) $(code)
sources := $(call pc,sources)
runtime := $(addprefix $(OUT)/kasan/,$(notdir $(sources:.c=.o)))

$(OUT)/template.elf: template.lds start.S $(addprefix $(OUT)/,main.o board.o heap.o port.o) $(runtime)
	$(CC) $(MACHINE) $(if $(LLD),--ld-path=$(LLD)) -nostdlib -static -T template.lds -Wl,--defsym=RAM_START=$(RAM) \
		-Wl,--defsym=IMAGE_START=$(IMAGE) -Wl,--build-id=none $(filter %.S %.o,$^) -o $@

$(OUT)/main.o: checks := $(call pc,$(FAMILY)_inline)
$(OUT)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(common) $(checks) -c $< -o $@

own := $(call pc,runtime)
define compile
$(OUT)/kasan/$(notdir $(1:.c=.o)): $(1)
	@mkdir -p $$(@D)
	$$(CC) $$(common) $$(own) -c $$< -o $$@
endef
$(foreach source,$(sources),$(eval $(call compile,$(source))))
