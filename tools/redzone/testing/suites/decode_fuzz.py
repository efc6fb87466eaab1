# SPDX-License-Identifier: MIT
"""A million random hostile logs through `./redzone decode`: nothing fails, nothing escapes, all is bounded.

--rounds and --seed choose how many and which. tests/decode/hostile.py makes and checks them.
"""

import random
import subprocess
import sys

from redzone.core.base import ROOT
from redzone.testing.runner import FAIL, PASS, Result

SLOW = True
OPTIONS = ("rounds", "seed")
TOOLS = ()
ROUNDS = 1_000_000


def run(context):
    rounds = context.rounds or ROUNDS
    seed = context.seed if context.seed is not None else random.randrange(1 << 32)
    context.note(f"{rounds} logs, seed {seed}: repeat with --rounds {rounds} --seed {seed}")
    jobs = max(1, min(context.jobs, rounds))
    share = -(-rounds // jobs)
    running = []
    try:
        for first in range(0, rounds, share):
            name = f"from-{first}"
            log = context.write_log(name, "")
            count = min(share, rounds - first)
            with log.open("w", encoding="utf-8") as output:
                process = subprocess.Popen(
                    [
                        *(sys.executable, str(ROOT / "tests" / "decode" / "hostile.py")),
                        *("--seed", str(seed), "--first", str(first), "--rounds", str(count)),
                    ],
                    cwd=ROOT,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
            running.append((name, count, process, log))
        for name, count, process, log in running:
            if process.wait():
                lines = log.read_text(encoding="utf-8").splitlines()
                yield Result(name, FAIL, "\n".join(lines[-20:]), log)
            else:
                yield Result(f"{name} ({count} logs)", PASS)
    finally:
        for _, _, process, _ in running:
            if process.poll() is None:
                process.kill()
