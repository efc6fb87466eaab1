# SPDX-License-Identifier: MIT
"""Fuzzes U-Boot: builds it with its targets, and gives it to the campaign of `./redzone fuzz`."""

import shutil
from pathlib import Path

from redzone.core import base
from redzone.core.base import ROOT, Failure
from redzone.elf.file import File
from redzone.elf.symbols import symbols
from redzone.fuzz import campaign, target
from redzone.kit import ports
from redzone.machine import qemu as emulator

from . import boots, build

# Also files ports/u-boot/fuzz/NAME.c, and functions of fuzz/seeds.py.
TARGETS = ("net", "fs", "fit", "env", "efi", "dtb")
# Those whose inputs have numbers at fixed places: see numbers.c of the fuzzer.
NUMBERS = ("fs",)
TOOLS = ("qemu-arm64", "symbolizer", "libfuzzer", "clang-19", "lld")
MEMORY = "256M"
HANDLED = "fuzz: the input was handled"


def _given(*words):
    """Return QEMU's words that let U-Boot read @words."""
    return ["-fw_cfg", f"name=opt/redzone/words,string={' '.join(words)}"]


def _counters(elf):
    """Return how many places of the code are counted in the file @elf."""
    places = {name: value for name, value, *_ in symbols(File.open(elf)) if name.endswith("___sancov_guards")}
    start, stop = (places.get(f"__{end}___sancov_guards") for end in ("start", "stop"))
    if start == stop:
        raise Failure("nothing of U-Boot is counted: see ports/u-boot/fuzz/covered.txt")
    return (stop - start) // 4


def default_folder(name, tree):
    """Return where the corpus and the findings of the target @name are, if nobody says."""
    return f"u-boot-{name}.fuzz" if tree == "patched" else f"u-boot-{name}-{tree}.fuzz"


def write_seeds(name, folder):
    """Write the inputs that the target @name begins with into @folder: valid ones. Return their number."""
    folder.mkdir(parents=True, exist_ok=True)
    inputs = ports.load("u-boot", "fuzz.seeds").INPUTS[name]()
    for title, content in inputs.items():
        (folder / title).write_bytes(content)
    return len(inputs)


def _write_words(name, path):
    """Write the dictionary of the target @name into the file @path. Return whether it has one."""
    words = ports.load("u-boot", "fuzz.seeds").WORDS.get(name, ())
    lines = ("".join(f"\\x{byte:02x}" for byte in word) for word in words)
    path.write_text("".join(f'"{line}"\n' for line in lines), encoding="ascii")
    return bool(words)


def _repeat_words(name, tree, path):
    command = base.relative(ROOT / "redzone")
    words = [command if command.startswith((".", "/")) else f"./{command}", "port", "u-boot", "--fuzz", name]
    return [*words, *(["--unpatched"] if tree == "original" else []), "--repeat", base.relative(path)]


def prepare(name, tree, options, place, jobs=2):
    """Build U-Boot and what fuzzes the target @name in it, into @place. Return the target.Target."""
    image = build.build(tree, jobs=jobs, fuzz=True)
    executable = target.put_executable(place, numbers=name in NUMBERS)
    binary, elf = place / "u-boot.bin", place / "u-boot.elf"
    shutil.copyfile(image.binary, binary)
    shutil.copyfile(image.elf, elf)
    words = [
        *("qemu-system-aarch64", "-machine", "virt", "-cpu", "cortex-a57", "-m", MEMORY),
        *("-display", "none", "-serial", "stdio", "-monitor", "none", "-no-reboot", "-nic", "none"),
        *target.shared_memory(MEMORY),
        *_given("fuzz", name, "@page@"),
        *emulator.VIRTIO,
        *("-device", "virtio-serial-device,bus=virtio-mmio-bus.0,max_ports=4"),
        *target.wake_ports(),
        *("-bios", binary),
    ]
    counters = _counters(elf)
    target.write_configuration(executable, words, MEMORY, options, counters)
    options.seeds = [place / "seeds", *options.seeds]
    write_seeds(name, place / "seeds")
    if options.dictionary is None and _write_words(name, place / "words"):
        options.dictionary = place / "words"
    return target.Target(executable, elf, counters)


def run(name, tree, options, jobs=2):
    """Fuzz the target @name in U-Boot from @tree as the campaign.Options say. Return the exit status."""
    with base.scratch("fuzz-") as place:
        built = prepare(name, tree, options, place, jobs)
        return campaign.Campaign(built, options, lambda path: _repeat_words(name, tree, path)).run()


def repeat(name, tree, path, log, timeout, echo, jobs=2):
    """Let the target @name work on the input in the file @path. Return the boots.Session."""
    image = build.build(tree, jobs=jobs, fuzz=True)
    file = ports.option_value(Path(path).resolve())
    extra = [*_given("repeat", name), "-fw_cfg", f"name=opt/redzone/input,file={file}"]
    machine = {"memory": MEMORY, "network": None, "extra": extra, "echo": echo}
    return boots.booted(image, tree, log, lambda _, target: target.wait_text(HANDLED, timeout), **machine)
