# SPDX-License-Identifier: MIT
"""The README's sample report is what `./redzone run` prints, and its figures are those of `--help`."""

import pytest
from redzone import cli
from redzone.core.base import ROOT
from redzone.testing import sample

pytestmark = pytest.mark.quick

PRINTED = """\
start
BUG: KASAN: slab-out-of-bounds in put+0x84/0x88
Write of size 1 at addr ffff0000003990dd by task main/7

Call trace:
 put+0x84/0x88        examples/heap_bugs.c:48
 kthread+0x54/0x64    kernel/sched/kthread.c:79
 last+0x54/0x64       kernel/sched/kthread.c:80
>ffff000000399080: fc fc fc fc 00 05
                               ^
""".splitlines()

DOCUMENT = """\
text
```sh
./redzone run
```
```
BUG: KASAN: slab-out-of-bounds in put+0x4/0x8
Write of size 1 at addr ffff0000001111dd by task main/9
...
 put+0x84/0x88   examples/heap_bugs.c:48
 kthread+0x54/0x64 kernel/sched/kthread.c:70
 ...
>ffff000000399000: 00 00 00 00 00 04
                   ^
```
"""


def test_the_readme_shows_what_is_printed(redzone):
    """If this fails, look at the difference; tools/redzone/testing/sample.py writes the sample again."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    result = redzone("run", cwd=ROOT, status=1)
    printed = [sample._STAMP.sub("", line).rstrip() for line in result.stdout.splitlines()]
    sample.renew(text, printed)


def test_a_sample_is_written_anew_with_its_cuts():
    lines = sample.renew(DOCUMENT, PRINTED).splitlines()
    assert lines[:4] == DOCUMENT.splitlines()[:4]
    assert lines[5:] == [*PRINTED[1:3], "...", *PRINTED[5:7], " ...", *PRINTED[8:10], "```"]
    again = "\n".join(lines) + "\n"
    assert sample.renew(again, PRINTED) == again


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("out-of-bounds", "use-after-free", "BUG: KASAN: slab-use-after-free"),
        ("heap_bugs.c:48", "heap_bugs.c:47", "heap_bugs.c:47"),
        ("kernel/sched/kthread.c", "kernel/kthread.c", "kernel/kthread.c"),
        ("Write of size 1", "Write of size 2", "Write of size 2"),
        ("by task main/9\n...", "by task main/9", "put"),
        ("```\nBUG: KASAN:", "```\nBUG:", "no block"),
    ],
)
def test_a_stale_sample_is_named(old, new, named):
    assert old in DOCUMENT
    with pytest.raises(sample.Stale, match=named):
        sample.renew(DOCUMENT.replace(old, new), PRINTED)


def test_how_long_the_tests_take_has_one_source(redzone):
    said = redzone("test", "--help").stdout
    whole, quick = (cli.TEST_MINUTES[option] for option in ("", "--quick"))
    assert f"about {whole} minutes, {quick} minutes --quick" in " ".join(said.split())
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"about {whole} minutes on 2 cores; `--quick` takes about {quick}\n" in readme
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for option, minutes in cli.TEST_MINUTES.items():
        assert f"| `{f'./redzone test {option}'.rstrip()}` | {minutes} |" in table
