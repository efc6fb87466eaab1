# SPDX-License-Identifier: MIT
"""The package behind ./redzone: build, boot, test and explain."""
