# SPDX-License-Identifier: MIT
"""`python -m redzone`: the entry that the launcher calls."""

from redzone.cli import main

main()
