# SPDX-License-Identifier: MIT
"""A vendor's object with a memcpy() and an sbi_memcpy() of its own under the checks."""

import re
import shutil

from kit import ROOT, boot, call, change, compiler, first, make_template, need

BUGS = """
void *sbi_memcpy(void *to, const void *from, size_t size);
size_t vendor_pack(char *to, const char *from, size_t size);

static void vendor_named(void)
{
	char *to = malloc(20);

	sbi_memcpy(to, "more than twenty characters, and thirty-two", runtime(40));
	free(to);
}

static void vendor_inside(void)
{
	char *to = malloc(20);

	vendor_pack(to, "more than twenty characters, and thirty-two", runtime(40));
	free(to);
}

static const struct bug bugs[] = {
	{"vendor_named", "slab-out-of-bounds", vendor_named},
	{"vendor_inside", "slab-out-of-bounds", vendor_inside},
"""


@first(1, ("arch", "cc"), [("riscv64", "clang-19"), ("arm64", "gcc")])
def test_a_vendors_object(tree, arch, cc):
    """Its calls of memcpy(), and others' calls of its sbi_memcpy(), are checked and name their callers."""
    need("llvm-objcopy-19")
    shutil.copy(ROOT / "tests/porting/vendor.c", tree)
    (tree / "wraps.c").write_text("#include <kasan/wrap.h>\n\nKASAN_WRAP_COPY(sbi_memcpy);\n")
    change(tree / "main.c", ("\nstatic const struct bug bugs[] = {\n", BUGS))
    change(
        tree / "Makefile",
        ("heap.o $(port) ", "heap.o $(port) wraps.o "),
        ("KASAN_SANITIZE_heap.o := n", "KASAN_SANITIZE_heap.o := n\nKASAN_SANITIZE_wraps.o := n"),
        ("$(filter %.o,$^) $(libgcc)", "$(filter %.o,$^) vendor.o -Wl,--wrap=sbi_memcpy"),
    )
    machine = ["-mcmodel=medany"] if arch == "riscv64" else []
    call([*compiler(cc, arch), *machine, "-O1", "-fno-builtin", "-c", "vendor.c"], tree)
    # As it is, it clashes with the runtime's.
    assert re.search(
        "(duplicate symbol|multiple definition).*memcpy", make_template(tree, arch, cc, ok=False)[1]
    )
    call(["llvm-objcopy-19", "--weaken-symbol=memcpy", "vendor.o"], tree)
    elf, _ = make_template(tree, arch, cc)
    status, console = boot(arch, elf)
    assert status == 0, console
    for name in ("vendor_named", "vendor_inside", "copy_overflow"):
        assert f"template: ok {name}\n" in console
    places = re.findall(r"^BUG: KASAN: slab-out-of-bounds in 0x(\w+)", console, re.MULTILINE)
    nm = call(
        ["llvm-symbolizer-19", "-f", f"--obj={elf}", *(f"0x{int(place, 16) - 1:x}" for place in places[:2])],
        tree,
    )
    assert "vendor_named" in nm and "vendor_pack" in nm, nm
