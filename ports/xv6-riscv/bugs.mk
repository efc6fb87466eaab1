# SPDX-License-Identifier: MIT
#
# bugs.mk - the demonstration on top of kasan.mk: xv6 with planted bugs.
OBJS += kernel/bugs.o
kernel/kernel: private LDFLAGS += $(addprefix --wrap=,sys_mkdir yield)
kernel/kernel: kernel/bugs.o
