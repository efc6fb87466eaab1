# SPDX-License-Identifier: MIT
"""The command `redzone` of GDB and LLDB: whose memory an address is, who allocated and freed it, and its
state.

Runs inside the debugger's own Python, so it imports nothing of this package. debug.py writes the script that
loads it. The kernel's own functions find the owner: they are called in the stopped machine, and put their
answer where a report would be captured (the_report), whose old contents come back afterwards.
"""

import os

# The size of a granule, names for users, and registers (core/arch.py): debug.py sets them through begin().
_settings = {"granule": 8, "roots": [], "folder": "", "registers": (), "saved": ()}
_ROWS = 3
_CELLS = 16
# Functions that call a program's or a thread's first one.
_STARTS = ("redzone_libc_main", "program_thread", "kthread", "ret_from_fork")
_HELP = "redzone [EXPRESSION]: the object at an address, its stacks, and the state of the memory."


class Gdb:
    """What the command needs of a debugger, by GDB."""

    def __init__(self, gdb):
        self._gdb = gdb

    def value(self, text):
        """Return the number that the user's expression @text has in the selected frame."""
        return int(self._gdb.parse_and_eval(f"(unsigned long)({text})"))

    def report(self):
        """Return (address, size) of the_report."""
        found = self._gdb.parse_and_eval("the_report")
        return int(found.address), found.type.sizeof

    def field(self, name):
        """Return the number in the member @name of the_report."""
        return int(self._gdb.parse_and_eval(f"the_report.{name}"))

    def offset(self, name):
        """Return where the member @name is in the_report."""
        return int(self._gdb.parse_and_eval(f"(unsigned long)&the_report.{name}")) - self.report()[0]

    def assign(self, name, value):
        self._gdb.execute(f"set var the_report.{name} = {value:#x}", to_string=True)

    def call(self, name, *arguments):
        """Call the function @name in the machine, with integers and addresses. Return what it does."""
        words = ", ".join(f"{one:#x}ul" for one in arguments)
        return int(self._gdb.parse_and_eval(f"((unsigned long (*)()){name})({words})"))

    def read(self, address, size):
        return bytes(self._gdb.selected_inferior().read_memory(address, size))

    def write(self, address, data):
        self._gdb.selected_inferior().write_memory(address, data)

    def symbol(self, address):
        """Return the name of the function or variable at @address; "" if there is none."""
        words = self._gdb.execute(f"info symbol {address:#x}", to_string=True).split()
        return words[0] if words[:1] != ["No"] else ""

    def place(self, address):
        """Return (function, file, line) of the code at @address."""
        found = self._gdb.find_pc_line(address)
        block = self._gdb.block_for_pc(address)
        while block is not None and block.function is None:
            block = block.superblock
        function = block.function.name if block is not None else f"{address:#x}"
        function = function if block is not None else self.symbol(address) or function
        return function, found.symtab.fullname() if found.symtab else "", found.line

    def frames(self):
        """Yield (select, function, file) of the frames, the newest first."""
        frame = self._gdb.newest_frame()
        while frame is not None and frame.is_valid():
            table = frame.find_sal().symtab
            yield frame.select, frame.name() or "", table.fullname() if table else ""
            frame = frame.older()

    def say(self, text):
        self._gdb.write(text + "\n")


