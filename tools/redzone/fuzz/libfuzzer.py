# SPDX-License-Identifier: MIT
"""LLVM's libFuzzer, which is linked into the executable."""

import re
import time

from redzone.fuzz.engine import Engine

_STATUS = re.compile(r"^#(\d+)\s.*?\bcov: (\d+)\b.*?\bcorp: (\d+)/")
_FILES = re.compile(r"^INFO: seed corpus: files: (\d+) ")
_EXECUTED = re.compile(r"^stat::number_of_executed_units: +(\d+)")


# Bytes of a folder for each of its files, and how many files are looked at for each second of waiting.
BYTES_OF_NAME, FILES_A_SECOND = 32, 10_000


class LibFuzzer(Engine):
    """One process for each job. They share the corpus folder, and read it again now and then."""

    title = "the libFuzzer executable"

    def command(self, job):
        """A process that is started again goes on where the one before ended."""
        options = self.options
        command = [str(self.target.executable), "-print_final_stats=1", f"-reload={self._reload()}"]
        # The target's memory is the guest's, and so are its hangs.
        command += ["-rss_limit_mb=0", f"-timeout={int(options.hang * 20) + 120}"]
        command.append(f"-artifact_prefix={self.new}/engine-")
        if options.seconds is not None:
            left = options.seconds - (time.monotonic() - job.started)
            command.append(f"-max_total_time={max(1, round(left))}")
        if options.runs is not None:
            command.append(f"-runs={max(1, self.share(job.number) - job.inputs)}")
        if options.seed is not None:
            # It must not try the same inputs once more.
            seed = options.seed + job.number + job.starts * options.jobs
            command.append(f"-seed={seed % (1 << 32) or 1}")
        if options.max_len is not None:
            command.append(f"-max_len={options.max_len}")
        if options.dictionary is not None:
            command.append(f"-dict={options.dictionary}")
        return [*command, *options.extra, str(self.corpus), *map(str, options.seeds)]

    def _reload(self):
        """Return after how many seconds a process looks for new files of others.

        It looks at each file then.
        """
        try:
            # The folder's own size says roughly how many there are.
            files = self.corpus.stat().st_size // BYTES_OF_NAME
        except OSError:
            files = 0
        return max(1, files // FILES_A_SECOND)

    def line(self, job, text):
        status, executed, files = _STATUS.match(text), _EXECUTED.match(text), _FILES.match(text)
        if files:
            job.files = int(files[1])
        elif status:
            job.reads = job.reads and "\tINITED " not in text
            job.edges, job.corpus = int(status[2]), int(status[3])
            job.count(int(status[1]))
        elif executed:
            job.count(int(executed[1]))
        return bool(status or executed or files)
