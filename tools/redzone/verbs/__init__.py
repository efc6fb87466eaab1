# SPDX-License-Identifier: MIT
"""Verbs about the command itself: what it has made, its help, its settings."""
