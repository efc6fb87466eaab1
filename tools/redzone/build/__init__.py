# SPDX-License-Identifier: MIT
"""Builds kernels and programs: CMake, presets, the C library."""
