# SPDX-License-Identifier: MIT
"""Explains a report in plain words: facts of the report first, then causes that are common, said as such."""

# Sentences read better in one piece.
# ruff: noqa: E501

from redzone.core import base
from redzone.decode import memory, signature, source

# {mistake: the types of all sanitizers that stand for it}.
_TYPES = {
    "bounds": "slab-out-of-bounds heap-buffer-overflow out-of-bounds heap-out-of-bounds container-overflow",
    "global": "global-out-of-bounds global-buffer-overflow",
    "stack": "stack-out-of-bounds stack-buffer-overflow stack-buffer-underflow dynamic-stack-buffer-overflow",
    "alloca": "alloca-out-of-bounds",
    "freed": "slab-use-after-free use-after-free heap-use-after-free",
    "poison": "use-after-poison",
    "scope": "use-after-scope stack-use-after-scope stack-use-after-return",
    "double": "double-free attempting-double-free",
    "free": "invalid-free attempting-free-on-address bad-free alloc-dealloc-mismatch",
    "vmalloc": "vmalloc-out-of-bounds",
    "null": "null-ptr-deref",
    "call": "invalid-call",
    "dma": "dma-use",
    "unmap": "dma-invalid-unmap",
    "device": "dma-out-of-bounds",
    "overlap": "memcpy-param-overlap strcpy-param-overlap strncpy-param-overlap strcat-param-overlap "
    "strncat-param-overlap",
    "wild": "wild-memory-access SEGV",
    "user": "user-memory-access",
    "tags": "invalid-access tag-mismatch",
    "uninit": "uninit-value",
    "race": "data-race",
}
# {type: mistake}.
MISTAKES = {one: mistake for mistake, types in _TYPES.items() for one in types.split()}
MISTAKES |= {"double-free or invalid-free": "free", "invalid free": "free", "memory corruption": "bounds"}
# {mistake: (causes that are common, where to look)}.
_ADVICE = {
    "bounds": (
        "Common causes of this shape: a length or index that was not checked against the size of the allocation, a "
        "missing element for a terminating zero, or an object that is smaller than the type its pointer has.",
        "Compare the size in the allocation with the index or length at the access.",
    ),
    "global": (
        "Common causes of this shape: an index that was not checked against the size of the array, or a table that "
        "lacks its last, empty entry.",
        "Compare the declaration of the variable with the index at the access.",
    ),
    "stack": (
        "Common causes of this shape: an index or length that was not checked against a local array, or a function "
        "that was given a buffer without its size.",
        "Look at the local variables of the frame, and at each function that gets the address of one.",
    ),
    "alloca": (
        "Common causes of this shape: a length that changed between the allocation and the access, or one that is 0.",
        "Compare the length of the variable-length array with the index.",
    ),
    "freed": (
        "Common causes of this shape: a pointer that stayed in a list, timer, work or another object after the free; a "
        "reference that was dropped once too often; or a free on an error path whose caller goes on.",
        "Read the trace of the free first. Then look for the code that kept the pointer.",
    ),
    "poison": (
        "The program itself has marked this memory as not in use (__asan_poison_memory_region()), as allocators of "
        "their own do. Common causes: an access past the end of a block, or to a block that was given back.",
        "Look for the function of the program that hands out this memory, and for the block that it gave last.",
    ),
    "scope": (
        "Common causes of this shape: the address of a local variable was kept after its block or function had ended.",
        "Look for the assignment that takes the variable's address.",
    ),
    "double": (
        "Common causes of this shape: an error path that frees after a helper has freed already, two owners without "
        "a reference count, or a pointer that was not cleared after the free.",
        "Compare the trace of the first free with the call trace, which is the second.",
    ),
    "free": (
        "Common causes of this shape: pointer arithmetic before the free, a free of a member or of a local or global "
        "variable, or a free by a function of another allocator.",
        "Look at how the pointer of the free was computed.",
    ),
    "vmalloc": (
        "Common causes of this shape: a length or index that was not checked against the size of the area, or an area "
        "that was freed.",
        "Compare the size of the area with the index at the access.",
    ),
    "null": (
        "Common causes of this shape: a function that returned no object and was not checked, or a member that is set "
        "later than its first use.",
        "Look for the code that should have set the pointer; a small address is the offset of a member.",
    ),
    "call": (
        "Common causes of this shape: a hook that was never set, a function pointer in memory that was overwritten or "
        "freed, or a return address that was overwritten on the stack.",
        "Look for the call in this function, and for the code that sets the pointer; if there is no such call, look for "
        "a write beyond an array on the stack.",
    ),
    "dma": (
        "Between map and unmap a buffer is the device's: a CPU that reads it may see old or half-written data, and what "
        "it writes may be lost or sent.",
        "Move the access before the map or after the unmap, or put it between the two syncs.",
    ),
    "unmap": (
        "An unmap must have the address, the size and the direction of its map; otherwise a bounce buffer is copied "
        "wrongly, or a part of an IOMMU's mapping stays.",
        "Compare the call with the one in the trace of the mapping.",
    ),
    "device": (
        "A device wrote bytes past the end of its buffer while the buffer was mapped.",
        "Compare the size of the mapping with the length in the descriptor or the register of the device.",
    ),
    "overlap": (
        "The ranges of such a function must not overlap: the result depends on the order in which it copies the bytes, "
        "which differs from one system to the next.",
        "Use memmove(), for strings with the length of the source and its zero.",
    ),
    "wild": (
        "Common causes of this shape: a pointer that was overwritten, never initialised, or read from freed memory.",
        "Look at the address: text, a poison value or a counter in it tells where it came from.",
    ),
    "user": (
        "Common causes of this shape: a pointer from user space that was used without a user-copy function.",
        "Look for the missing copy_from_user() or copy_to_user(), and for a size that user space controls.",
    ),
    "tags": (
        "Either the access left its object, or the object was freed: the tags alone do not tell these apart.",
        "If there are traces of an allocation and a free, read these first. A report of Generic mode says more.",
    ),
    "untold": (
        "Either the access left its object, or the object was freed: the report does not say which.",
        "Look the address up in the map of the image, and in the allocator's own structures.",
    ),
    "uninit": (
        "Common causes of this shape: a member that no path sets, padding, or a function that failed before it filled "
        "its result.",
        "Look at the place where the memory was created, and for the path that does not write it.",
    ),
    "race": (
        "Two accesses met without a lock, and at least one was a write.",
        "Find the lock that protects the data, or mark accesses that may race on purpose.",
    ),
}
_VERBS = {"read": "read", "write": "wrote", "free": "freed", "access": "accessed"}
_POISONS = (
    (0x6B6B6B6B6B6B6B6B, "SLUB's poison of freed memory"),
    (0x5A5A5A5A5A5A5A5A, "SLUB's poison of memory that was not written yet"),
    (0xDEAD000000000100, "the list poison of Linux: an entry was used after list_del()"),
    (0xDEAD000000000122, "the list poison of Linux: an entry was used after list_del()"),
)


