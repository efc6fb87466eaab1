# SPDX-License-Identifier: MIT
"""The rules of the suite style that no linter checks."""

from redzone.testing.suites import freestanding, style


def test_import_cycle():
    """A cycle is found even if an import inside a function hides it, and if the imports are relative."""
    sources = {
        "redzone.a": "import json\nfrom redzone import b\n",
        "redzone.b": "def late():\n    from redzone.c import thing\n",
        "redzone.c": "",
    }
    assert style.import_cycle(sources) is None
    sources["redzone.c"] = "import redzone.a\n"
    cycle = style.import_cycle(sources)
    assert cycle[0] == cycle[-1] and set(cycle) == set(sources)
    relative = {
        "redzone.kit.ports.x.a": "from . import b\n",
        "redzone.kit.ports.x.b": "from .a import thing\n",
        "redzone.kit.ports.x": "",
    }
    assert style.import_cycle(relative) is not None
    relative["redzone.kit.ports.x.b"] = "from .. import a\n"
    assert style.import_cycle(relative) is None


def test_behind_contract():
    """Each way around the contract between kernel and architecture, planted in the tree's own files."""
    paths = [
        *(style.ROOT / "kernel/arch/arm64").rglob("*.h"),
        style.ROOT / "kernel/arch/arm64/smp.c",
        style.ROOT / "kernel/include/kernel/arch.h",
        style.ROOT / "kernel/sched/core.c",
    ]
    sources = {str(path.relative_to(style.ROOT)): path.read_text() for path in paths}
    assert style.behind_contract(sources) == []

    def planted(text, name="kernel/sched/core.c"):
        return style.behind_contract({**sources, name: sources[name] + text})

    for text in (
        "#include <asm/made_up.h>\n",
        '#include "../arch/arm64/mte.h"\n',
        "static int f(void)\n{\n\tmte_enable_cpu();\n}\n",
        "static u64 f(void)\n{\n\treturn read_sysreg(mpidr_el1);\n}\n",
        "static void f(void)\n{\n\tisb();\n}\n",
        "static u64 f(u64 entry)\n{\n\treturn entry & PTE_AF;\n}\n",
        'static void f(void)\n{\n\t__asm__ __volatile__("" ::: "memory");\n}\n',
        "static void f(void)\n{\n\tasm goto(l);\n}\n",
    ):
        found = planted(text)
        assert len(found) == 1 and found[0].startswith("kernel/sched/core.c:"), (text, found)
    # Comments, strings, an architecture's own files, and a function of the same name are none.
    for text in ("/* isb() */\n", 'static char s[] = "isb()";\n', "static void user_init_cpu(int x)\n{\n}\n"):
        assert planted(text) == [], text
    assert planted("static void f(void)\n{\n\tisb();\n}\n", "kernel/arch/arm64/smp.c") == []


def test_private_headers():
    """The kernel is a customer of the runtime, and so are its tests."""
    sources = {
        "kernel/mm/a.c": '#include <kasan/slab_inline.h>\n#include "../kasan/internal.h"\n',
        "runtime/alloc/b.c": '#include "../../runtime/tags/tags.h"\n',
    }
    assert style.private_headers(sources) == []
    for header in ('"../../runtime/tags/tags.h"', "<runtime/base/base.h>"):
        found = style.private_headers({**sources, "kernel/tests/c.c": f"#include {header}\n"})
        assert len(found) == 1 and found[0].startswith("kernel/tests/c.c:"), found


def test_flavours():
    """The core knows the real-time kernel by one header; the extension, and tests, know it by its name."""
    text = "#ifdef CONFIG_PREEMPT_RT\n"
    allowed = ("kernel/include/kernel/rt.h", "kernel/ext/lockdep/held.c", "kernel/tests/irq_test.c")
    assert style.flavours(dict.fromkeys(allowed, text)) == []
    assert style.flavours({"kernel/sched/core.c": "\n" + text})[0].startswith("kernel/sched/core.c:2:")


def test_calls_and_members_of_an_architecture():
    """What the contract does not name: a call from below, and a member of a structure from above."""
    folders = ("kernel/arch", "kernel/include", "kernel/ext", "include/kasan")
    paths = [path for folder in folders for path in (style.ROOT / folder).rglob("*.[chS]")]
    paths.append(style.ROOT / "kernel/sched/core.c")
    sources = {str(path.relative_to(style.ROOT)): path.read_text() for path in paths}
    assert style.upward_calls(sources) == []
    assert style.hidden_members(sources) == []

    def planted(check, name, text):
        return check({**sources, name: sources[name] + text})

    for name, text in (
        ("kernel/arch/arm64/smp.c", "static void f(void)\n{\n\tpreempt_schedule_irq();\n}\n"),
        ("kernel/arch/arm64/entry.S", "\tbl\tpreempt_schedule_irq\n"),
    ):
        found = planted(style.upward_calls, name, text)
        assert len(found) == 1 and found[0].startswith(name), found
        assert planted(style.upward_calls, name, text.replace("preempt_schedule_irq", "kernel_fault")) == []
    for line in ("regs->far", "task->context.x19", "state.fpcr"):
        found = planted(
            style.hidden_members, "kernel/sched/core.c", f"static int f(void)\n{{\n\treturn {line};\n}}\n"
        )
        assert len(found) == 1 and found[0].startswith("kernel/sched/core.c:"), (line, found)
    assert (
        planted(style.hidden_members, "kernel/sched/core.c", "static u64 pc = regs->pc + regs->sp;\n") == []
    )


