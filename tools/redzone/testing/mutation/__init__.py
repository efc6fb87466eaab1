# SPDX-License-Identifier: MIT
"""Plants bugs in C libraries, and compares what Redzone and the host's ASan report about them.

places.py finds where a bound or a lifetime can be broken, picker.py chooses, native.py and guest.py build and
run, compare.py says why two verdicts differ. The suite `mutations` uses them; mutations.md has results.
"""
