# SPDX-License-Identifier: MIT
#
# How makefiles find programs of LLVM: Debian's names have a number, those of other systems have not.
#
#	include $(REDZONE)/llvm.mk
#	CC := $(call redzone_llvm,clang) --target=...
#
# gives clang-19, or clang of version 19 or newer; or clang-19 if there is neither, which then is the name in the error.
redzone_llvm = $(or $(shell for name in $(1)-19 $(1); do text=$$($$name --version 2>/dev/null | grep -v Apple); \
	major=$$(echo "$$text" | sed -n 's/^[^0-9]*\([0-9]*\)[.][0-9].*/\1/p' | head -n 1); \
	[ "$${major:-0}" -lt 19 ] || { echo $$name; break; }; done),$(1)-19)
