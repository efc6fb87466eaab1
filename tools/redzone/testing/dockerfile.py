# SPDX-License-Identifier: MIT
"""Reads the Dockerfile, and turns it into a shell script, so that a chroot can stand in for a container."""

import re
import shlex
from dataclasses import dataclass

from redzone.core.base import Failure


@dataclass(frozen=True)
class Instruction:
    """One instruction: @name in capitals, and the rest of its lines as one."""

    name: str
    text: str


def parse(text):
    """Return the Instructions of the Dockerfile @text."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines))
    words = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [Instruction(name.upper(), rest.strip()) for name, rest in words]


def script(instructions, context, root=""):
    """Return a shell script that does what the @instructions do to an image, in this system.

    @context: the folder that COPY reads. @root: goes before each absolute path, "" in a chroot."""
    lines = ["set -e"]
    place = shlex.quote(str(context))
    for instruction in instructions:
        name, text = instruction.name, instruction.text
        if name == "WORKDIR":
            lines.append(f"mkdir -p {root}{text} && cd {root}{text}")
        elif name == "RUN":
            # As Docker does: each in a shell of its own.
            lines.append(f"sh -c {shlex.quote(text)}")
        elif name == "COPY":
            *sources, target = text.split()
            into = shlex.quote(target)
            if target.endswith("/") or len(sources) > 1:
                lines.append(f"mkdir -p {into}")
            for source in sources:
                # Of a folder Docker copies what is in it.
                lines.append(
                    f"if [ -d {place}/{source} ]; then mkdir -p {into} && cp -a {place}/{source}/. {into}; "
                    f"else cp -a {place}/{source} {into}; fi"
                )
        elif name not in ("FROM", "ENTRYPOINT", "CMD"):
            raise Failure(f"Dockerfile: the instruction {name} is not known here")
    return "\n".join(lines) + "\n"
