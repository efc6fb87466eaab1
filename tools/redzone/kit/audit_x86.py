# SPDX-License-Identifier: MIT
"""What `./redzone audit` warns of on x86_64: a runtime or a port that is compiled as programs are.

The runtime runs wherever an access is checked: in interrupt handlers, on the stack of what they interrupt.
Code for programs keeps values below the stack pointer, where an interrupt writes, and uses registers of the
floating-point unit, which handlers do not save.
"""

import re

from redzone.core import base

_RUNTIME_NAME = re.compile(r"(__)?(kasan|asan|hwasan)_")
_PORT_NAME = re.compile(r"kasan_port_")
_EXAMPLES = 4


def is_runtime_name(name):
    """Is @name one that only the runtime and the port use?"""
    return bool(_RUNTIME_NAME.match(name))


def _functions(image, is_runtime):
    """Return the functions of the runtime and of the port in @image."""
    files = [
        unit
        for unit in image.units
        if is_runtime(unit) or any(_PORT_NAME.match(function.name) for function in unit.functions)
    ]
    found = [function for unit in files for function in unit.functions]
    return found + [one for one in image.functions if one.unit is None and is_runtime_name(one.name)]


def warnings(images, is_runtime):
    """Return the warnings about @images. @is_runtime(unit): is it a file of the runtime?"""
    # A program of a hosted system asks for the dynamic linker, and may do both.
    images = [
        image
        for image in images
        if image.arch == "x86_64" and not any(section.name == ".interp" for section in image.sections)
    ]
    functions = [function for image in images for function in _functions(image, is_runtime)]
    return [
        f"{base.plural(len(names), 'function')} of the runtime or the port {words} "
        f"({', '.join(names[:_EXAMPLES])}{', ...' if len(names) > _EXAMPLES else ''})"
        for names, words in (
            (
                sorted({function.name for function in functions if function.red_zone}),
                "keep values below the stack pointer, where an interrupt on the same stack writes: compile "
                "them with -mno-red-zone",
            ),
            (
                sorted({function.name for function in functions if function.vectors}),
                "use floating-point or vector registers, which interrupt handlers do not save: compile them "
                "with -mgeneral-regs-only",
            ),
        )
        if names
    ]
