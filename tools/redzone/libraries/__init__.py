# SPDX-License-Identifier: MIT
"""Public C libraries that run in the kernel."""
