# SPDX-License-Identifier: MIT
#
# kasan.mk - read behind xv6's own Makefile: make -f Makefile -f kasan.mk REDZONE=path/to/redzone qemu
KASAN_ARCH := riscv64
# The shadow is at PHYSTOP: 0x88000000 - 0x80000000 / 8.
KASAN_SHADOW_OFFSET := 0x78000000
KASAN_DEFINES := CONFIG_KASAN_NR_CPUS=8 'KASAN_PORT_INLINE_H=<kasan/inline_riscv.h>'
KASAN_RUNTIME_CFLAGS := $(filter-out -M% -I%,$(CFLAGS))
# The port; the allocator, which keeps its list in free pages and fills them.
KASAN_EXCLUDE := kasan.o kalloc.o
include $(REDZONE)/redzone.mk
kernel/%.o: CFLAGS += $(KASAN_CPPFLAGS) $(KASAN_CODE_FLAGS) $(KASAN_CFLAGS)
kernel/kalloc.o: CFLAGS += -Dmemset=__memset
# The runtime has these, checked.
kernel/string.o: CFLAGS += -Dmemset=xv6_memset -Dmemmove=xv6_memmove -Dmemcpy=xv6_memcpy
OBJS += kernel/kasan.o $(KASAN_OBJS)
kernel/kernel: private LDFLAGS += -T $(KASAN_LDS) $(addprefix --wrap=,kalloc kfree kvminit procinit swtch kerneltrap)
kernel/kernel: kernel/kasan.o $(KASAN_OBJS)
QEMUOPTS += -m 192M
