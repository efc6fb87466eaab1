# SPDX-License-Identifier: MIT
#
# Redzone for make: include this file, and the runtime is three variables and one rule.
#
#	REDZONE            := path/to/redzone             this file's folder
#	KASAN_ARCH         := arm64                       arm64, riscv64, x86_64 or arm
#	KASAN_WHERE        := inline                      or outline (the default)
#	KASAN_SHADOW_OFFSET := 0x38700000                 or KASAN_DYNAMIC := 1 (Clang), or neither
#	KASAN_OBJDIR       := build/kasan                 where the runtime's objects go
#	KASAN_RUNTIME_CFLAGS := -march=...                what your tree compiles C with, sanitizer apart
#	include $(REDZONE)/redzone.mk
#
# gives
#
#	KASAN_CPPFLAGS     for every C file: include path and configuration
#	KASAN_CODE_FLAGS   for every C file: frames that can be unwound
#	KASAN_CFLAGS       for the files to be checked, in addition
#	KASAN_OBJS         the runtime's objects, made by a rule of this file: link them
#
# More: KASAN_LAYOUT := windowed (default) or full, with KASAN_SHADOW_LOW and KASAN_SHADOW_HIGH;
# KASAN_STACK := 0, KASAN_GLOBALS := 0; KASAN_DEFINES := CONFIG_KASAN_...=n ...; KASAN_BYPASS := 1 if the
# Clang driver refuses -fsanitize=kernel-address for your target triple.

REDZONE ?= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
KASAN_LAYOUT ?= windowed
KASAN_WHERE ?= outline
KASAN_STACK ?= 1
KASAN_GLOBALS ?= 1
KASAN_BYPASS ?= 0
KASAN_OBJDIR ?= kasan
KASAN_INCLUDE ?= $(firstword $(wildcard $(REDZONE)/include/kasan $(REDZONE)/../../include/kasan))
kasan_cc := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),clang,gcc)

# --- What does not go together ---------------------------------------------------------------------

ifeq ($(filter $(KASAN_ARCH),arm64 riscv64 x86_64 arm),)
$(error KASAN_ARCH is '$(KASAN_ARCH)'; accepted: arm64, riscv64, x86_64, arm)
endif
ifeq ($(filter $(KASAN_WHERE),inline outline),)
$(error KASAN_WHERE is '$(KASAN_WHERE)'; accepted: inline, outline)
endif
ifeq ($(filter $(KASAN_LAYOUT),windowed full),)
$(error KASAN_LAYOUT is '$(KASAN_LAYOUT)'; accepted: windowed, full)
endif
ifneq ($(and $(KASAN_DYNAMIC),$(KASAN_SHADOW_OFFSET)),)
$(error with KASAN_SHADOW_OFFSET the compiler ignores KASAN_DYNAMIC; give one of them)
endif
ifneq ($(and $(KASAN_DYNAMIC),$(filter gcc,$(kasan_cc))),)
$(error GCC has no dynamic shadow; use Clang, KASAN_SHADOW_OFFSET, or KASAN_WHERE=outline with KASAN_STACK=0)
endif
ifeq ($(KASAN_DYNAMIC)$(KASAN_SHADOW_OFFSET),)
ifneq ($(KASAN_WHERE)$(KASAN_STACK),outline0)
$(error inline checks and stack poison are compiled for one place of the shadow: give KASAN_SHADOW_OFFSET, or KASAN_DYNAMIC=1 (Clang), or KASAN_WHERE=outline with KASAN_STACK=0)
endif
endif

# --- The compiler's options: kasan-flags.json in make's words ------------------------------------------