class Lldb:
    """The same, by LLDB. @result: of the command."""

    def __init__(self, lldb, debugger, result):
        self._lldb, self._debugger, self._result = lldb, debugger, result
        self._target = debugger.GetSelectedTarget()
        self._process = self._target.GetProcess()
        self._thread = self._process.GetSelectedThread()

    def _checked(self, found):
        if found.GetError().Fail():
            raise RuntimeError((found.GetError().GetCString() or "failed").splitlines()[0])
        return found

    def value(self, text):
        frame = self._thread.GetSelectedFrame()
        found = self._checked(frame.EvaluateExpression(text))
        if found.GetType().IsArrayType():
            found = self._checked(frame.EvaluateExpression(f"&({text})"))
        return found.GetValueAsUnsigned()

    def _global(self):
        return self._target.FindFirstGlobalVariable("the_report")

    def report(self):
        found = self._global()
        return found.GetLoadAddress(), found.GetByteSize()

    def _member(self, name):
        return self._checked(self._global().GetValueForExpressionPath(f".{name}"))

    def field(self, name):
        return self._member(name).GetValueAsUnsigned()

    def offset(self, name):
        return self._member(name).GetLoadAddress() - self.report()[0]

    def assign(self, name, value):
        self._member(name).SetValueFromCString(f"{value:#x}")

    def call(self, name, *arguments):
        # LLDB's own calls want memory from the machine's malloc(). So this is one by hand: it comes back to
        # where the machine has stopped, below all that the stack holds.
        functions = self._target.FindFunctions(name)
        if not functions.GetSize():
            raise RuntimeError(f"the kernel has no function {name}()")
        entry = functions[0].GetFunction().GetStartAddress().GetLoadAddress(self._target)
        general = self._thread.GetFrameAtIndex(0).GetRegisters()[0]
        before = {one.GetName(): one.GetValueAsUnsigned() for one in general if one.GetByteSize() == 8}
        back = before["pc"]
        *places, link = _settings["registers"]
        new = dict(zip(places, arguments, strict=False))
        new |= {"sp": (before["sp"] - 4096) & ~15, link: back, "pc": entry}
        self._set(new)
        stop = self._target.BreakpointCreateByAddress(back)
        synchronous = self._debugger.GetAsync()
        self._debugger.SetAsync(False)
        try:
            self._process.Continue()
            self._thread = self._process.GetSelectedThread()
            frame = self._thread.GetFrameAtIndex(0)
            if frame.GetPC() != back:
                raise RuntimeError(f"{name}() did not come back")
            return frame.FindRegister(places[0]).GetValueAsUnsigned()
        finally:
            self._target.BreakpointDelete(stop.GetID())
            self._set(before)
            self._debugger.SetAsync(synchronous)

    def _set(self, values):
        frame = self._thread.GetFrameAtIndex(0)
        for name, value in values.items():
            register = frame.FindRegister(name)
            if register.IsValid():
                register.SetValueFromCString(f"{value:#x}")
                frame = self._thread.GetFrameAtIndex(0)

    def read(self, address, size):
        return self._process.ReadMemory(address, size, self._lldb.SBError())

    def write(self, address, data):
        self._process.WriteMemory(address, data, self._lldb.SBError())

    def symbol(self, address):
        return self._target.ResolveLoadAddress(address).GetSymbol().GetName() or ""

    def place(self, address):
        target = self._process.GetTarget()
        found = target.ResolveSymbolContextForAddress(
            target.ResolveLoadAddress(address), self._lldb.eSymbolContextEverything
        )
        line = found.GetLineEntry()
        name = found.GetFunction().GetName() or found.GetSymbol().GetName() or f"{address:#x}"
        return name, line.GetFileSpec().fullpath or "", line.GetLine()

    def frames(self):
        for frame in self._thread.frames:
            number = frame.GetFrameID()
            path = frame.GetLineEntry().GetFileSpec().fullpath or ""
            yield (
                lambda number=number: self._thread.SetSelectedFrame(number),
                frame.GetFunctionName() or "",
                path,
            )

    def say(self, text):
        self._result.AppendMessage(text)


def _shown(path):
    """Return @path as the user knows it."""
    for folder in (_settings["folder"], *_settings["roots"]):
        if folder and path.startswith(folder + os.sep):
            return path[len(folder) + 1 :]
    return path


def select_users_frame(one):
    """Select the newest frame that is neither the kernel's nor the runtime's."""
    ours = ("kernel", "runtime", "include", "build")
    ours = tuple(f"{root}/{name}/" for root in _settings["roots"] for name in ours)
    for select, _, path in one.frames():
        if path and not path.startswith(ours) and "/musl-" not in path:
            select()
            return


def _of_bug(one, *members):
    """Return the numbers in @members of the bug at whose report the machine has stopped; None elsewhere."""
    for select, function, _ in one.frames():
        if function.startswith("report_it"):
            select()
            return [one.value(f"bug->{member}") for member in members]
    return None


def _address_of_bug(one):
    found = _of_bug(one, "addr")
    if found is None:
        raise RuntimeError("the machine is not in a report: give an address, as in `redzone pointer`")
    return found[0]


