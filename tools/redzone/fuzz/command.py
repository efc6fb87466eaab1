# SPDX-License-Identifier: MIT
"""The verb `./redzone fuzz` and its options. Those of kernel and compiler are the ones of `./redzone run`."""

import os
import shutil
from pathlib import Path

import click

from redzone import builder, doctor
from redzone.base import BUILD, ROOT, Failure
from redzone.options import YES, Number

# Options of `run` that mean the same here.
SHARED = (
    *("arch", "mode", "inline", "outline", "cc", "level", "cpu", "smp", "mem", "append"),
    *("includes", "defines", "cflags", "kernel_headers", "data"),
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
    @click.option(
        "--dir", "folder", metavar="DIR", help="Folder of corpus and findings. Default: HARNESS.fuzz."
    )
    @click.option(
        "--time", "seconds", type=Number(float, 1, 31536000, "SECONDS"), help="End after so many seconds."
    )
    @click.option("--runs", type=Number(int, 1, 1 << 62, "N"), help="End after N inputs.")
    @click.option("--first", is_flag=True, help="End at the first finding.")
    @click.option("--jobs", type=Number(int, 1, 256, "N"), default="1", help="Kernels at once. Default: 1.")
    @click.option("--seed", type=Number(int, 1, (1 << 32) - 1, "N"), help="Begin with these random numbers.")
    @click.option(
        "--hang",
        type=Number(float, 0.1, 3600, "SECONDS"),
        default="5",
        help="An input that takes longer is a finding. Default: 5.",
    )
    @click.option("--leaks", is_flag=True, help="An object that an input leaves over is a finding.")
    @click.option("--max-len", type=Number(int, 1, 1 << 20, "N"), help="Bytes of the longest input.")
    @click.option("--dict", "dictionary", metavar="FILE", help="Words for inputs, in libFuzzer's form.")
    @click.option("--seeds", multiple=True, metavar="DIR", help="Folder of inputs to begin with.")
    @click.option(
        "--cover", multiple=True, metavar="FILE", help="Coverage of FILE of kernel/ or runtime/ as well."
    )
    @click.option(
        "--export", metavar="DIR", help="Write the target to DIR for ClusterFuzz or OSS-Fuzz, do not run it."
    )
    @click.option("--libfuzzer", "engine", multiple=True, metavar="OPTION", help="Give OPTION to libFuzzer.")
    @YES
    @click.pass_context
    def fuzz_verb(context, files, **options):
        """Run LLVMFuzzerTestOneInput(data, size) of HARNESS.c with ever new inputs, in a kernel under KASAN.

        libFuzzer makes the inputs, and keeps those that reach new code. A report, a crash or a hang is a
        finding; fuzzing goes on. DIR/findings has a folder for each bug: its report, the smallest input that
        shows it, and the command that repeats it. A second run goes on where the first one ended. Without
        --time and --runs only Ctrl-C ends it.

        \b
        Examples:
          ./redzone fuzz parser_fuzz.c parser.c -I include --time 60
          ./redzone fuzz --mode hw_tags --jobs 4 parser_fuzz.c parser.c
          ./redzone fuzz --seeds samples --dict png.dict png_fuzz.c png.c

        \b
        Exit status: 0 no findings, 1 findings, 2 usage or build error, 130 interrupted.
        """
        from redzone import job
        from redzone.fuzz import campaign, export, target

        own = {
            name: options.pop(name)
            for name in (
                *("folder", "seconds", "runs", "first", "jobs", "seed", "hang"),
                *("max_len", "dictionary", "seeds", "cover", "engine", "leaks"),
            )
        }
        exported = options.pop("export")
        again = [*_given(context, {*names, *AGAIN}), *files]
        command = [_shown(ROOT / "redzone"), "run", *_given(context, names), *files, _shown(target.HARNESS)]
        if not command[0].startswith((".", "/")):
            command[0] = f"./{command[0]}"
        check(options)
        yes = options.pop("yes")
        work = job.check(_job_options(job, [*files, str(target.HARNESS)], yes, options))
        doctor.require([*work.tools(), *TOOLS], "fuzz a program", yes)
        chosen = _campaign_options(campaign, files, own)
        (BUILD / "runs").mkdir(parents=True, exist_ok=True)
        place = campaign.scratch()
        try:
            built = target.build(work, chosen, place)
            if exported is not None:
                export.write(built, chosen, Path(files[0]).stem, exported, again)
                return
            context.exit(campaign.Campaign(built, chosen, command).run())
        finally:
            shutil.rmtree(place, ignore_errors=True)

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


def _campaign_options(campaign, files, own):
    """Return the campaign.Options of the verb's @own options, or raise Failure."""
    folder = Path(own["folder"] or f"{Path(files[0]).stem}.fuzz")
    if folder.exists() and not folder.is_dir():
        raise Failure(f"--dir '{folder}' is not a folder")
    for name in own["seeds"]:
        if not Path(name).is_dir():
            raise Failure(f"--seeds '{name}' is not a folder")
    dictionary = own["dictionary"]
    if dictionary is not None and not Path(dictionary).is_file():
        raise Failure(f"--dict '{dictionary}' is not a file")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"--dir '{folder}' cannot be made: {error.strerror}") from None
    # Two processes take part in each job. If there are not enough CPUs, one that polls takes the other's.
    polls = 2 * own["jobs"] <= len(os.sched_getaffinity(0))
    return campaign.Options(
        folder,
        jobs=own["jobs"],
        seconds=own["seconds"],
        runs=own["runs"],
        first=own["first"],
        seed=own["seed"],
        hang=own["hang"],
        spin_us=200 if polls else 0,
        seeds=[Path(name) for name in own["seeds"]],
        dictionary=dictionary,
        max_len=own["max_len"],
        cover=[_covered(name) for name in own["cover"]],
        engine=list(own["engine"]),
        leaks=own["leaks"],
    )