def amount(count):
    """Return @count bytes in words; below zero, if that is what the size was as a signed number."""
    return base.plural(count - (1 << 64) if count >> 63 else count, "byte")


def _call(stack):
    """Return " in NAME()" for the first function of a Stack that is not the allocator's."""
    for frame in stack.frames if stack else ():
        if frame.reliable and frame.role == "" and frame.name:
            location = frame.locations[-1] if frame.locations else None
            return f" in {signature.plain(frame.name)}()" + (f" at {place(location)}" if location else "")
    return ""


def _by(stack):
    if stack is None or stack.task is None:
        return ""
    name = stack.task.name or (f"task {stack.task.id}" if stack.task.id is not None else "")
    return f" by {name}" if name else ""


def place(location):
    """Return "FILE:LINE" of a model.Location, relative to where the user is. The files of the reference kernel
    and of the runtime have their familiar names everywhere."""
    ours = location.path.startswith(source.PLUMBING)
    path = base.relative(location.path, base.ROOT) if ours else base.relative(location.path)
    return f"{path}:{location.line}" if location.line else path


def _article(text):
    number = text.split("-")[0]
    vowel = text[:1] in "aeiou" or number.startswith("8") or number in ("11", "18")
    return f"an {text}" if vowel else f"a {text}"


def _thing(found):
    """Return the model.Object @found in a few words: "a 60-byte struct foo"."""
    if found.kind == "global":
        size = f"{found.size}-byte " if found.size else ""
        return f"the {size}global variable {found.name or '(unnamed)'}"
    if found.kind == "vmalloc":
        pages = base.plural((found.size or 0) >> 12, "page")
        return f"a vmalloc area of {pages}" if found.size and not found.size & 0xFFF else "a vmalloc area"
    kind = found.type or ("allocation of pages" if found.kind == "page" else "object")
    return _article(f"{found.size}-byte {kind}") if found.size is not None else _article(kind)


def _object(report):
    """Return the object in words: "a 60-byte struct foo allocated in bar()"."""
    found = report.object
    text = _thing(found)
    if found.kind == "global":
        return text + (f", declared at {place(found.where)}" if found.where and found.where.path else "")
    if found.kind == "vmalloc" and found.name:
        return f"{text} allocated at {found.name}"
    if found.kind == "vmalloc":
        return text + _maybe(" created", _call(report.stack("vmalloc")))
    return text + _maybe(" allocated", _call(report.stack("allocated")))


