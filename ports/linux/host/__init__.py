# SPDX-License-Identifier: MIT
"""What `./redzone port linux` does on the host."""
