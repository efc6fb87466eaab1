# SPDX-License-Identifier: MIT
"""What all rooms use: paths, processes, outside programs, fetchers."""
