# SPDX-License-Identifier: MIT
#
# Redzone for make: include this file, and the runtime is three variables and one rule.
#
#	REDZONE            := path/to/redzone             this file's folder
#	KASAN_ARCH         := arm64                       as ./redzone flags --arch has them
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
#	KASAN_CFLAGS       for the files to be checked, in addition; in a recipe: for the file that is made
#	KASAN_OBJS         the runtime's objects, made by a rule of this file: link them
#	KASAN_LDS          a linker script for a second -T: the constructors, behind .data, if your own script has none
#
# With $(KASAN_CFLAGS) in the recipe of all objects, files are left out as in Linux, before or behind the
# include:
#
#	KASAN_SANITIZE_uart.o := n                    one object, by its file name, or by its path as it is
#	                                              written in the target or in the source (drivers/uart.o)
#	KASAN_SANITIZE := n                           all of this makefile except KASAN_SANITIZE_<file>.o := y
#	KASAN_EXCLUDE := uart.o drivers/disk.o        several objects, by the same names
#
# KASAN_MODE := generic (the default), sw_tags (arm64; riscv64 with Clang) or hw_tags (arm64). sw_tags needs the full layout;
# hw_tags has neither a shadow nor checks by the compiler, so no KASAN_WHERE, and KASAN_CFLAGS is empty.
#
# KASAN_UBSAN := 1 also finds undefined behaviour (docs/use/ubsan.md). With KASAN_MODE := none it is the only thing that is
# found: KASAN_CFLAGS has nothing else, and nothing about a shadow is accepted.
#
# KASAN_SAMPLE := 1 puts a heap object now and then between guards (docs/port/sampling.md). It needs no mode either.
#
# KASAN_MTE_STACK := 1 tags stack variables in mode hw_tags, KASAN_TAGGED_GLOBALS := 1 global variables in mode
# sw_tags (Clang; docs/internals/stack-tagging.md, docs/internals/tag-globals.md).
#
# More: KASAN_LAYOUT := windowed (default) or full, with KASAN_SHADOW_LOW and KASAN_SHADOW_HIGH;
# KASAN_OPTIMIZE := s for a small runtime (-Os; 2 is the default), z for a smaller one (-Oz); KASAN_STACK := 0, KASAN_GLOBALS := 0; KASAN_DEFINES := CONFIG_KASAN_...=n ...; KASAN_BYPASS := 1 if the
# Clang driver refuses -fsanitize=kernel-address for your target triple, which this file finds out if $(CC) has --target.

REDZONE ?= $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
KASAN_MODE ?= generic
kasan_no_shadow := $(strip $(foreach name,WHERE LAYOUT SHADOW_OFFSET SHADOW_LOW SHADOW_HIGH DYNAMIC,\
	$(if $(KASAN_$(name)),KASAN_$(name))))
KASAN_LAYOUT ?= windowed
KASAN_WHERE ?= outline
KASAN_STACK ?= 1
KASAN_GLOBALS ?= 1
KASAN_OPTIMIZE ?= 2
KASAN_MTE_STACK ?= 0
KASAN_TAGGED_GLOBALS ?= 0
KASAN_UBSAN ?= 0
KASAN_SAMPLE ?= 0
KASAN_OBJDIR ?= kasan
KASAN_INCLUDE ?= $(firstword $(wildcard $(REDZONE)/include/kasan $(REDZONE)/../../include/kasan))
kasan_cc := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),clang,gcc)
ifeq ($(origin KASAN_BYPASS),undefined)
KASAN_BYPASS := $(if $(filter clanggeneric,$(kasan_cc)$(KASAN_MODE)),$(if $(findstring unsupported option,\
	$(shell $(CC) -fsanitize=kernel-address -E -x c /dev/null 2>&1 >/dev/null)),1,0),0)
endif

# --- What does not go together ---------------------------------------------------------------------

