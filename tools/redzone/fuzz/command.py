# SPDX-License-Identifier: MIT
"""The verb `./redzone fuzz` and its options. Those of kernel and compiler are the ones of `./redzone run`."""

import os
from pathlib import Path

import click

from redzone.build import builder
from redzone.core import base, doctor
from redzone.core.base import ROOT, Failure
from redzone.core.options import YES
from redzone.fuzz import options

# Options of `run` that mean the same here.
SHARED = (
    *("arch", "mode", "inline", "outline", "cc", "level", "cpu", "smp", "mem", "append"),
    *("includes", "defines", "cflags", "kernel_headers", "stack", "data", "env"),
    *("project", "targets", "warnings"),
)
# Options of this verb that matter to an exported target.
AGAIN = ("max_len", "dictionary", "seeds", "hang", "leaks", "cover")
TOOLS = ("libfuzzer", "clang-19", "lld", "libc")


def _given(context, shared):
    """Return the words of the options of `run` that the user gave, for the line that repeats a finding."""
    words = []
    for param in context.command.params:
        value = context.params.get(param.name)
        source = context.get_parameter_source(param.name)
        if param.name not in shared or source is not click.core.ParameterSource.COMMANDLINE:
            continue
        option = next((name for name in param.opts if name.startswith("--")), param.opts[0])
        if param.is_flag:
            words.append(option)
            continue
        for one in value if param.multiple else [value]:
            words += [option, f"{one[0]}={one[1]}" if isinstance(one, tuple) else str(one)]
    return words


def _shown(path):
    return os.path.relpath(path)


def register(group, check):
    """Add the verb.

    check: takes the options of `run` by name, refuses those that exclude each other, and chooses the kernel's
    features.
    """
    run = group.commands["run"]
    names = {*SHARED, *builder.OPTION_FEATURES}
    shared = [param for param in run.params if param.name in names]

    @click.command("fuzz", short_help="Fuzz a function of C files in a kernel under KASAN.")
    @click.argument("files", nargs=-1, required=True, metavar="HARNESS.c [FILE.c]...")
    @options.add("HARNESS.fuzz")
    @options.JOBS
    @click.option("--leaks", is_flag=True, help="Report objects that an input leaves allocated.")
    @click.option(
        "--cover", multiple=True, metavar="FILE", help="Also count coverage of FILE of kernel/ or runtime/."
    )
    @click.option(
        "--export", metavar="DIR", help="Write the target to DIR for ClusterFuzz or OSS-Fuzz, do not run it."
    )
    @YES
    @click.pass_context
    def fuzz_verb(context, files, **values):
        """Run LLVMFuzzerTestOneInput(data, size) of HARNESS.c again and again with new inputs, under KASAN.

        libFuzzer or AFL++ makes the inputs, and keeps those that reach new code. Each report, crash or hang
        is a finding, and fuzzing goes on. DIR/findings has a folder for each bug: its report, the smallest
        input that shows it, and the command that repeats it. A second run, with either engine, continues
        where the first one ended. Without --time and --runs it runs until Ctrl-C.

        \b
        Examples:
          ./redzone fuzz parser_fuzz.c parser.c -I include --time 60
          ./redzone fuzz --mode hw_tags --jobs 4 parser_fuzz.c parser.c
          ./redzone fuzz --engine afl++ --jobs 2 parser_fuzz.c parser.c
          ./redzone fuzz --seeds samples --dict png.dict png_fuzz.c png.c

        \b
        Exit status: 0 no findings, 1 findings, 2 usage or build error, 130 interrupted.
        """
        from redzone.fuzz import campaign, export, target
        from redzone.run import job

        own = {name: values.pop(name) for name in (*options.NAMES, "jobs")}
        leaks = values.pop("leaks")
        covered = [_covered(name) for name in values.pop("cover")]
        exported = values.pop("export")
        again = [*_given(context, {*names, *AGAIN}), *files]
        line = [_shown(ROOT / "redzone"), "run", *_given(context, names), *files, _shown(target.HARNESS)]
        if base.INSTALLED:
            line[0] = base.COMMAND
        elif not line[0].startswith((".", "/")):
            line[0] = f"./{line[0]}"

        def repeat(path):
            looks = ["--leaks"] if leaks else []
            return [*line, "--file", f"input={base.relative(path)}", "--", *looks, "input"]

        check(values)
        yes = values.pop("yes")
        work = job.check(_job_options(job, [*files, str(target.HARNESS)], yes, values))
        engine = () if exported is not None else options.tools_of(own["engine"])
        doctor.require([*work.tools(), *TOOLS, *engine], "fuzz a program", yes)
        chosen = options.chosen(campaign, f"{Path(files[0]).stem}.fuzz", own)
        chosen.cover, chosen.leaks = covered, leaks
        with base.scratch("fuzz-") as place:
            built = target.build(work, chosen, place)
            if exported is not None:
                export.write(built, chosen, Path(files[0]).stem, exported, again)
                return
            context.exit(campaign.Campaign(built, chosen, repeat).run())

    fuzz_verb.params = [*shared, *fuzz_verb.params]
    group.add_command(fuzz_verb)


def _job_options(job, files, yes, options):
    """Return the job.Options of a program that is fuzzed."""
    rest = {
        "timeout": None, "modules": [], "max_reports": None, "icount": False, "separate": False,
        "report_file": None, "log": None, "no_symbolize": False, "arguments": [],
    }  # fmt: skip
    return job.Options(files=files, yes=yes, **rest, **options)


def _covered(name):
    """Return the path of the file @name of --cover, or raise Failure."""
    path = Path(name).resolve()
    if path.suffix != ".c" or not path.is_file():
        raise Failure(f"--cover '{name}' is not a .c file")
    if not any(path.is_relative_to(ROOT / part) for part in ("kernel", "runtime")):
        raise Failure(f"--cover '{name}' is not a file of {ROOT}/kernel or {ROOT}/runtime")
    return path