def _maybe(words, rest):
    return words + rest if rest else ""


def _beside(found, what):
    """Return where the address lies, relative to the model.Object @found, which is @what in words."""
    if found.side == "inside":
        if found.kind == "vmalloc":
            # Its size is that of its pages; the program may have asked for less.
            return f"{amount(found.distance)} into {what}"
        return f"{amount(found.distance)} inside of {what}" if found.distance else f"at the start of {what}"
    if found.side == "left":
        return f"{amount(found.distance)} before the start of {what}"
    return (
        f"{amount(found.distance)} past the end of " if found.distance else "just past the end of "
    ) + what


def position(report):
    """Return where the address lies, in a few words: "just past the end of a 13-byte object"; "" if the
    report does not say."""
    found = report.object
    if found is None:
        return ""
    if found.kind == "stack":
        hit = next((one for one in found.variables if one.hit), None)
        return "" if hit is None or found.distance is None else _beside_variable(found, hit)
    return "" if found.side == "" or found.distance is None else _beside(found, _thing(found))


def _where(report):
    """Return where the address lies, in words, "" if the report does not say."""
    found = report.object
    if found is None or found.side == "" or found.distance is None:
        return ""
    text = _beside(found, _object(report))
    if found.side != "right":
        return text
    if found.cache and found.size is not None and found.cache_size and found.size < found.cache_size:
        if found.size + found.distance < found.cache_size:
            text += f", in the padding of cache {found.cache} (its objects have {amount(found.cache_size)})"
        else:
            text += f", beyond its slot in cache {found.cache} ({amount(found.cache_size)})"
    elif found.cache:
        text += f", of cache {found.cache}"
    return text


def _access(report):
    """Return the sentence that says what was done."""
    access = report.access
    function = signature.function(report)
    call = report.stack("call")
    frames = call.frames if call else ()
    at = next((one for one in frames if one.locations and signature.plain(one.name) == function), None)
    # A function that was inlined has no frame of its own; the source line is in it, though.
    inlined = at.locations[0].function if at else ""
    place = _at(at) if at else ""
    subject = (
        f"{inlined or function}(){place}"
        if function and not function.startswith("0x")
        else f"Code at {function}"
        if function
        else "The code"
    )
    where = _where(report)
    if report.kind == "kasan" and not report.type:
        subject, verb = "The beginning of this report is missing.", ""
    if access.asynchronous:
        return (
            "The CPU noted a bad access some time before this report; the trace says what ran when the kernel noticed, "
            "not where the access was."
        )
    if access.kind == "free" or report.type in signature._FREES:
        second = " a second time" if MISTAKES.get(report.type) == "double" else ""
        target = f"the address {access.address:#x}" if access.address is not None else "an address"
        return f"{subject} freed {target}{second}" + (f", {where}." if where else ".")
    if MISTAKES.get(report.type) == "call":
        if access.address == 0:
            return f"{subject} called a null pointer."
        more = f"is {where} and not code" if where else "does not point to code"
        return f"{subject} called {access.address or 0:#x}, which {more}."
    verb = _VERBS.get(access.kind, "accessed")
    size = f" {amount(access.size)}" if access.size is not None else ""
    target = f" at {access.address:#x}" if access.address is not None else ""
    if not report.type:
        return f"{subject} An access{target}" + (f", {where}, is reported." if where else " is reported.")
    text = f"{subject} {verb}{size}{target}"
    return text + (f", {where}." if where else ".")


def _at(frame):
    return f" at {place(frame.locations[0])}" if frame.locations else ""


def _beside_variable(found, hit):
    """Return where the address lies, in words, relative to the model.Variable @hit of the stack frame @found."""
    offset = found.distance
    if offset >= hit.end:
        behind = offset - hit.end
        where = f"{amount(behind)} past the end" if behind else "just past the end"
    elif offset < hit.start:
        where = f"{amount(hit.start - offset)} before the start"
    else:
        where = f"{amount(offset - hit.start)} inside"
    return f"{where} of the {hit.end - hit.start}-byte variable '{hit.name}'"


