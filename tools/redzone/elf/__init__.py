# SPDX-License-Identifier: MIT
"""Reads ELF files: file.py their parts, symbols.py their symbols, dwarf.py their debug information."""
