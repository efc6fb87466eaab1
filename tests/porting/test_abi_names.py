# SPDX-License-Identifier: MIT
"""Each name of the sanitizers' ABI that a compiler knows: the runtime defines it, or it is excluded here.

The names come from the compilers themselves: they are strings in their binaries, whole or as a beginning. A
new name of a new compiler makes the test fail.
"""

import re
import shutil
from pathlib import Path

import pytest
from kit import ROOT, call, need

NAME = re.compile(rb"(?<=\0)(?:__builtin_)?(__(?:asan|hwasan|sanitizer)_\w*)(?:%d)?(?=\0)")

_ACCESS = [f"{way}{size}" for way in ("load", "store") for size in (1, 2, 4, 8, 16, "N")]
_REPORT = [f"{way}{size}" for way in ("load", "store") for size in (1, 2, 4, 8, 16, "_n")]
_MEM = ["memcpy", "memmove", "memset"]

# Beginnings of names that a compiler completes: {beginning: what may follow}.
COMPLETED = {
    "__asan_": [f"{name}{end}" for name in _ACCESS for end in ("", "_noabort")] + _MEM,
    "__asan_report_": [f"{name}{end}" for name in _REPORT for end in ("", "_noabort")],
    "__asan_set_shadow_": ["00", "01", "02", "03", "04", "05", "06", "07", "f1", "f2", "f3", "f5", "f8"],
    "__asan_stack_malloc_": range(11),
    "__asan_stack_free_": range(11),
    "__hwasan_": [
        f"{name}{match}{end}" for name in _ACCESS for match in ("", "_match_all") for end in ("", "_noabort")
    ]
    + [f"{name}{match}" for name in _MEM for match in ("", "_match_all")],
}

# Names that the runtime does not define: {pattern: why}.
EXCLUDED = {
    r"__asan_init|__asan_version_mismatch_check_v\d*": "called by the constructors of user space only",
    r"__asan_(un)?register_(elf|image)_globals|__asan_binder_": "globals of user space, or of Mach-O",
    r"__asan_stack_malloc_always_": "fake stacks of user space; Clang has none for kernels",
    r"__asan_globals?_?|__asan_shadow|__hwasan_personality_thunk": "what the compiler itself defines",
    r"__asan_check_": "x86_64, -asan-optimize-callbacks: a function for each register",
    r"__asan_(malloc|free)_impl|__asan_poison_region": "device libraries of GPUs",
    r"__hwasan_add_frame_record|__hwasan_tls": "the history of stack frames, in thread-local memory",
    r"__hwasan_shadow(_memory_dynamic_address)?": "dynamic shadow, in place of -hwasan-mapping-offset",
    r"__hwasan_check_x": "the compiler defines the function, for each register",
    r"__hwasan_tag_mismatch(_v2)?": "-hwasan-inline-all-checks=0, which ./redzone flags never gives",
    r"__hwasan_tag_mismatch4|__hwasan_tag_pointer": "GCC knows them as builtins, and never calls them",
    r"__sanitizer_cov_\w+": "coverage: fuzz/",
    r"__sanitizer_(metadata|stat)_\w+": "other instrumentation than of addresses",
    r"__sanitizer_|__sanitizer_unaligned_|__sanitizer_unal__cxa_\w+": "no names: pieces of other strings",
}


@pytest.fixture(scope="module")
def defined(tmp_path_factory):
    """The names that the runtime defines, in Generic mode and with software tags."""
    need("clang-19", "llvm-nm-19")
    folder = tmp_path_factory.mktemp("abi")
    sources = [*(ROOT / "runtime" / "abi").glob("*.c"), ROOT / "runtime" / "shadow" / "window.c"]
    sources += [ROOT / "runtime" / "alloc" / "tags_globals.c"]
    names = set()
    for mode in ("GENERIC", "SW_TAGS"):
        (folder / mode).mkdir()
        options = [
            *("--target=aarch64-none-elf", "-std=gnu17", "-O1", "-ffreestanding", "-c"),
            *(f"-DCONFIG_KASAN_{mode}=1", "-DCONFIG_KASAN_SHADOW_FULL=1"),
            *("-DCONFIG_KASAN_SHADOW_OFFSET=0xdfff800000000000UL", "-I", ROOT / "include"),
            "-DCONFIG_KASAN_SHADOW_LOW=0xffff000000000000UL",
            "-DCONFIG_KASAN_SHADOW_HIGH=0xffffffffffffffffUL",
        ]
        call(["clang-19", *options, *sources], folder / mode)
        objects = sorted((folder / mode).glob("*.o"))
        names |= set(
            call(["llvm-nm-19", "--defined-only", "--format=just-symbols", *objects], folder).split()
        )
    return names


def names_in(files):
    found = set()
    for path in files:
        found |= {name.decode() for name in NAME.findall(Path(path).read_bytes())}
    return found