def _locals(report):
    """Return a sentence about the variable of a stack frame."""
    found = report.object
    if found is None or found.kind != "stack":
        return ""
    frame = report.stack("frame")
    owner = f" of {signature.plain(frame.frames[0].name)}()" if frame and frame.frames[0].name else ""
    hit = next((one for one in found.variables if one.hit), None)
    if hit is None:
        task = f" of {found.name}" if found.name else ""
        return f"The address lies in the stack{task}" + (f", in the frame{owner}." if owner else ".")
    if found.distance is None:
        return f"It concerns the variable '{hit.name}'{owner}."
    line = f" (line {hit.line})" if hit.line else ""
    return f"The address lies {_beside_variable(found, hit)}{line} in the frame{owner}."


def _state(report):
    """Return a sentence about who freed the object."""
    freed = report.stack("freed")
    if freed is None or not freed.frames:
        return ""
    first = "first " if MISTAKES.get(report.type) == "double" else ""
    if MISTAKES.get(report.type) in ("freed", "double", "tags", "free") or (
        report.object and report.object.state == "freed"
    ):
        work = report.stack("work")
        handed = _call(work)
        text = f"The {first}free was made{_by(freed)}{_call(freed)}."
        return text + (f" The free came by way of RCU or a workqueue, started{handed}." if handed else "")
    return (
        f"The memory was used and freed before{_by(freed)}{_call(freed)}; the object that it belongs to now is another one."
        if report.object and report.object.state == "allocated"
        else ""
    )


def _evidence(report):
    """Return sentences about tags and shadow bytes."""
    access = report.access
    found = []
    if access.pointer_tag is not None and access.memory_tag is not None:
        state = memory.meaning(access.memory_tag, "tags", report.mode, report.kind)
        same = "equals" if access.pointer_tag == access.memory_tag else "differs from"
        found.append(
            f"The pointer's tag {access.pointer_tag:02x} {same} the memory's {access.memory_tag:02x} ({state})."
        )
    value = memory.bad_value(report)
    if value is not None and report.memory.kind == "shadow":
        means = report.memory.meanings.get(f"{value:02x}")
        found.append(f"The shadow byte of the address is {value:02x}" + (f": {means}." if means else "."))
    for poison, words in _POISONS:
        if access.address is not None and 0 <= access.address - poison < 0x100:
            found.append(f"The address is {words}.")
    if access.address is not None and access.address < 4096 and MISTAKES.get(report.type) == "null":
        found.append(
            f"The address {access.address:#x} is a member at this offset of a null pointer, or a null pointer itself."
        )
    return found


def explain(report):
    """Return the sentences about @report."""
    if report.kind not in ("kasan", "asan", "hwasan", "mte", "kfence", "kmsan", "kcsan"):
        return _other(report)
    found = [_access(report)] if report.kind not in ("kmsan", "kcsan") else []
    found += [_locals(report), _state(report), *_evidence(report)]
    mistake = MISTAKES.get(report.type)
    if mistake == "tags" and report.mode == "generic":
        # Another system's sanitizer, which has shadow bytes and no words for them.
        mistake = "untold"
    if report.type == "out-of-bounds" and report.access.size is not None and report.access.size >> 63:
        found.append("The size is negative as a signed number: look at the subtraction that produced it.")
    elif mistake and not report.access.asynchronous:
        found += _ADVICE[mistake]
    if report.access.asynchronous:
        found.append("Boot with kasan.mode=sync to see the access itself.")
    if report.interleaved:
        found.append(
            "Lines of another report stand among this one's, and nothing in the log tells them apart for sure: parts of "
            "the traces may be the other one's. CONFIG_PRINTK_CALLER or one console for each CPU would tell."
        )
    if report.truncated:
        found.append("A part of the report is missing from the log, so more may be known than is said here.")
    return [sentence for sentence in found if sentence]


def _leak(report):
    allocated = report.stack("allocated")
    by = _call(allocated) or (f" in {report.where}()" if report.where else "")
    return [
        f"When the program ended, nothing pointed to memory that was allocated{by}, and it was not freed.",
        "Common causes of this shape: an error path that returns without a free, a pointer that was overwritten while it "
        "was the only one, or a container that was freed before what it held.",
        "Follow the pointer from the allocation to the place where its last copy is lost.",
    ]


