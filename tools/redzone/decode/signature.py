# SPDX-License-Identifier: MIT
"""Names a bug: which function of a trace it is in, its title, and the signature that its reports share.

A title is as syzkaller's dashboard has it ("KASAN: slab-use-after-free Read in FUNCTION"), so that one can look
for it there. The signature is a hash of the type, the kind of access, and the first functions that are neither
the sanitizer's, nor the allocator's, nor one that only does what its caller asked for. No address, offset or line
goes into it, so it stays the same in the next build.
"""

# A pattern reads better in one piece.
# ruff: noqa: E501

import functools
import hashlib
import re

# How many functions a signature has.
DEPTH = 3

# (role, names): all rules. A pattern is searched for in the name. The order counts: the first that matches.
RULES = (
    # The sanitizers, and what prints their reports. Whole names: a test such as kasan_strings() is ordinary code.
    (
        "sanitizer",
        r"^_*(?:kasan|kmsan|kfence|kcsan)_(?:report|check|save|set|record|complete|k[mzv]?alloc|krealloc|slab|poison|unpoison"
        r"|tag_mismatch|k?free|mempool|init|cache|populate|quarantine|update|print|end|start|get|non_canonical|alloc|guarded|handle"
        r"|protect|setup|die|async|found|internal|access|load|unwind|describe|inline|outline|heap|warn|vmalloc|page|object)(?:_\w+)?$",
    ),
    (
        "sanitizer",
        r"^_*(?:ubsan|kcsan|hwasan|asan|msan|sanitizer|sancov)_|__sanitizer|__(?:hw)?asan|__k?msan|__ubsan|interceptor_",
    ),
    (
        "sanitizer",
        r"^(?:check_memory_region|check_region_inline|memory_is_poisoned|print_(?:report|address_description))",
    ),
    (
        "sanitizer",
        r"^(?:check_slab_allocation|check_page_allocation|report_tag_fault|do_tag_(?:check_fault|recovery))",
    ),
    (
        "sanitizer",
        r"dump_(?:stack|backtrace)|show_(?:stack|trace|regs)|unwind_backtrace|walk_stack|^(?:__)?save_stack",
    ),
    (
        "sanitizer",
        r"^(?:stack_trace_save|arch_stack_walk|end_report|start_report|walk_stackframe|redzone_check)",
    ),
    (
        "sanitizer",
        r"^(?:panic|__warn|warn_slowpath|report_bug|fixup_bug|handle_bug|check_panic_on_warn|_?printk|vprintk)",
    ),
    (
        "sanitizer",
        r"do_(?:error_trap|invalid_op|mem_abort|translation_fault|trap)|^(?:asm_)?exc_|invalid_op$|_trap$",
    ),
    (
        "sanitizer",
        r"^(?:die|__die|oops_|no_context|do_bad_area|page_fault|__do_(?:kernel|page)_fault|do_page_fault|bad_area)",
    ),
    (
        "sanitizer",
        r"^el1h?_(?:abort|sync|irq|64_sync|error)|^(?:debug_object|lockdep_|print_unlock|print_.*bug)|^lockdep",
    ),
    # Allocators. Whole names: a driver's foo_alloc() is not one, and neither is a test's kmalloc_oob_right().
    (
        "allocator",
        r"^_*(?:kv?|v|p?de|devm_k|sock_k|kmem_cache_|mempool_|percpu_)?[mzc]?(?:re)?alloc"
        r"(?:_array|_node|_large|_huge|_bulk|_lru|_objs?|_cache|_slab|_user|_32|_track_caller|_trace|_order|_range"
        r"|_frozen|_pages|_percpu|_area|_hw|_node_range|_large_node|_stub)*(?:_noprof|_nolock)?$",
    ),
    (
        "allocator",
        r"^_*(?:k|kz|kv|v|kvz|kfree_|mempool_|kmem_cache_)free(?:_sensitive|_bulk|_rcu|_skb)?$|^_*v(?:unmap|map)$",
    ),
    (
        "allocator",
        r"^_*(?:free|malloc|calloc|realloc|reallocarray|posix_memalign|aligned_alloc|strn?dup|cfree)$",
    ),
    (
        "allocator",
        r"^k(?:mem|str|strn|vmem)dup(?:_nul|_const|_noprof)?$|^v?mem(?:dup_user|dup_user_nul)$|^krealloc(?:_array|_node|_node_align)?(?:_noprof)?$",
    ),
    (
        "allocator",
        r"^_*slab_(?:alloc|free|post|pre|pad)|^(?:new|allocate|discard|free)_slab$|^_*kmem_cache_(?:alloc|free|create|destroy|shrink)(?!_oob|_double|_invalid|_acc|_bulk$)\w*$",
    ),
    (
        "allocator",
        r"^_*alloc_(?:frozen_)?pages?(?:_\w+)?$|^_*free_(?:frozen_)?pages?(?:_\w+)?$|^_*kmalloc_(?:large|cache|node)\w*noprof$",
    ),
    (
        "allocator",
        r"^(?:do_slab_free|_*cache_(?:free|alloc|grow)|qlist_|quarantine_|free_large|free_unref|mempool_(?:alloc|free|resize|exit|kmalloc|kfree|alloc_slab|free_slab)$|folio_alloc)",
    ),
    (
        "allocator",
        r"^operator (?:new|delete)|^_Zn[wa]|^_Zd[la]|^kasan_heap|^check_(?:heap_)?object$",
    ),
    (
        "allocator",
        r"^usercopy_abort$|^__check_object_size$|^(?:filemap_alloc_folio|pagecache_get_page|__filemap_get_folio)",
    ),
    # Of small systems: FreeRTOS's heaps, xv6, the heap of this runtime, and what a linker's --wrap makes of them.
    (
        "allocator",
        r"^(?:__(?:wrap|real)_)?(?:kalloc|kfree|kmalloc|krealloc|kcalloc|malloc|free|calloc|realloc|memalign|aligned_alloc)$"
        r"|^(?:__(?:wrap|real)_)?(?:pvPort|vPort)(?:Malloc|Calloc|Realloc|Free)(?:Stack)?$|^(?:__(?:wrap|real)_)?_(?:malloc|free|calloc|realloc)_r$",
    ),
    # Functions that do what the caller asked for: memory and strings, locks, counters, lists.
    (
        "helper",
        r"^_*(?:pi_|wrap_|arch_|rep_)?(?:mem(?:cpy|move|set|set16|set32|set64|cmp|chr|chr_inv|scan|zero)|b(?:copy|zero|cmp))(?:_\w+)?$",
    ),
    (
        "helper",
        r"^_*(?:str|strn|strl|strs)(?:cpy|cat|cmp|len|chr|rchr|str|spn|cpy_pad|casecmp|nlen|pbrk|sep)",
    ),
    (
        "helper",
        r"(?:^|_)strn?(?:len|cmp|cpy|chr|str|casecmp)|strscpy|strlcpy|^read_word_at_a_time|v?sn?c?printf|^(?:hex_)?string",
    ),
    (
        "helper",
        r"^(?:pointer|number|format_decode|va_format|__dump_)|(?:read|write)_once_.*nocheck|^instrument_",
    ),
    (
        "helper",
        r"(?:spin|read|write|seq|raw|rw|bit|percpu|rt|mutex|down|up)_(?:un|try)?lock|^_*(?:rt_)?mutex_|^osq_",
    ),
    (
        "helper",
        r"^_*(?:down|up)(?:_|$)|owner_on_cpu|lock_(?:acquire|release|class|is_held)|^__lock_|^lock_sock_fast",
    ),
    (
        "helper",
        r"(?:mark|reacquire|register)_(?:held_)?lock|queued_(?:spin|read|write)|spin_(?:dump|bug)|^(?:do_|_)?raw_",
    ),
    (
        "helper",
        r"atomic(?:64|_long)?_(?:\w+_)?(?:dec|inc|read|set|or|xor|and|add|sub|fetch|x?chg|cmpxchg|try)|_bit(?:_|$)",
    ),
    (
        "helper",
        r"^_*(?:refcount_|kref_|ref_tracker)|^_*list_(?:add|del)|^(?:__)?hlist_|^rb_(?:erase|insert|next|first)",
    ),
    (
        "helper",
        r"^(?:is_)?(?:timer|work|static)_?\w*is_static_object|^__wake_up|bh_(?:enable|disable)|^perf_trace|rcu_read",
    ),
    (
        "helper",
        r"^(?:copy_(?:to|from)_(?:user|iter)|_copy_|__?might_|raw_copy_|__asan_mem|_inline_copy_)|seqprop|^rcu_is_",
    ),
    # Text: what formats, prints or sums up a buffer that it was given.
    (
        "helper",
        r"printf$|printk|^(?:hex|print_hex|dump)_(?:string|dump)|hex_dump_to|^_*dev_(?:info|notice|warn|err|crit|emerg|alert)",
    ),
    (
        "helper",
        r"^_*crc(?:\d+|_\w+)|^(?:get|put)_user|copy_(?:page|folio)?_?(?:to|from)_|^_*(?:read|write)[bwlq]$|^logic_(?:in|out)",
    ),
    # Lists, trees and reference counts of objects; the driver model, which drops the last reference for its caller.
    (
        "helper",
        r"list_(?:add|del|move|replace|splice)|^_*list_|^klist_|^_*rb_|^xas_|^xa_(?:load|find|erase|store)|^rhashtable_|^ida_",
    ),
    (
        "helper",
        r"^_*rhashtable_|^kobject_|uevent|^device_(?:add|del|unregister|destroy|release|remove_file|for_each)|^get_device_parent",
    ),
    (
        "helper",
        r"^devres_release|^sysfs_remove|^(?:hwrng|i2c_del|tty)_\w*(?:unregister|adapter)|^_*unregister_(?:netdev|client)|^rollback_reg",
    ),
    (
        "helper",
        r"^usb_(?:kill|submit|control_msg|hcd_submit)|^dummy_urb_|^kfree_skb|^(?:iput|iput_final|ihold)$",
    ),
    ("helper", r"^find_lock_entries$|^truncate_inode_pages_range$|^(?:un)?lock_page"),
    # Work, timers and waiting: the object is the caller's.
    (
        "helper",
        r"(?:queue|flush|cancel|insert|drain|destroy)_(?:delayed_)?work|^_*queue_(?:delayed_)?work|(?:flush|drain|destroy|alloc)_workqueue|grab_pending",
    ),
    (
        "helper",
        r"^(?:lock_timer_base|del_timer|_*timer_(?:delete|shutdown)|mod_timer|try_to_del_timer)|del_timer|^sk_(?:stop|reset)_timer|^finish_wait$",
    ),
    (
        "helper",
        r"^(?:do_)?wait_for_(?:common|completion)|^complete(?:_all)?$|^_*kthread_stop|(?:trace|lockdep|debug_lockdep)_\w*(?:irq|rcu)",
    ),
    (
        "helper",
        r"^stack_(?:trace_consume|depot)|^unwind_|^update_stack_state|^__(?:might|phys)_|^__fortify|tainted$",
    ),
    # Where a trace ends.
    (
        "entry",
        r"^(?:kthread|ret_from_fork|kunit_try_run_case|kunit_generic_run_threadfn_adapter|program_thread)",
    ),
    (
        "entry",
        r"^(?:entry_SYSCALL|do_syscall_|el0_|el0t_|ret_fast_syscall|invoke_syscall|syscall_|__libc_start|_start$)",
    ),
)


