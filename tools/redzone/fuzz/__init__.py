# SPDX-License-Identifier: MIT
"""`./redzone fuzz`: coverage-guided fuzzing inside the kernel.

command.py has the verb, target.py builds the kernel and the libFuzzer executable, campaign.py runs it,
findings.py judges what it found. The C files here are the executable: see proxy.h.
"""