def test_assumptions_of_one_architecture():
    name = "kernel/mm/planted.c"
    lines = (
        'f("aarch64");',
        "__aarch64_swp4(value, at);",
        "x = PSTATE_I;",
        'g("x18");',
        "at = 0xffff800080000000;",
        "n << 12;",
        "p & ~0xfff;",
    )
    for line in lines:
        assert style.assumptions({name: f"{line}\n"}) == [f"{name}:1: {line}"]
        assert style.assumptions({"kernel/arch/arm64/planted.c": line, name: f"/* {line} */"}) == []


def test_names_of_architectures():
    name = "tools/redzone/run/planted.py"
    for line in ('start("qemu-system-aarch64")', 'if arch == "riscv64": pass', 'x = f"{one}-arm64"'):
        (problem,) = style.named_arches({name: f"{line}\n"})
        assert problem.startswith(f"{name}:1: ")
        assert style.named_arches({"tools/redzone/core/arch.py": line, "tests/planted.py": line}) == []
    assert style.named_arches({name: 'def f():\n    """As on arm64."""  # riscv64\n    g("harm64")\n'}) == []


def test_includes_of_the_runtime_go_down():
    def problems(name, text):
        path = style.ROOT / name
        return style.upward_includes({path: name}, {path: text})

    assert problems("runtime/track/planted.c", '#include "../alloc/meta.h"\n')
    assert problems("runtime/shadow/planted.h", '#include "../report/captured.h"\n')
    assert problems("runtime/arch/arm64/planted.h", '#include "../../base/base.h"\n')
    assert problems("runtime/misc/planted.c", "")
    assert not problems("runtime/alloc/planted.c", '#include "meta.h"\n#include "../track/track.h"\n')
    assert not problems("runtime/report/planted.c", '#include "../base/../alloc/meta.h"\n')


def test_calls_of_the_runtime_go_down():
    folders = {"lock.c": "base", "heap.c": "alloc", "report.c": "report"}
    found = [
        ("report.c", {"kasan_report"}, {"kasan_lock"}),
        ("lock.c", {"kasan_lock"}, set()),
        ("heap.c", set(), {"kasan_report", "kasan_port_alloc"}),
    ]
    assert freestanding.upward(found, folders, {"kasan_report"}) == []
    assert freestanding.upward(found, folders, set()) == [
        "alloc/heap.c uses kasan_report() of report/, which base/up.h does not declare"
    ]
    assert "kasan_notice" in freestanding.said_upward()


def test_names_of_headers():
    assert style.repeated_headers(["runtime/a/x.h", "runtime/arch/y.h", "runtime/b/y.h", "kernel/x.h"]) == []
    assert style.repeated_headers(["runtime/a/heap.h", "include/kasan/heap.h"]) == [
        "include/kasan/heap.h and runtime/a/heap.h"
    ]


def test_headings_of_sections():
    """clang-format breaks a longer one over two lines."""
    assert style.RULE.fullmatch("/* --- Frees --- */")
    assert not style.RULE.fullmatch("/* --- Frees")
    assert not style.RULE.fullmatch("/* --- Frees ------------------------------------- */")
    assert not style.RULE.fullmatch(f"/* --- {'x' * 90} --- */")


def test_inlined_callers():
    """A function that asks for its caller must not be inlined."""
    body = "\n{\n\tif (x)\n\t\treport(KASAN_CALLER_IP(), KASAN_CALLER_FP());\n}\n"
    assert len(style.inlined_callers({"a.c": "bool check(int x,\n\t   int y)" + body})) == 1
    for kept in (
        "kasan_noinline bool",
        "static kasan_always_inline bool",
        "KASAN_ABI void",
    ):
        assert style.inlined_callers({"a.c": f"{kept} check(int x)" + body}) == []
    other = "void other(void)\n{\n\tf();\n}\n\n"
    found = style.inlined_callers({"a.c": other + "bool check(int x)" + body + other})
    assert len(found) == 1 and "check()" in found[0]