def _alternatives(pattern):
    """Return the parts of @pattern between its outermost `|`."""
    parts, depth, start = [], 0, 0
    for at, letter in enumerate(pattern):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "|" and not depth:
            parts.append(pattern[start:at])
            start = at + 1
    return [*parts, pattern[start:]]


def _compiled():
    """Return [(role, match or search of a pattern)], in the order of RULES: two patterns for each role."""
    found = []
    for one in dict.fromkeys(role for role, _ in RULES):
        parts = [part for role, pattern in RULES if role == one for part in _alternatives(pattern)]
        # A name is looked through from each of its letters only for the parts that may begin there.
        whole = [part for part in parts if part.startswith("^")]
        within = [part for part in parts if not part.startswith("^")]
        found += [(one, re.compile("|".join(whole)).match)] if whole else []
        found += [(one, re.compile("|".join(within)).search)] if within else []
    return found


_RULES = _compiled()
# What compilers append to the name of a part or a copy of a function.
_SUFFIX = re.compile(
    r"(?:\.(?:constprop|isra|part|cold|llvm|lto_priv|localalias|warm|resolved|\d+|[0-9a-f]{8,}))+$"
)

_FREES = ("double-free", "invalid-free", "double-free or invalid-free")


def plain(name):
    """Return the @name of a function without what the compiler appended."""
    return _SUFFIX.sub("", name) if "." in name else name


