# SPDX-License-Identifier: MIT
"""`./redzone decode`: finds the sanitizer reports in any log, and makes them readable."""
