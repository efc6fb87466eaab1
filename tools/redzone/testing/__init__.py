# SPDX-License-Identifier: MIT
"""`./redzone test`: the suites, and what they need."""
