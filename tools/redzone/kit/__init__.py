# SPDX-License-Identifier: MIT
"""What a port uses: flags, audit, amalgamate, size."""
