# SPDX-License-Identifier: MIT
# The arm64 port, and its files that run before there is shadow or inside a report.
set(REDZONE_ARCH_ARM64_SOURCES
	head.S
	entry.S
	early.c
	fault.c
	fpu.S
	fpu.c
	gicv2.c
	gicv3.c
	irq.c
	libc.c
	mem.S
	mte.c
	mte_fault.c
	module.c
	patch.c
	psci.c
	seed.c
	setjmp.S
	setup.c
	show.c
	smp.c
	timer.c
	tlb.c
	traps.c
	uaccess.S
	user.S
	user_traps.c
)
set(REDZONE_ARCH_ARM64_UNINSTRUMENTED
	early.c
	fault.c
	mte.c
	mte_fault.c
	patch.c
	psci.c
	show.c
	timer.c
	tlb.c
	traps.c
)
if(REDZONE_SHADOW_CALL_STACK)
	list(APPEND REDZONE_ARCH_ARM64_SOURCES scs.c)
	list(APPEND REDZONE_ARCH_ARM64_UNINSTRUMENTED scs.c)
endif()
