# SPDX-License-Identifier: MIT
"""Differences between ASan and Redzone that somebody has looked into: {(library, file:line, rule): text}.

Only what compare.py cannot work out by itself stands here.
"""

EXPLAINED = {}
