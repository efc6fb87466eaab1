# SPDX-License-Identifier: MIT
"""`./redzone bench`."""
