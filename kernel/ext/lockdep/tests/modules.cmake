# SPDX-License-Identifier: MIT
# The module whose locks the suites lose with it.
redzone_embed_module(lock ${kernel_dir}/ext/lockdep/tests/module_lock.c ${kernel_dir}/ext/lockdep/tests/lockdep_blob.S)
list(APPEND test_modules module_lock.stripped)
