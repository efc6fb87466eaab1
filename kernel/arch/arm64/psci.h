/* SPDX-License-Identifier: MIT */
/* psci.h - the firmware interface that starts CPUs. arch_power_off() is in psci.c too. */
#ifndef ARM64_PSCI_H
#define ARM64_PSCI_H

#include <kernel/types.h>

/** psci_init() - learn from the device tree whether firmware is called by HVC or SMC.
 *  Return: false if there is no PSCI 0.2 or later. */
bool psci_init(void);

/** psci_cpu_on() - start the CPU with this MPIDR at physical address @entry with @context in x0.
 *  Return: 0 or a negative errno. */
int psci_cpu_on(u64 mpidr, phys_addr_t entry, u64 context);

#endif
