# SPDX-License-Identifier: MIT
"""LLVM's libFuzzer, which is linked into the executable."""

import re

from redzone.fuzz.engine import Engine

_STATUS = re.compile(r"^#(\d+)\s.*?\bcov: (\d+)\b.*?\bcorp: (\d+)/")
_EXECUTED = re.compile(r"^stat::number_of_executed_units: +(\d+)")


class LibFuzzer(Engine):
    """One process for each job. They share the corpus folder, and read it again now and then."""

    title = "the libFuzzer executable"

    def command(self, number):
        options = self.options
        command = [str(self.target.executable), "-reload=1", "-print_final_stats=1"]
        command.append(f"-artifact_prefix={self.new}/engine-")
        if options.seconds is not None:
            command.append(f"-max_total_time={max(1, round(options.seconds))}")
        if options.runs is not None:
            command.append(f"-runs={self.share(number)}")
        if options.seed is not None:
            command.append(f"-seed={(options.seed + number) % (1 << 32) or 1}")
        if options.max_len is not None:
            command.append(f"-max_len={options.max_len}")
        if options.dictionary is not None:
            command.append(f"-dict={options.dictionary}")
        return [*command, *options.extra, str(self.corpus), *map(str, options.seeds)]

    def line(self, job, text):
        status, executed = _STATUS.match(text), _EXECUTED.match(text)
        if status:
            job.edges, job.corpus = int(status[2]), int(status[3])
            job.count(int(status[1]))
        elif executed:
            job.count(int(executed[1]))
        return bool(status or executed)