def judge(files, defined, least):
    found = names_in(files)
    # A binary of which nothing could be read knows no name.
    assert least in found, sorted(found)
    unknown = []
    for name in sorted(found - defined):
        if name in COMPLETED:
            unknown += [f"{name}{end}" for end in map(str, COMPLETED[name]) if f"{name}{end}" not in defined]
        elif not any(re.fullmatch(pattern, name) for pattern in EXCLUDED):
            unknown.append(name)
    assert not unknown, "neither defined nor excluded with a reason: " + ", ".join(unknown)


@pytest.mark.parametrize("compiler", ["clang-19", "clang-22"])
def test_clang(defined, compiler):
    need(compiler)
    binary = Path(shutil.which(compiler)).resolve()
    libraries = re.findall(r"libLLVM\S* => (\S+)", call(["ldd", binary], ROOT))
    judge([binary, *libraries], defined, "__asan_report_")


@pytest.mark.parametrize("command", ["gcc", "aarch64-linux-gnu-gcc"])
@pytest.mark.parametrize("language", ["cc1", "cc1plus"])
def test_gcc(defined, command, language):
    need(command)
    binary = call([command, f"-print-prog-name={language}"], ROOT).strip()
    if not Path(binary).is_absolute():
        pytest.skip(f"{command} has no {language}")
    judge([binary], defined, "__asan_load8_noabort")


@pytest.mark.rest
def test_gcc_14(defined, tmp_path):
    """Debian's, from its archive: unpacked, and not started, because it needs newer libraries."""
    from redzone.core import apt, process

    options = apt.suite_lists(tmp_path / "apt", "trixie")
    if options is None:
        pytest.skip("this machine uses no archive of Debian, where GCC 14 is")
    package = "cpp-14-x86-64-linux-gnu"
    for command in (["update"], ["download", package]):
        status, output = process.call(["apt-get", "-q", *options, *command], cwd=tmp_path)
        if status != 0:
            pytest.skip(f"GCC 14 cannot be had: {process.last_line(output)}")
    (archive,) = tmp_path.glob("*.deb")
    call(["dpkg-deb", "-x", archive, tmp_path / "root"], tmp_path)
    (binary,) = tmp_path.glob("root/usr/libexec/gcc/*/14/cc1")
    judge([binary], defined, "__asan_load8_noabort")


AS = "--target=aarch64-none-elf -fsanitize=kernel-address"
# As for tagged globals; -fsanitize=kernel-hwaddress does not call these.
HW = (
    "--target=aarch64-linux-gnu -fsanitize=hwaddress -mllvm -hwasan-match-all-tag=255"
    " -mllvm -hwasan-record-stack-history=none -mllvm -hwasan-instrument-with-calls=1"
    " -mllvm -hwasan-mapping-offset=0x1000"
)
# Names that are called only with options of their own: {name: (language, options)}.
CALLED = {
    "__sanitizer_ptr_cmp": ("c", f"{AS} -mllvm -asan-detect-invalid-pointer-cmp=1"),
    "__sanitizer_ptr_sub": ("c", f"{AS} -mllvm -asan-detect-invalid-pointer-sub=1"),
    "__hwasan_load4_match_all": ("c", HW),
    "__hwasan_personality_wrapper": (
        "c++",
        f"{HW} -fexceptions -mllvm -hwasan-instrument-personality-functions=1",
    ),
    "__hwasan_handle_vfork": (
        "c++",
        f"{HW} -fexceptions -mllvm -hwasan-instrument-landing-pads=1"
        " -mllvm -hwasan-instrument-personality-functions=0",
    ),
}
SAMPLE = """\
void use(void *);
void may_throw(void);
int compare(char *a, char *b) { return a < b; }
long subtract(char *a, char *b) { return a - b; }
int load(int *a) { return *a; }
#ifdef __cplusplus
void catches() { int local[4]; use(local); try { may_throw(); } catch (...) { use(local); } }
#endif
"""


@pytest.mark.parametrize("compiler", ["clang-19", "clang-22"])
@pytest.mark.parametrize("name", CALLED)
def test_names_that_compilers_call(defined, tmp_path, name, compiler):
    """With the options that make them: what is excluded above is not called beside them."""
    language, options = CALLED[name]
    need(compiler, "llvm-nm-19")
    (tmp_path / "sample").write_text(SAMPLE, encoding="utf-8")
    words = [*options.split(), "-O1", "-ffreestanding", "-x", language, "-c", "sample", "-o", "sample.o"]
    call([compiler, *words], tmp_path)
    listed = ["llvm-nm-19", "--undefined-only", "--format=just-symbols", "sample.o"]
    wanted = {one for one in call(listed, tmp_path).split() if re.match("__(asan|hwasan|sanitizer)_", one)}
    assert name in wanted
    assert not wanted - defined
