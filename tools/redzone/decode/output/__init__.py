# SPDX-License-Identifier: MIT
"""What `./redzone decode` writes besides its text: HTML, SARIF, JUnit, and others."""
