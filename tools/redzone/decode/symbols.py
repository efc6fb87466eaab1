# SPDX-License-Identifier: MIT
"""Looks the frames of a decoded log up: which image each belongs to, its address there, its lines.

A line is shown only if it is the line. A frame whose function the image does not have in this size, or has
twice, stays without one, and a note says so.
"""

# Messages read better in one piece.
# ruff: noqa: E501

import os
from collections import Counter
from pathlib import Path

from redzone.core import base
from redzone.core.base import Failure
from redzone.decode import exact, images, model, variables

_SUFFIXES = (".ko", ".ko.debug", *(f".ko{suffix}" for suffix in images.PACKED))
# Where distributions put debug information, by build ID; a folder of modules may hold the same tree.
_DEBUG = Path("/usr/lib/debug")
# So many of the functions with a size must fit before one that does not is put down to a difference in counting.
_FIT = 0.8
_MAX_NOTES = 20


class Symbols:
    """Images and modules. Close it, or use it in a with statement.

    elfs: paths; modules: a folder or None. offset: that the images were moved by, if the user knows it.
    """

    def __init__(self, elfs, modules=None, offset=None):
        self._modules = modules
        self._given = offset
        self._found = None
        self._by_name = {}
        self.images, self.main = [], []
        self._offset = {}
        self._files = {}
        self.notes = []
        if modules is not None and not Path(modules).is_dir():
            raise Failure(f"--modules '{modules}': there is no such folder")
        try:
            for path in elfs:
                image = images.Image(path)
                self.images.append(image)
                if image.is_module:
                    self._by_name[images.module_name(path)] = image
                else:
                    self.main.append(image)
                if not image.has_lines and not _debug_file(_DEBUG, image.build_id).is_file():
                    self.note(f"{base.relative(path)} has no debug information: functions, but no lines")
        except BaseException:
            self.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *ignored):
        self.close()

    def close(self):
        for image in self.images:
            image.close()

    def note(self, text):
        if text not in self.notes and len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    # --- Which image ----------------------------------------------------------------------------------------

    def check_build_ids(self, ids):
        """Refuse images if the log names the kernel's build @ids, and none of the images has one of them."""
        own = {image.build_id: image for image in self.main if image.build_id}
        if ids and own and not ids & set(own):
            image = next(iter(own.values()))
            raise Failure(
                f"{base.relative(image.path)} is another build than the kernel that printed the log: its build ID is "
                f"{image.build_id}, the log's is {', '.join(sorted(ids)[:4])}"
            )

    def _module(self, frame):
        """Return the Image of the module or library that @frame names, None if it is not there."""
        name = images.module_name(frame.module)
        image = self._by_name.get(name)
        if image is None and name not in self._by_name:
            image = self._by_name[name] = self._search(name, frame.build_id)
        if image is None:
            image = next((one for one in self.main if one.name == frame.module), None)
        if (
            image is not None
            and frame.build_id
            and image.build_id
            and not _same_id(frame.build_id, image.build_id)
        ):
            if image.path in {Path(one.path) for one in self.main} or self._modules is None:
                raise Failure(
                    f"{base.relative(image.path)} is another build than {frame.module} in the log: its build ID is "
                    f"{image.build_id}, the log's is {frame.build_id}"
                )
            self.note(
                f"{base.relative(image.path)} is not used: its build ID is {image.build_id}, that of {frame.module} "
                f"in the log {frame.build_id}"
            )
            return None
        return image

    def _search(self, name, build_id):
        """Return the Image of the module @name below the folder of modules, None if there is none."""
        if self._modules is None:
            return None
        if self._found is None:
            self._found = {}
            for folder, _, files in os.walk(self._modules):
                for file in sorted(files):
                    if file.endswith(_SUFFIXES):
                        self._found.setdefault(images.module_name(file), []).append(Path(folder) / file)
        best = None
        # A .ko.debug has the lines that a stripped .ko lacks.
        paths = sorted(self._found.get(name, ()), key=lambda path: path.suffix != ".debug")
        for path in [*self._by_build_id(build_id), *paths]:
            try:
                image = images.Image(path, name)
            except Failure as error:
                self.note(str(error))
                continue
            self.images.append(image)
            if build_id and image.build_id and _same_id(build_id, image.build_id):
                return image
            best = best or image
        return best

    def _by_build_id(self, build_id):
        """Return [path] of the debug information with this build ID, in the layout of distributions."""
        if not 16 <= len(build_id) <= 64:
            return []
        folders = (Path(self._modules), Path(self._modules, "usr/lib/debug"), _DEBUG)
        return [path for path in (_debug_file(folder, build_id) for folder in folders) if path.is_file()]

    # --- Where in the image ---------------------------------------------------------------------------------

    def learn_offset(self, offset, reports):
        """Find what each image was moved by: @offset as the log says (KASLR), or from frames that have both an
        address and a name."""
        votes = {}
        for frame in _frames(reports):
            if frame.name and frame.address is not None and frame.offset is not None and not frame.module:
                for image in self.main:
                    found = image.find(frame.name, frame.offset, frame.size)
                    if len(found) == 1:
                        votes.setdefault(image, Counter())[
                            frame.address - frame.offset - found[0].address
                        ] += 1
        for image in self.main:
            best = votes.get(image, Counter()).most_common(1)
            found = best[0][0] if best else offset or 0
            self._offset[image] = found if self._given is None else self._given

    def offset_of(self, image):
        return self._offset.get(image, 0)

    def _in_image(self, image, address):
        """Return where in @image the log's @address is. Both wrap around: an image may also be moved down."""
        return address - self.offset_of(image) & (1 << 8 * image.word) - 1

    def _in_log(self, image, address):
        """Return what the log has for the @address in @image."""
        return address + self.offset_of(image) & (1 << 8 * image.word) - 1

    def _hint(self, addresses):
        """All frames of the log have these @addresses, and none of them lies in an image."""
        where = ", ".join(
            f"{base.relative(image.path)} ({image.low:#x}..{image.high:#x}"
            + (f", moved by {self.offset_of(image):#x})" if self.offset_of(image) else ")")
            for image in self.main
        )
        self.note(
            f"no address of the traces ({min(addresses):#x}..{max(addresses):#x}) lies in {where}: if it was loaded "
            'elsewhere, give --load-offset NUMBER, or print a line "Kernel Offset: 0x..." at boot '
            "(kasan_print_load_offset())"
        )

    def name_frames(self, reports):
        """Give names to frames that have only an address. Return whether there were any."""
        changed = False
        outside, placed = set(), False
        for frame in _frames(reports):
            if frame.name or frame.address is None:
                placed |= bool(frame.name)
                continue
            image, address = self._of_address(frame)
            placed |= image is not None
            if image is None:
                outside.add(frame.address)
            found = (
                image.functions.at(address if frame.exact or address == 0 else address - 1) if image else None
            )
            if found:
                frame.name, frame.offset, frame.size = found[0], found[1] + (not frame.exact), found[2]
                changed = True
        if outside and not placed and self.main:
            self._hint(outside)
        for report in reports:
            call = report.stack("call")
            if report.where[:2] == "0x" and call:
                address = int(report.where, 16) if _is_hex(report.where) else None
                same = next((frame for frame in call.frames if frame.address == address and frame.name), None)
                if same is not None:
                    report.where = same.name
        return changed

    def _of_address(self, frame):
        """Return (Image, address in it) of a frame that has an address, (None, None) if no image has it."""
        if frame.module and frame.offset is not None:
            image = self._module(frame)
            if image is not None:
                at = frame.offset if image.holds(frame.offset) else frame.offset + image.low
                return image, at
        for image in self.main:
            address = self._in_image(image, frame.address)
            if image.machine == "EM_ARM":
                # Bit 0 of a return address says that the code is Thumb.
                address &= ~1
            if image.holds(address):
                return image, address
        return None, None

    def _of_name(self, frame):
        """Return (Image, address in it, does the size fit) of a frame with a name; (None, None, False)."""
        if frame.offset is None:
            return None, None, False
        for image in [self._module(frame)] if frame.module else self.main:
            if image is None:
                continue
            found = self.choose(image.find(frame.name, frame.offset, frame.size))
            if len(found) == 1:
                return image, found[0].address + frame.offset, True
            if found:
                # Two functions of one name and size. The address tells, or the call before a return address.
                here = [
                    one for one in found if frame.address == self._in_log(image, one.address + frame.offset)
                ]
                calls = here or [one for one in found if image.code.follows_call(one.address + frame.offset)]
                if len(calls) == 1:
                    return image, calls[0].address + frame.offset, True
                self.note(f"the image has {len(found)} functions {frame.name}() of this size: no line for it")
                return None, None, True
            other = image.functions.find(frame.name)
            if len(other) == 1 and frame.offset <= other[0].size:
                return image, other[0].address + frame.offset, False
        return None, None, False

    @staticmethod
    def choose(found):
        """Return those of @found, images.Symbols of one name, that a frame can mean. All, unless a subclass
        knows more."""
        return found

    # --- Lines ----------------------------------------------------------------------------------------------

    def look_up(self, reports):
        """Fill Frame.locations and Frame.exact in @reports."""
        places, fit, unfit = {}, set(), set()
        for frame in _frames(reports):
            user = frame.address is not None and frame.size is None
            if user:
                image, address = self._of_address(frame)
                fits = True
            else:
                image, address, fits = self._of_name(frame)
                (fit if fits else unfit).add((frame.module, frame.name, frame.size))
            if image is not None:
                places[id(frame)] = image, address, fits
        accept = len(fit) >= _FIT * (len(fit) + len(unfit))
        if unfit and not accept:
            names = ", ".join(sorted({name for _, name, _ in unfit})[:5])
            self.note(
                f"{len(unfit)} of {len(fit) + len(unfit)} functions in the traces are missing from the images or have "
                f"another size there ({names}): is it another build? They have no lines"
            )
        for report in reports:
            for stack in report.stacks:
                self._stack(report, stack, places, accept)

    def _stack(self, report, stack, places, accept):
        before = None
        for at, frame in enumerate(stack.frames):
            image, address, fits = places.get(id(frame), (None, None, False))
            if image is not None and (fits or accept):
                access = None
                if at == 0 and stack.kind == "call" and frame.name == report.where:
                    access = report.access.kind, report.access.size
                self._lines(frame, before, image, address, access)
            before = frame

    def _lines(self, frame, before, image, address, access=None):
        known = frame.exact or (before is not None and exact.after_entry(frame.name, before.name))
        offset = frame.offset if frame.size is not None else None
        frame.exact = image.code.is_exact(address, known, offset, access)
        found = image.lines_at(address if frame.exact else address - 1)
        if found:
            frame.locations = list(found)
            self._files.update((one.path, image) for one in found)
        if frame.address is None and not image.relocatable:
            frame.address = self._in_log(image, address)

    def look_up_frame(self, frame, before=None):
        """Like look_up(), for a frame of no report. @before: the frame before it in the trace."""
        image, address, fits = self._of_name(frame)
        if image is not None and fits:
            self._lines(frame, before, image, address)

    def variable_of(self, found):
        """Return (name, Location) of the global variable that a model.Object is, None if unknown."""
        # In an image, pointers have no tags.
        start = found.start | 0xFF << 56 if found.start >> 55 & 1 else found.start
        for image in self.main:
            address = self._in_image(image, start)
            data = image.variable_at(address) if image.holds(address) else None
            if data is not None:
                self._files[data[1].path] = image
                return data
        # Nobody says where a module lies, but the compiler has put the file into the report.
        file = found.where.path if found.where is not None and not found.where.line else ""
        for image in self.images if file else ():
            place = variables.declared(image.file, found.name, file) if image.is_module else None
            if place is not None:
                self._files[place.path] = image
                return found.name, place
        return None

    def locals_of(self, frame):
        """Return [(model.Variable, Location)] of the function of @frame: see images.Image.locals_at()."""
        image, address, fits = self._of_name(frame)
        found = image.locals_at(address) if image is not None and fits else []
        self._files.update((place.path, image) for _, place in found)
        return found

    def names_file(self, path):
        """Is @path a file that an image's debug information names?"""
        return path in self._files

    def image_with(self, path):
        """Return the Image whose code comes from the file @path, None if unknown."""
        return self._files.get(path)

    def used(self):
        """Return [model.Image] of all images."""
        return [
            model.Image(
                str(image.path),
                image.build_id,
                image.name if image.is_module else "",
                self.offset_of(image),
            )
            for image in self.images
        ]


def _debug_file(folder, build_id):
    """Return where LLVM's symbolizer and distributions look for debug information with this build ID."""
    return Path(folder, ".build-id", build_id[:2], f"{build_id[2:]}.debug")


def _same_id(first, second):
    return first.startswith(second) or second.startswith(first)


def _is_hex(text):
    return text[:2] == "0x" and all(letter in "0123456789abcdef" for letter in text[2:]) and len(text) > 2


def _frames(reports):
    for report in reports:
        for stack in report.stacks:
            yield from stack.frames