kasan_flags_clang := $(if $(filter 1,$(KASAN_BYPASS)),-Xclang -fsanitize=kernel-address \
	-Xclang -fsanitize-recover=kernel-address,-fsanitize=kernel-address) \
	$(if $(KASAN_SHADOW_OFFSET),-mllvm -asan-mapping-offset=$(KASAN_SHADOW_OFFSET)) \
	$(if $(KASAN_DYNAMIC),-mllvm -asan-force-dynamic-shadow=1) \
	-mllvm -asan-instrumentation-with-call-threshold=$(if $(filter inline,$(KASAN_WHERE)),10000,0) \
	$(if $(filter 0,$(KASAN_STACK)),-mllvm -asan-stack=0 -mllvm -asan-use-after-scope=0 \
		-mllvm -asan-instrument-dynamic-allocas=0,-mllvm -asan-stack=1 -mllvm -asan-use-after-scope=1) \
	$(if $(filter 0,$(KASAN_GLOBALS)),-mllvm -asan-globals=0,-mllvm -asan-globals=1 \
		-mllvm -asan-destructor-kind=none) \
	-mllvm -asan-kernel-mem-intrinsic-prefix=1

kasan_flags_gcc := -fsanitize=kernel-address \
	$(if $(KASAN_SHADOW_OFFSET),-fasan-shadow-offset=$(KASAN_SHADOW_OFFSET)) \
	--param=asan-instrumentation-with-call-threshold=$(if $(filter inline,$(KASAN_WHERE)),10000,0) \
	$(if $(filter 0,$(KASAN_STACK)),--param=asan-stack=0 --param=asan-instrument-allocas=0 \
		-fno-sanitize-address-use-after-scope,--param=asan-stack=1 --param=asan-instrument-allocas=1 \
		-fsanitize-address-use-after-scope) \
	$(if $(filter 0,$(KASAN_GLOBALS)),--param=asan-globals=0,--param=asan-globals=1)

KASAN_CFLAGS := $(strip $(kasan_flags_$(kasan_cc)))
KASAN_CODE_FLAGS := $(strip -fno-omit-frame-pointer -fno-optimize-sibling-calls \
	-fno-delete-null-pointer-checks \
	$(if $(filter clang,$(kasan_cc)),-mno-omit-leaf-frame-pointer) \
	$(if $(filter gcc-arm64,$(kasan_cc)-$(KASAN_ARCH)),-mno-outline-atomics))
KASAN_CPPFLAGS := $(strip -I$(patsubst %/kasan,%,$(KASAN_INCLUDE)) \
	-DCONFIG_KASAN_GENERIC=1 -DCONFIG_KASAN_STACK=$(KASAN_STACK) \
	$(if $(filter full,$(KASAN_LAYOUT)),-DCONFIG_KASAN_SHADOW_FULL=1 \
		-DCONFIG_KASAN_SHADOW_LOW=$(KASAN_SHADOW_LOW)UL \
		-DCONFIG_KASAN_SHADOW_HIGH=$(KASAN_SHADOW_HIGH)UL,-DCONFIG_KASAN_SHADOW_WINDOWED=1) \
	$(if $(KASAN_SHADOW_OFFSET),-DCONFIG_KASAN_SHADOW_OFFSET=$(KASAN_SHADOW_OFFSET)UL) \
	$(addprefix -D,$(KASAN_DEFINES)))

# --- The runtime -----------------------------------------------------------------------------------------

# The first target of the including makefile stays the default.
kasan_goal := $(.DEFAULT_GOAL)
kasan_sources := $(patsubst $(REDZONE)/runtime/%,%,$(wildcard $(REDZONE)/runtime/*/*.c))
KASAN_OBJS := $(addprefix $(KASAN_OBJDIR)/,$(kasan_sources:.c=.o))
kasan_own_flags := -std=gnu17 -O2 -ffreestanding -fno-stack-protector -fno-strict-aliasing

$(KASAN_OBJS): $(KASAN_OBJDIR)/%.o: $(REDZONE)/runtime/%.c
	@mkdir -p $(@D)
	$(CC) $(KASAN_CPPFLAGS) $(KASAN_RUNTIME_CFLAGS) $(kasan_own_flags) $(KASAN_CODE_FLAGS) -MMD -MP -c $< -o $@

-include $(KASAN_OBJS:.o=.d)
.DEFAULT_GOAL := $(kasan_goal)
