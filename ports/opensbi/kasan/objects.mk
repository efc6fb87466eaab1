# SPDX-License-Identifier: MIT
#
# objects.mk - OpenSBI under KASAN: copy this folder to platform/generic/kasan, whose objects.mk OpenSBI's Makefile finds
# by itself, and
#
#	make PLATFORM=generic LLVM=-19 REDZONE=path/to/redzone
#	make PLATFORM=generic CROSS_COMPILE=riscv64-linux-gnu- REDZONE=path/to/redzone FW_TEXT_START=0x80000000
#
# The first image runs wherever it is loaded: the shadow is found from there at boot. GCC has no shadow that moves, so it
# checks stack variables only with FW_TEXT_START, the one place that such an image may be loaded to.
KASAN_ARCH := riscv64
# Device registers have no shadow, and only checks by calls know that.
KASAN_WHERE := outline
KASAN_OBJDIR := $(platform_build_dir)/kasan/runtime
kasan_comma := ,

# Firmware's 4 MiB have shadow, which begins after them: see layout.h. The offset is start + 4 MiB - start / 8.
ifdef FW_TEXT_START
KASAN_SHADOW_OFFSET := $(shell printf '%#x' $$(($(FW_TEXT_START) + 0x400000 - $(FW_TEXT_START) / 8)))
else ifeq ($(CC_IS_CLANG),y)
KASAN_DYNAMIC := 1
else
KASAN_STACK := 0
endif
# What comes next lies after shadow and tables.
FW_JUMP_OFFSET := 0x800000
# OpenSBI links its test payload with its own library, whose checks have no runtime in supervisor mode.
FW_PAYLOAD := n

# struct sbi_scratch, which mscratch points to, has the hart's index in its 15th word.
KASAN_DEFINES := CONFIG_KASAN_NR_CPUS=16 CONFIG_KASAN_DEPOT_SIZE=2097152UL CONFIG_KASAN_DEPOT_BUCKETS=1024 CONFIG_KASAN_PERCPU=1 \
	KASAN_RISCV_HART_AT=112 'KASAN_PORT_INLINE_H=<kasan/inline_riscv.h>'
# As OpenSBI compiles its own: position-independent, symbols without a GOT.
KASAN_RUNTIME_CFLAGS := $(CLANG_TARGET) $(RELAX_FLAG) -g -fPIE -mcmodel=medany -mabi=lp64 -march=rv64imafdc_zicsr_zifencei \
	-include $(include_dir)/sbi/sbi_visibility.h
# The port; the allocators, which work on memory that is poisoned.
KASAN_EXCLUDE := port.o sbi_heap.o sbi_scratch.o riscv_locks.o
ifneq ($(CC_IS_CLANG),y)
# GCC loses a variable in a register of its own (register ... asm("a3")) when a check is called before it is used.
KASAN_EXCLUDE += sbi_unpriv.o sbi_illegal_atomic.o sbi_hart.o sbi_dbtr.o imsic.o
endif
include $(REDZONE)/redzone.mk

platform-objs-y += kasan/port.o
ifdef BUGS
# Planted bugs, an extension that supervisor mode calls.
platform-objs-y += kasan/bugs.o
carray-sbi_ecall_exts-y += ecall_redzone
endif
platform-cflags-y += $(KASAN_CPPFLAGS)
kasan_wrapped := sbi_init sbi_scratch_init sbi_heap_init sbi_domain_init sbi_malloc_from \
	sbi_zalloc_from sbi_aligned_alloc_from sbi_free_from sbi_console_set_device sbi_putc sbi_trap_handler
platform-ldflags-y += $(addprefix -Wl$(kasan_comma)--wrap=,$(kasan_wrapped)) -Wl,-T,$(KASAN_LDS) $(KASAN_OBJS)
$(foreach name,jump dynamic,$(platform_build_dir)/firmware/fw_$(name).elf): $(KASAN_OBJS)

# layout.h has names for the harts' scratch areas, whose allocator keeps its own.
$(build_dir)/lib/%.o $(platform_build_dir)/%.o: CFLAGS += $(KASAN_CODE_FLAGS) $(KASAN_CFLAGS) \
	$(if $(filter %/sbi_scratch.o,$@),,-include $(platform_src_dir)/kasan/layout.h)
# The port's comes first, and calls this one.
$(platform_build_dir)/platform.o: CFLAGS += -Dfw_platform_init=opensbi_platform_init
# The runtime's, which check whole ranges, take these names; memcpy() and its like of fw_base.S lead there.
$(build_dir)/lib/sbi/sbi_string.o: CFLAGS += $(foreach name,memcpy memmove memset,-Dsbi_$(name)=opensbi_$(name))
$(KASAN_OBJDIR)/abi/asan_mem.o: kasan_compile += $(foreach name,memcpy memmove memset,-D$(name)=sbi_$(name))
# The allocators'.
$(build_dir)/lib/sbi/sbi_heap.o $(build_dir)/lib/sbi/sbi_scratch.o: CFLAGS += -Dsbi_memset=__memset
# The console's lock is one whose holder is known.
$(build_dir)/lib/sbi/sbi_console.o: CFLAGS += -Dspin_lock=kasan_console_spin_lock -Dspin_unlock=kasan_console_spin_unlock