def _fill(one, place, address, plain):
    """Put into the_report, at @place, what capture.c would put there about one byte at @address."""
    for name, value in (("addr", plain), ("first_bad", plain), ("pointer", address), ("size", 1)):
        one.assign(name, value)
    one.assign("has_shadow", 1)
    one.call("kasan_memory_state", plain, place + one.offset("bad_shadow"))
    # A report is made on a stack of its own: the one that counts is the bug's.
    ends = ("task.stack_start", "task.stack_end")
    found = _of_bug(one, *ends)
    if found is None:
        one.call("kasan_port_task", place + one.offset("task"))
    for name, value in zip(ends, found or (), strict=False):
        one.assign(name, value)
    if _settings["granule"] != 8:
        # In the tag modes the stack ring knows the owner.
        one.assign("newest_record", one.value("kasan_ring.epoch"))


def _text(one, address):
    """Return the string at @address, as far as it is one."""
    found = b""
    while b"\0" not in found and len(found) < 256:
        found += one.read(address + len(found), 1)
    return found.partition(b"\0")[0].decode("utf-8", "replace")


def _number(one, address):
    return int.from_bytes(one.read(address, 8), "little")


def _owner(one, address):
    """Show whose memory @address is, and the stacks."""
    if one.field("owner.kind"):
        # As enum kasan_owner_state has them.
        words = ("an object", "a slot that was never used", "an allocated object", "a freed object")
        state = words[one.field("owner.state") & 3]
        start, size = one.field("owner.start"), one.field("owner.size")
        offset = (address | 0xFF << 56) - (start | 0xFF << 56)
        if offset < 0:
            side = f"{-offset} bytes before the start of"
        elif offset >= size:
            side = f"{offset - size} bytes past the end of" if offset > size else "just past the end of"
        else:
            side = f"{offset} bytes inside of" if offset else "at the start of"
        name = _text(one, one.report()[0] + one.offset("owner.name"))
        one.say(f"{address:#x} is {side} {state}")
        one.say(f"  of {size} bytes at {start:#x}" + (f", of {name}" if name else ""))
        tracks = [
            (title, one.field(f"owner.{member}.pid"), one.field(f"owner.{member}.stack"))
            for title, member in (("Allocated", "alloc"), ("Freed", "free"))
            if one.field(f"owner.has_{member}")
        ]
        for track in tracks:
            _stack(one, *track)
    elif one.field("global"):
        one.say(f"{address:#x} belongs to the global variable {_text(one, one.field('global->name'))}")
    elif one.field("on_stack"):
        one.say(f"{address:#x} is on the stack of the running task")
        if one.field("has_frame"):
            function, path, line = one.place(one.field("frame.function"))
            one.say(f"  in the frame of {function}(), {_shown(path)}:{line}")
            for offset, size, name in _variables(_text(one, one.field("frame.descr"))):
                one.say(f"  [{offset}, {offset + size}) {name}")
    elif one.field("on_other_stack"):
        one.say(f"{address:#x} is on the stack of task {one.field('other_id')}")
    else:
        # The runtime looks for a variable only beside memory that it has poisoned.
        name = one.symbol(address)
        owner = f" belongs to the global variable {name}" if name else ": its owner is not known"
        one.say(f"{address:#x}{owner}")


def _stack(one, title, task, handle):
    """Show the stack that the stack depot has for @handle."""
    place, _ = one.report()
    count = one.call("kasan_depot_fetch", handle, place) if handle else 0
    one.say(f"{title} by task {task}:")
    if not count:
        one.say("  (stack is not available)")
        return
    start = _number(one, place)
    # A return address may lie after the call's line.
    places = [one.place(_number(one, start + 8 * at) - 4) for at in range(count)]
    begin = next((at for at, found in enumerate(places) if found[0] in _STARTS), count)
    for function, path, line in places[: begin or count]:
        one.say(f"  {function:24} {f'{_shown(path)}:{line}' if path else ''}".rstrip())
    if 0 < begin < count:
        one.say(f"  ... {count - begin} frames of the thread's start")


def _variables(text):
    """Yield (offset, size, name) of the compiler's description of a frame, "n off size namelen name ..."."""
    words = text.split()
    for at in range(1, len(words) - 3, 4):
        yield int(words[at]), int(words[at + 1]), words[at + 3].partition(":")[0]


