# SPDX-License-Identifier: MIT
"""Writes a target as a folder that other machines run: what ClusterFuzz and OSS-Fuzz expect of one.

NAME              the libFuzzer executable, which afl-fuzz can drive as well
NAME.conf, ...    its kernel, and what it has to know about it; paths are relative to the folder
NAME.options      libFuzzer's options
NAME.dict         words for inputs, if there are any
NAME_seed_corpus.zip  inputs to begin with, if there are any
build.sh          builds all of it again
"""

import shlex
import shutil
import zipfile
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure

_BUILD = """\
#!/bin/sh
# Builds the fuzz target {name} into the folder $OUT, as OSS-Fuzz and ClusterFuzzLite do.
# SRC: the folder that the names below are relative to. REDZONE: the command, by default $SRC/redzone/redzone.
set -eu
: "${{OUT:?is the folder to build into}}" "${{SRC:=.}}"
cd "$SRC"
exec "${{REDZONE:-$SRC/redzone/redzone}}" fuzz --export "$OUT" {arguments}
"""


def _seed_corpus(file, folders):
    """Write the inputs in @folders to the zip file @file, each once. Return how many."""
    written = set()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for folder in folders for path in folder.rglob("*") if path.is_file()):
            if path.name not in written:
                archive.writestr(path.name, path.read_bytes())
                written.add(path.name)
    if not written:
        file.unlink()
    return len(written)


def _options(options, name):
    lines = ["[libfuzzer]", f"max_len = {options.max_len or 4096}"]
    # A hang of the target is the guest's, and found there. libFuzzer's own limit has to be the longer one.
    lines += [f"timeout = {int(options.hang * 20) + 120}", "rss_limit_mb = 0"]
    if options.dictionary is not None:
        lines.append(f"dict = {name}.dict")
    return "\n".join(lines) + "\n"


def write(target, options, name, folder, arguments):
    """Write the target.Target @target as @name into @folder.

    arguments: words of `./redzone fuzz` that build it again.
    """
    folder = Path(folder)
    executable = target.executable
    configuration = executable.with_name(f"{executable.name}.conf").read_text(encoding="utf-8")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(executable.parent.iterdir()):
            if path == executable or path.suffix == ".conf":
                continue
            new = f"{name}{path.suffix or '.' + path.name}"
            shutil.copyfile(path, folder / new)
            configuration = configuration.replace(f"@here@/{path.name}", f"@here@/{new}")
        (folder / f"{name}.conf").write_text(configuration, encoding="utf-8")
        (folder / f"{name}.options").write_text(_options(options, name), encoding="utf-8")
        if options.dictionary is not None:
            shutil.copyfile(options.dictionary, folder / f"{name}.dict")
        seeds = _seed_corpus(folder / f"{name}_seed_corpus.zip", [options.folder / "corpus", *options.seeds])
        script = folder / "build.sh"
        script.write_text(_BUILD.format(name=name, arguments=shlex.join(arguments)), encoding="utf-8")
        script.chmod(0o755)
        # The last: who waits for it finds the rest.
        shutil.copy2(executable, folder / name)
    except OSError as error:
        raise Failure(f"--export: '{folder}' cannot be written: {error.strerror}") from None
    base.say(f"{base.relative(folder / name)}, with {base.plural(seeds, 'input')} to begin with")