# {type of UBSan's: what is undefined about it, and what to do}. Those of Linux and of this runtime.
UNDEFINED = {
    "signed-integer-overflow": (
        "The result of a signed calculation does not fit its type; a compiler may assume that this never happens, and leave out a check that comes after it.",
        "Check the operands before the calculation, with __builtin_add_overflow() and its relatives for instance, or calculate in a wider or an unsigned type.",
    ),
    "unsigned-integer-overflow": (
        "The result of an unsigned calculation has wrapped around. C defines that, so it is a bug only if it was not meant.",
        "If it was meant, as in a hash, leave -fsanitize=unsigned-integer-overflow out for this function.",
    ),
    "integer-overflow": (
        "The result of a calculation does not fit its type.",
        "Without -fsanitize-trap or -fsanitize-minimal-runtime the report has the values.",
    ),
    "division-by-zero": (
        "The divisor of a division or of a remainder is zero. Some processors trap then, others go on with a result that means nothing.",
        "Look for the code that should have refused the zero.",
    ),
    "shift-out-of-bounds": (
        "A shift by a negative number, or by at least as many bits as its type has, gives another result on each processor; so does a signed shift that loses bits.",
        "Check the distance before the shift, and shift unsigned values: 1U << n, or 1ULL << n for more than 31 bits.",
    ),
    "array-index-out-of-bounds": (
        "An index lies outside of the array as it is declared, even if the memory there belongs to the same object.",
        "Check the index. An array at the end of a structure that is larger than it says should be declared with [].",
    ),
    "vla-bound-not-positive": (
        "The length of a variable-length array must be more than zero.",
        "Check the length before the declaration.",
    ),
    "invalid-load": (
        "A variable holds a value that its type does not have: a _Bool that is neither 0 nor 1. Usually nothing has been stored in it, or something else has overwritten it.",
        "Look for the code that should have initialised it.",
    ),
    "float-cast-overflow": (
        "A floating-point value was converted to an integer type that cannot hold it.",
        "Compare the value with the bounds of the type before the conversion, also for not-a-number.",
    ),
    "implicit-conversion": (
        "A value was changed by a conversion that is not written in the source. C defines that, so it is a bug only if it was not meant.",
        "If it was meant, write the conversion.",
    ),
    "invalid-builtin": (
        "A built-in function was called with a value for which it has no result.",
        "Handle the value zero before it.",
    ),
    "null-ptr-deref": (
        "A null pointer was used as if it pointed to an object.",
        "Look for the code that should have set the pointer, or for a result that was not checked.",
    ),
    "misaligned-access": (
        "A pointer is not aligned as its type requires. Some processors refuse such an access, and compilers combine accesses as if it could not be.",
        "Use memcpy(), or declare the structure as packed.",
    ),
    "object-size-mismatch": (
        "An access is larger than the object that the pointer points to, as far as the compiler knows that object.",
        "Compare the type of the pointer with the declaration or the allocation.",
    ),
    "type-mismatch": (
        "A pointer is null, not aligned as its type requires, or points to too small an object.",
        "Without -fsanitize-trap or -fsanitize-minimal-runtime the report says which of the three.",
    ),
    "pointer-overflow": (
        "Pointer arithmetic has left the object, and even wrapped around the address space or met the null pointer.",
        "Compare lengths and not pointers: `length > end - start` and not `start + length > end`.",
    ),
    "alignment-assumption": (
        "The program has promised the compiler an alignment that the pointer does not have.",
        "Look at the allocation, or at __builtin_assume_aligned().",
    ),
    "function-type-mismatch": (
        "A function was called through a pointer of another function type.",
        "Give the function the parameters of the pointer's type, and convert them inside.",
    ),
    "null-argument": (
        "A null pointer was passed for a parameter that is declared nonnull, so the function may use it without a check.",
        "Check the pointer before the call, or take the attribute away.",
    ),
    "null-return": (
        "A function that is declared to return an object has returned a null pointer.",
        "Take the attribute away, or return something else.",
    ),
    "unreachable-code": (
        "The program has reached a place that it had told the compiler was never reached.",
        "Look for the case that was forgotten, in a switch for instance.",
    ),
    "missing-return": (
        "A function has ended without the value that it returns.",
        "Look for the path without a return statement.",
    ),
    "division-overflow": (
        "The divisor is zero, or the least number was divided by -1.",
        "Check the operands before the division.",
    ),
    "negation-overflow": (
        "The least number of a signed type has no positive counterpart.",
        "Check for it, or negate in a wider type.",
    ),
}


def _other(report):
    if report.type == "memory-leak":
        return _leak(report)
    function = signature.function(report)
    where = f" in {function}()" if function and not function.startswith("0x") else ""
    words = {
        "ubsan": "The undefined-behaviour sanitizer found an operation without a defined result",
        "oops": "The kernel could not go on",
        "panic": "The kernel stopped",
        "warning": "A check in the kernel's own code failed",
    }.get(report.kind)
    if words is None:
        return []
    found = [f"{words}{where}.", *(UNDEFINED.get(report.type, ()) if report.kind == "ubsan" else ())]
    if report.kind == "oops" and report.access.address is not None and report.access.address < 4096:
        found.append(
            f"The address {report.access.address:#x} is near zero: a null pointer, or a member of one."
        )
    return found