def _memory(one, address):
    """Show the state of the granules around @address."""
    granule = _settings["granule"]
    row = _CELLS * granule
    first = max(0, (address & ~(row - 1)) - _ROWS // 2 * row)
    one.say(f"Memory state, one value for each {granule} bytes:")
    place, _ = one.report()
    for start in range(first, first + _ROWS * row, row):
        cells = []
        for cell in range(start, start + row, granule):
            known = one.call("kasan_memory_state", cell, place) & 0xFF
            cells.append(f"{one.read(place, 1)[0]:02x}" if known else "--")
        inside = start <= address < start + row
        one.say(f"{'>' if inside else ' '}{start:016x}: {' '.join(cells)}")
        if inside:
            one.say(" " * (19 + 3 * ((address - start) // granule)) + "^^")


def show(one, words):
    """Do what the command does."""
    # An expression is about the frame that the user has chosen.
    address = one.value(words) if words.strip() else _address_of_bug(one)
    place, size = one.report()
    before = one.read(place, size)
    try:
        one.write(place, bytes(size))
        plain = address if _settings["granule"] == 8 else address | 0xFF << 56
        _fill(one, place, address, plain)
        one.call("kasan_describe", place)
        _owner(one, address)
        _memory(one, plain)
    finally:
        one.write(place, before)


def begin_gdb(gdb, **settings):
    """Add the command to GDB."""
    _settings.update(settings)

    class Redzone(gdb.Command):
        __doc__ = _HELP

        def __init__(self):
            super().__init__("redzone", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)

        def invoke(self, words, from_terminal):
            try:
                chosen = gdb.selected_frame()
            except gdb.error:
                raise gdb.GdbError("redzone: the machine does not run, or has ended") from None
            try:
                show(Gdb(gdb), words)
            except (gdb.error, RuntimeError) as error:
                raise gdb.GdbError(f"redzone: {error}") from None
            finally:
                chosen.select()

    def stopped(event):
        if any(
            one.location and "kasan_port_report_begin" in one.location
            for one in getattr(event, "breakpoints", ())
        ):
            select_users_frame(Gdb(gdb))
            gdb.execute("frame")

    Redzone()
    gdb.events.stop.connect(stopped)
    _unwind_exceptions(gdb)


def _unwind_exceptions(gdb):
    """Let GDB find the code that an exception has interrupted, as a bad access does in the tag modes: its
    registers are where the stack pointer of the exception's entry points to."""
    from gdb.unwinder import Unwinder, register_unwinder

    word = gdb.lookup_type("unsigned long")
    begin, end = (int(gdb.parse_and_eval(f"(unsigned long)&exception_entries{one}")) for one in ("", "_end"))

    class Frame:
        def __init__(self, sp, pc):
            self.sp, self.pc = sp, pc

    class Exceptions(Unwinder):
        def __init__(self):
            super().__init__("exceptions")

        def __call__(self, pending):
            sp, pc = pending.read_register("sp"), pending.read_register("pc")
            # Not while the registers are still being saved.
            if not begin < (int(pc) & (1 << 64) - 1) < end:
                return None
            names = _settings["saved"]
            saved = gdb.selected_inferior().read_memory(int(sp) & (1 << 64) - 1, 8 * len(names))
            saved = bytes(saved)
            found = pending.create_unwind_info(Frame(sp, pc))
            for at, name in enumerate(names):
                found.add_saved_register(name, gdb.Value(saved[8 * at : 8 * at + 8], word))
            return found

    register_unwinder(None, Exceptions(), replace=True)


def command_lldb(debugger, words, result, dictionary):
    import lldb

    process = debugger.GetSelectedTarget().GetProcess()
    chosen = process.GetSelectedThread().GetSelectedFrame().GetFrameID()
    try:
        show(Lldb(lldb, debugger, result), words)
    except RuntimeError as error:
        result.SetError(f"redzone: {error}")
    finally:
        process.GetSelectedThread().SetSelectedFrame(chosen)


class StopHook:
    """At a report LLDB selects the program's frame too."""

    def __init__(self, target, extra, dictionary):
        pass

    def handle_stop(self, context, stream):
        import lldb

        # The functions that are inlined there have frames of their own, but no symbol.
        if context.frame.GetSymbol().GetName() == "kasan_port_report_begin":
            select_users_frame(Lldb(lldb, context.target.GetDebugger(), None))
        return True


def begin_lldb(lldb, debugger, **settings):
    """Add the command to LLDB."""
    _settings.update(settings)
    debugger.HandleCommand(f"target stop-hook add -P {__name__}.StopHook")
    debugger.HandleCommand(f"command script add -o -f {__name__}.command_lldb -h '{_HELP}' redzone")