ifeq ($(filter $(KASAN_ARCH),arm64 riscv64 riscv32 x86_64 arm s390x powerpc64le loongarch64),)
$(error KASAN_ARCH is '$(KASAN_ARCH)'; accepted: arm64, riscv64, riscv32, x86_64, arm, s390x, powerpc64le, loongarch64)
endif
ifeq ($(filter $(KASAN_MODE),generic sw_tags hw_tags $(if $(filter 1,$(KASAN_UBSAN) $(KASAN_SAMPLE)),none)),)
$(error KASAN_MODE is '$(KASAN_MODE)'; accepted: generic, sw_tags, hw_tags, and none with KASAN_UBSAN=1 or KASAN_SAMPLE=1)
endif
ifeq ($(filter $(KASAN_OPTIMIZE),2 s z),)
$(error KASAN_OPTIMIZE is '$(KASAN_OPTIMIZE)'; accepted: 2, s, z)
endif
kasan_tagged := $(if $(filter sw_tags,$(KASAN_MODE)),arm64 riscv64,arm64)
ifneq ($(filter %_tags,$(KASAN_MODE)),)
ifeq ($(filter $(kasan_tagged),$(KASAN_ARCH)),)
$(error KASAN_MODE=$(KASAN_MODE) with KASAN_ARCH=$(KASAN_ARCH): the runtime has them for $(kasan_tagged) only)
endif
ifeq ($(kasan_cc)-$(KASAN_ARCH),gcc-riscv64)
$(error KASAN_MODE=$(KASAN_MODE) with GCC for riscv64: it would check nothing; use Clang)
endif
endif
ifeq ($(KASAN_MTE_STACK),1)
ifneq ($(KASAN_MODE),hw_tags)
$(error KASAN_MTE_STACK with KASAN_MODE=$(KASAN_MODE): it belongs to hw_tags, the other modes check stacks anyway)
endif
ifeq ($(kasan_cc),gcc)
$(error KASAN_MTE_STACK with GCC: it does not tag stack variables; use Clang)
endif
endif
ifeq ($(KASAN_TAGGED_GLOBALS),1)
ifneq ($(KASAN_MODE),sw_tags)
$(error KASAN_TAGGED_GLOBALS with KASAN_MODE=$(KASAN_MODE): it belongs to sw_tags)
endif
ifeq ($(kasan_cc),gcc)
$(error KASAN_TAGGED_GLOBALS with GCC: it does not tag global variables; use Clang)
endif
ifeq ($(KASAN_ARCH),riscv64)
$(error KASAN_TAGGED_GLOBALS on riscv64: Clang 19 makes no code that reaches such a variable)
endif
endif
ifneq ($(filter hw_tags none,$(KASAN_MODE)),)
ifneq ($(kasan_no_shadow),)
$(error KASAN_MODE=$(KASAN_MODE) has no shadow, and no checks by the compiler: leave out $(kasan_no_shadow))
endif
else
ifeq ($(filter $(KASAN_WHERE),inline outline),)
$(error KASAN_WHERE is '$(KASAN_WHERE)'; accepted: inline, outline)
endif
ifeq ($(filter $(KASAN_LAYOUT),windowed full),)
$(error KASAN_LAYOUT is '$(KASAN_LAYOUT)'; accepted: windowed, full)
endif
ifneq ($(and $(KASAN_DYNAMIC),$(KASAN_SHADOW_OFFSET)),)
$(error with KASAN_SHADOW_OFFSET the compiler ignores KASAN_DYNAMIC; give one of them)
endif
ifneq ($(and $(KASAN_DYNAMIC),$(filter gcc,$(kasan_cc)),$(filter-out fulloutline0,$(KASAN_LAYOUT)$(KASAN_WHERE)$(KASAN_STACK))),)
$(error GCC has no dynamic shadow; use Clang, KASAN_SHADOW_OFFSET, or KASAN_WHERE=outline with KASAN_STACK=0)
endif
ifeq ($(KASAN_DYNAMIC)$(KASAN_SHADOW_OFFSET),)
ifneq ($(KASAN_WHERE)$(KASAN_STACK),outline0)
$(error inline checks and stack poison are compiled for one place of the shadow: give KASAN_SHADOW_OFFSET, or KASAN_DYNAMIC=1 (Clang), or KASAN_WHERE=outline with KASAN_STACK=0)
endif
endif
ifeq ($(KASAN_LAYOUT),full)
ifeq ($(or $(KASAN_DYNAMIC),$(and $(KASAN_SHADOW_OFFSET),$(KASAN_SHADOW_LOW),$(KASAN_SHADOW_HIGH))),)
$(error KASAN_LAYOUT=full needs KASAN_SHADOW_OFFSET, KASAN_SHADOW_LOW and KASAN_SHADOW_HIGH, or KASAN_DYNAMIC=1)
endif
ifneq ($(and $(KASAN_DYNAMIC),$(KASAN_SHADOW_LOW)$(KASAN_SHADOW_HIGH)),)
$(error KASAN_SHADOW_LOW and KASAN_SHADOW_HIGH with KASAN_DYNAMIC: kasan_shadow_place() says them at run time)
endif
endif
endif
ifeq ($(KASAN_MODE),sw_tags)
ifneq ($(KASAN_LAYOUT),full)
$(error KASAN_MODE=sw_tags needs KASAN_LAYOUT=full: the compilers' checks test no range)
endif
ifneq ($(KASAN_DYNAMIC),)
$(error KASAN_MODE=sw_tags with KASAN_DYNAMIC: give KASAN_SHADOW_OFFSET instead)
endif
ifeq ($(kasan_cc)-$(KASAN_WHERE),gcc-inline)
$(error KASAN_MODE=sw_tags with GCC: it has outline checks only; KASAN_WHERE=outline)
endif
ifeq ($(KASAN_BYPASS),1)
$(error KASAN_MODE=sw_tags with KASAN_BYPASS: Clang has no kernel-hwaddress for such a target; use aarch64-none-elf or riscv64-unknown-elf)
endif
endif

# --- The compiler's options: kasan-flags.json in make's words ------------------------------------------

kasan_flags_clang := $(if $(filter 1,$(KASAN_BYPASS)),-Xclang -fsanitize=kernel-address \
	-Xclang -fsanitize-recover=kernel-address,-fsanitize=kernel-address) \
	$(if $(KASAN_SHADOW_OFFSET),-mllvm -asan-mapping-offset=$(KASAN_SHADOW_OFFSET)) \
	$(if $(KASAN_DYNAMIC),-mllvm -asan-force-dynamic-shadow=1) \
	-mllvm -asan-instrumentation-with-call-threshold=$(if $(filter inline,$(KASAN_WHERE)),10000,0) \
	$(if $(filter 0,$(KASAN_STACK)),-mllvm -asan-stack=0 -mllvm -asan-use-after-scope=0 \
		-mllvm -asan-instrument-dynamic-allocas=0,-mllvm -asan-stack=1 -mllvm -asan-use-after-scope=1 \
		-Xclang -fsanitize-address-use-after-scope) \
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

# Tagged globals exist in the instrumentation for user space only, which clears the top byte of an address where the
# kernel's sets it: the shadow's offset is larger by 0xff << 52, modulo 2^64. A shell counts to 2^63 only, so it gets the upper 16 bits.
kasan_user_offset = $(shell digits=$$(printf '%s' 0000000000000000$(patsubst 0x%,%,$(KASAN_SHADOW_OFFSET)) | tail -c 16); \
	upper=$$(printf '%s' $$digits | cut -c1-4); \
	printf '0x%04x%s' $$(((0x$$upper + 0x0ff0) & 0xffff)) $$(printf '%s' $$digits | cut -c5-))
kasan_tags_clang := $(if $(filter 1,$(KASAN_TAGGED_GLOBALS)),-Xclang -fsanitize=hwaddress \
	-Xclang -fsanitize-recover=hwaddress -mllvm -hwasan-mapping-offset=$(kasan_user_offset) \
	-mllvm -hwasan-globals=1 -mllvm -hwasan-match-all-tag=255 -mllvm -hwasan-record-stack-history=none,\
	-fsanitize=kernel-hwaddress -mllvm -hwasan-mapping-offset=$(KASAN_SHADOW_OFFSET)) \
	$(if $(filter inline,$(KASAN_WHERE)),-mllvm -hwasan-instrument-with-calls=0 \
		-mllvm -hwasan-inline-all-checks=1,-mllvm -hwasan-instrument-with-calls=1) \
	-mllvm -hwasan-instrument-stack=$(KASAN_STACK) \
	$(if $(filter riscv64-1,$(KASAN_ARCH)-$(KASAN_STACK)),-mllvm -hwasan-generate-tags-with-calls=1) \
	-mllvm -hwasan-kernel-mem-intrinsic-prefix=1

kasan_tags_gcc := -fsanitize=kernel-hwaddress --param=hwasan-instrument-stack=$(KASAN_STACK)

kasan_checks_generic := $(kasan_flags_$(kasan_cc))
kasan_checks_hw_tags := $(if $(filter 1,$(KASAN_MTE_STACK)),-fsanitize=memtag-stack -march=armv8-a+memtag)
kasan_checks_sw_tags := $(kasan_tags_$(kasan_cc))
kasan_checks := $(strip $(kasan_checks_$(KASAN_MODE)) $(if $(filter 1,$(KASAN_UBSAN)),-fsanitize=undefined))
# Recursive: which file is being made is known in its recipe. The most exact name wins.
kasan_sanitize = $(firstword $(KASAN_SANITIZE_$(basename $<).o) $(KASAN_SANITIZE_$@) \
	$(KASAN_SANITIZE_$(notdir $@)) $(if $(filter $@ $(notdir $@) $(basename $<).o,$(KASAN_EXCLUDE)),n) $(KASAN_SANITIZE) y)
# Expanded where no file is being made, it would have the checks for all files.
kasan_excluding = $(KASAN_EXCLUDE)$(strip $(foreach name,$(filter KASAN_SANITIZE_%,$(.VARIABLES)),$($(name))))
KASAN_CFLAGS = $(if $@,,$(if $(kasan_excluding),$(warning KASAN_CFLAGS is expanded outside of a recipe, where \
	no file is left out: assign CFLAGS with = instead of :=)))$(if $(filter-out y n,$(kasan_sanitize)),$(error KASAN_SANITIZE of \
	'$@' is '$(kasan_sanitize)'; accepted: y, n),$(if $(filter y,$(kasan_sanitize)),$(kasan_checks)))
KASAN_CODE_FLAGS := $(strip -fno-optimize-sibling-calls -fno-delete-null-pointer-checks \
	$(if $(filter gcc-arm,$(kasan_cc)-$(KASAN_ARCH)),,-fno-omit-frame-pointer) \
	$(if $(filter clang,$(kasan_cc)),-mno-omit-leaf-frame-pointer) \
	$(if $(filter gcc-arm64-hw_tags,$(kasan_cc)-$(KASAN_ARCH)-$(KASAN_MODE)),-mno-omit-leaf-frame-pointer) \
	$(if $(filter gcc-arm64,$(kasan_cc)-$(KASAN_ARCH)),-mno-outline-atomics) \
	$(if $(filter 1,$(KASAN_TAGGED_GLOBALS)),-mcmodel=large) \
	$(if $(filter gcc-arm,$(kasan_cc)-$(KASAN_ARCH)),-fomit-frame-pointer -funwind-tables) \
	$(if $(filter s390x,$(KASAN_ARCH)),-mbackchain))
kasan_layout := $(if $(filter full,$(KASAN_LAYOUT)),$(if $(KASAN_DYNAMIC),-DCONFIG_KASAN_SHADOW_FULL=1 \
		-DCONFIG_KASAN_SHADOW_DYNAMIC=1,-DCONFIG_KASAN_SHADOW_FULL=1 \
		-DCONFIG_KASAN_SHADOW_LOW=$(KASAN_SHADOW_LOW)UL \
		-DCONFIG_KASAN_SHADOW_HIGH=$(KASAN_SHADOW_HIGH)UL),-DCONFIG_KASAN_SHADOW_WINDOWED=1) \
	$(if $(KASAN_SHADOW_OFFSET),-DCONFIG_KASAN_SHADOW_OFFSET=$(KASAN_SHADOW_OFFSET)UL)
kasan_config_generic := -DCONFIG_KASAN_GENERIC=1 -DCONFIG_KASAN_STACK=$(KASAN_STACK) $(kasan_layout)
kasan_config_sw_tags := -DCONFIG_KASAN_SW_TAGS=1 -DCONFIG_KASAN_STACK=$(KASAN_STACK) $(kasan_layout)
kasan_config_hw_tags := -DCONFIG_KASAN_HW_TAGS=1 -DCONFIG_KASAN_STACK=$(if $(filter 1,$(KASAN_MTE_STACK)),1,0)
KASAN_CPPFLAGS := $(strip -I$(patsubst %/kasan,%,$(KASAN_INCLUDE)) $(kasan_config_$(KASAN_MODE)) \
	$(if $(filter 1,$(KASAN_UBSAN)),-DCONFIG_KASAN_UBSAN=1) \
	$(if $(filter 1,$(KASAN_SAMPLE)),-DCONFIG_KASAN_SAMPLE=1) \
	$(addprefix -D,$(KASAN_DEFINES)))

# --- The runtime -----------------------------------------------------------------------------------------

# The first target of the including makefile stays the default.
kasan_goal := $(.DEFAULT_GOAL)
kasan_sources := $(patsubst $(REDZONE)/runtime/%,%,$(wildcard $(REDZONE)/runtime/*/*.c))
KASAN_LDS := $(firstword $(wildcard $(REDZONE)/constructors.lds $(REDZONE)/cmake/constructors.lds))
KASAN_OBJS := $(addprefix $(KASAN_OBJDIR)/,$(kasan_sources:.c=.o))
kasan_own_flags := -std=gnu17 -O$(strip $(KASAN_OPTIMIZE)) -ffreestanding -fno-stack-protector -fno-strict-aliasing \
	-ffunction-sections -fdata-sections $(if $(filter x86_64,$(KASAN_ARCH)),-mno-red-zone -mgeneral-regs-only)

kasan_compile := $(CC) $(KASAN_CPPFLAGS) $(KASAN_RUNTIME_CFLAGS) $(kasan_own_flags) $(KASAN_CODE_FLAGS)

# Objects made with other options are made anew: half a runtime of one configuration and half of another
# links, and then checks the wrong bytes. The file changes only when the options do.
kasan_options := $(KASAN_OBJDIR)/options
$(kasan_options): kasan-check-options
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(kasan_compile))' | cmp -s - $@ || \
		printf '%s\n' '$(subst ','\'',$(kasan_compile))' > $@

$(KASAN_OBJS): $(KASAN_OBJDIR)/%.o: $(REDZONE)/runtime/%.c $(kasan_options)
	@mkdir -p $(@D)
	$(kasan_compile) -MMD -MP -c $< -o $@

.PHONY: kasan-check-options

-include $(KASAN_OBJS:.o=.d)
.DEFAULT_GOAL := $(kasan_goal)
