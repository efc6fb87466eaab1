# SPDX-License-Identifier: MIT
# The arm64 port, and its files that run before there is shadow or inside a report.
set(REDZONE_ARCH_ARM64_SOURCES
	head.S
	entry.S
	early.c
	fault.c
	gicv2.c
	gicv3.c
	irq.c
	kasan_init.c
	linear.c
	machine.c
	mem.S
	mte.c
	mte_fault.c
	module.c
	pgtable.c
	psci.c
	setup.c
	smp.c
	stackleak.S
	stacktrace.c
	timer.c
	traps.c
	uaccess.S
	user.S
	user_pgtable.c
	user_traps.c
)
set(REDZONE_ARCH_ARM64_UNINSTRUMENTED
	early.c
	fault.c
	kasan_init.c
	linear.c
	machine.c
	mte.c
	mte_fault.c
	pgtable.c
	psci.c
	stacktrace.c
	timer.c
	traps.c
)
if(REDZONE_SHADOW_CALL_STACK)
	list(APPEND REDZONE_ARCH_ARM64_SOURCES scs.c)
	list(APPEND REDZONE_ARCH_ARM64_UNINSTRUMENTED scs.c)
endif()