@functools.lru_cache(8192)
def role(name):
    """Return the role of the function @name, "" for ordinary code."""
    for role, matches in _RULES:
        if matches(name):
            return role
    return ""


def set_roles(report):
    """Fill Frame.role in all traces."""
    for stack in report.stacks:
        for frame in stack.frames:
            frame.role = role(plain(frame.name)) if frame.name else ""


def names(stack):
    """Return the functions of a Stack that the unwinder was sure about, without the sanitizer's and the like.

    A frame without a name counts by its address.
    """
    found = []
    for frame in stack.frames if stack else ():
        if frame.reliable and frame.role in ("", "entry"):
            name = plain(frame.name) or _unnamed(frame)
            if not found or found[-1] != name:
                found.append(name)
    return found


def _unnamed(frame):
    if frame.module and frame.offset is not None:
        return f"{frame.module}+{frame.offset:#x}"
    return f"{frame.address:#x}" if frame.address is not None else ""


def function(report):
    """Return the function that the bug is said to be in."""
    where = plain(report.where)
    if where and not role(where) and not where[0].isdigit():
        return where
    found = names(report.stack("call"))
    ordinary = next((name for name in found if role(name) == ""), None)
    return ordinary or next(iter(found), "") or where


def title(report):
    """Return a line that names the bug."""
    place = function(report)
    within = f" in {place}" if place else ""
    kind, access = report.kind, report.access.kind.capitalize()
    if kind in ("kasan", "asan", "hwasan"):
        name = {"kasan": "KASAN", "asan": "ASan", "hwasan": "HWASan"}[kind]
        if not report.type:
            return f"{name}: a report without its beginning{within}"
        shown = f" {access}" if report.access.kind in ("read", "write") and report.type not in _FREES else ""
        return f"{name}: {report.type}{shown}{within}"
    if kind == "kfence":
        shown = f" {report.access.kind}" if report.access.kind in ("read", "write") else ""
        return f"KFENCE: {report.type}{shown}{within}"
    if kind in ("kmsan", "kcsan", "ubsan"):
        where = report.excerpts[0].location if kind == "ubsan" and report.excerpts else None
        place = within or (f" in {where.path}:{where.line}" if where else "")
        return f"{kind.upper()}: {report.type}{place}"
    if kind == "warning":
        return f"WARNING{within}" if place else report.title
    return f"{report.type or report.title}{within}" if kind == "oops" else report.title


def signature(report):
    """Return the signature: 16 hex digits."""
    # A leak is where its memory comes from.
    found = names(report.stack("allocated" if report.type == "memory-leak" else "call"))
    first = function(report)
    if first in found:
        found = found[found.index(first) :]
    else:
        found.insert(0, first)
    parts = [report.kind, report.type, report.access.kind, *found[:DEPTH]]
    if report.kind in ("other", "panic", "ubsan"):
        # Numbers differ from one report of a bug to the next.
        parts.append(re.sub(r"0x[0-9a-f]+|\d+", "N", report.title))
    if report.access.asynchronous:
        parts.append("asynchronous")
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
