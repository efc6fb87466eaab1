# SPDX-License-Identifier: MIT
"""`./redzone run`: what is run, how, and what is shown."""
