# SPDX-License-Identifier: MIT
"""The machine that boots: QEMU, its console and logs."""
