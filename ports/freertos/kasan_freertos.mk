# SPDX-License-Identifier: MIT
#
# FreeRTOS under KASAN, for make: include this instead of redzone.mk. docs/port/freertos.md shows a whole makefile.
#
#	REDZONE             := path/to/redzone
#	FREERTOS            := path/to/FreeRTOS-Kernel    V11
#	KASAN_ARCH          := arm                        or riscv64, riscv32
#	KASAN_RAM_START     := 0x20000000                 the RAM of the linker script: .data, .bss, stacks and heap
#	KASAN_RAM_SIZE      := 0x20000
#	KASAN_FLASH_START   := 0x08000000                 where code and constants are; it may be the RAM
#	KASAN_FLASH_SIZE    := 0x80000
#	KASAN_FREERTOS_HEAP := 4                          heap_1 to heap_5
#	KASAN_RUNTIME_CFLAGS := -mcpu=cortex-m3 -mthumb -I...   how your tree compiles C, and where FreeRTOSConfig.h is
#	KASAN_OBJDIR        := build/kasan
#	include $(REDZONE)/ports/freertos/kasan_freertos.mk
#
# gives, besides KASAN_CPPFLAGS, KASAN_CODE_FLAGS, KASAN_CFLAGS and KASAN_OBJS (see redzone.mk):
#
#	KASAN_WINDOW_SIZE   bytes of RAM that are left, 8/9 of it: the LENGTH in the linker script
#	KASAN_LDFLAGS       for the link with gcc
#
# Files of FreeRTOS that must not be checked (its heap_?.c, the portable port.c) are left out by their names, if
# your objects are called port.o, portasm.o and heap_4.o. KASAN_SHADOW_START := ... puts the shadow elsewhere: then all of the RAM is left.

REDZONE ?= $(abspath $(dir $(lastword $(MAKEFILE_LIST)))../..)
KASAN_FREERTOS_DIR := $(REDZONE)/ports/freertos
KASAN_WHERE ?= outline

ifneq ($(filter-out arm riscv64 riscv32,$(KASAN_ARCH)),)
$(error KASAN_ARCH is '$(KASAN_ARCH)'; the FreeRTOS port accepts: arm, riscv64, riscv32)
endif
ifeq ($(filter 1 2 3 4 5,$(KASAN_FREERTOS_HEAP)),)
$(error KASAN_FREERTOS_HEAP is '$(KASAN_FREERTOS_HEAP)'; accepted: 1, 2, 3, 4, 5, as in heap_4.c)
endif
$(foreach name,FREERTOS KASAN_RAM_START KASAN_RAM_SIZE KASAN_FLASH_START KASAN_FLASH_SIZE,\
	$(if $($(name)),,$(error give $(name) before kasan_freertos.mk; its head says what it is)))

comma := ,
kasan_hex = $(shell printf '0x%x' "$$(( $(1) ))")
ifdef KASAN_SHADOW_START
KASAN_WINDOW_SIZE := $(call kasan_hex,$(KASAN_RAM_SIZE) & ~63)
else
# A multiple of 64, so that the shadow is one of 8.
KASAN_WINDOW_SIZE := $(call kasan_hex,$(KASAN_RAM_SIZE) / 9 * 8 & ~63)
KASAN_SHADOW_START := $(call kasan_hex,$(KASAN_RAM_START) + $(KASAN_WINDOW_SIZE))
endif
KASAN_SHADOW_OFFSET := $(call kasan_hex,$(KASAN_SHADOW_START) - $(KASAN_RAM_START) / 8)
KASAN_DEFINES += CONFIG_KASAN_WINDOW_START=$(KASAN_RAM_START)UL CONFIG_KASAN_WINDOW_SIZE=$(KASAN_WINDOW_SIZE)UL

include $(REDZONE)/redzone.mk

KASAN_CPPFLAGS += -I$(KASAN_FREERTOS_DIR) -I$(KASAN_FREERTOS_DIR)/../template -DKASAN_FREERTOS_HEAP=$(KASAN_FREERTOS_HEAP)

kasan_freertos_wrap_libc := malloc free calloc realloc _malloc_r _free_r _calloc_r _realloc_r
kasan_freertos_wrap := $(if $(filter 3,$(KASAN_FREERTOS_HEAP)),$(kasan_freertos_wrap_libc),\
	pvPortMalloc pvPortCalloc vPortFree vApplicationMallocFailedHook vPortDefineHeapRegions)
KASAN_LDFLAGS := $(addprefix -Wl$(comma)--wrap=,$(kasan_freertos_wrap)) -L$(KASAN_FREERTOS_DIR) \
	-Wl,--defsym=__kasan_window_start=$(KASAN_RAM_START) \
	-Wl,--defsym=__kasan_window_end=$(call kasan_hex,$(KASAN_RAM_START) + $(KASAN_WINDOW_SIZE)) \
	-Wl,--defsym=__kasan_shadow_start=$(KASAN_SHADOW_START) \
	-Wl,--defsym=__kasan_flash_start=$(KASAN_FLASH_START) \
	-Wl,--defsym=__kasan_flash_end=$(call kasan_hex,$(KASAN_FLASH_START) + $(KASAN_FLASH_SIZE))

# What switches tasks, and the allocator, whose words lie between the objects. Its own clearing of memory is not
# checked either.
KASAN_SANITIZE_port.o ?= n
KASAN_SANITIZE_portasm.o ?= n
KASAN_SANITIZE_heap_$(KASAN_FREERTOS_HEAP).o ?= n
KASAN_FREERTOS_HEAP_CFLAGS := -Dmemset=__memset

# The first target of the including makefile stays the default.
kasan_freertos_goal := $(.DEFAULT_GOAL)

# --- The port's own files ------------------------------------------------------------------------------------

kasan_freertos_files := port tasks fault guard probe heap $(if $(filter 3,$(KASAN_FREERTOS_HEAP)),libc,kernel)_heap
kasan_freertos_objects := $(patsubst %,$(KASAN_OBJDIR)/freertos/%.o,$(kasan_freertos_files))
kasan_freertos_fault := $(if $(filter arm,$(KASAN_ARCH)),$(KASAN_OBJDIR)/freertos/cortexm_fault.o)
KASAN_OBJS += $(kasan_freertos_objects) $(kasan_freertos_fault)
define kasan_freertos_compile
@mkdir -p $(@D)
$(CC) $(KASAN_CPPFLAGS) $(KASAN_RUNTIME_CFLAGS) -std=gnu17 -O2 $(KASAN_CODE_FLAGS) \
	$(if $(filter %heap.c,$<),-foptimize-sibling-calls) $(if $(filter %probe.c,$<),$(kasan_checks)) \
	-MMD -MP -c $< -o $@
endef
$(kasan_freertos_objects): $(KASAN_OBJDIR)/freertos/%.o: $(KASAN_FREERTOS_DIR)/%.c $(kasan_options)
	$(kasan_freertos_compile)
$(kasan_freertos_fault): $(KASAN_OBJDIR)/freertos/%.o: $(KASAN_FREERTOS_DIR)/../template/%.c $(kasan_options)
	$(kasan_freertos_compile)
-include $(kasan_freertos_objects:.o=.d) $(kasan_freertos_fault:.o=.d)
.DEFAULT_GOAL := $(kasan_freertos_goal)
