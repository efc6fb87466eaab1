# SPDX-License-Identifier: MIT
"""`./redzone fuzz`: coverage-guided fuzzing inside the kernel.

command.py has the verb, target.py builds the kernel and the executable, campaign.py runs it under one of the
engines (libfuzzer.py, afl.py), findings.py judges what it found. The C files here are the executable: see
proxy.h.
"""
