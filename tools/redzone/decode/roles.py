# SPDX-License-Identifier: MIT
"""Says which functions of a trace only carry out what their caller asked for: the sanitizers, the allocators,
and helpers such as memcpy(). The bug is in the first function that is none of these.

A wrong entry names a bug after an innocent caller. So the names are whole names; where a family of functions
shares a prefix, its row says why every member belongs to it. A function of a module is never a helper: modules are
drivers, and a driver may name its functions as it likes.
"""

# Lists of names read better in few lines.
# ruff: noqa: E501

import functools
import re

# --- The sanitizers, and what prints their reports ---------------------------------------------------------

# Whole names, without leading underscores.
_SANITIZER_NAMES = """
    print_report db_trace_self_wrapper kdb_backtrace db_stack_dump db_enter check_memory_region check_memory_region_inline check_region_inline memory_is_poisoned
    memory_is_poisoned_n print_address_description describe_address describe_object check_slab_allocation
    check_page_allocation report_tag_fault do_tag_check_fault do_tag_recovery report_suspicious_frames
    redzone_check dump_stack dump_stack_lvl dump_stack_print_info dump_stack_set_arch_desc dump_backtrace
    dump_trace show_stack show_stack_log_lvl show_trace show_trace_log_lvl show_regs show_regs_if_on_stack
    unwind_backtrace save_stack save_stack_trace save_trace walk_stackframe walk_stack arch_stack_walk
    stack_trace_save stack_trace_save_tsk start_report end_report end_report_msg panic vpanic nmi_panic
    check_panic_on_warn warn warn_printk warn_slowpath_fmt warn_slowpath_null warn_slowpath_common
    report_bug fixup_bug handle_bug die die_body oops_begin oops_end oops_enter oops_exit printk vprintk
    vprintk_emit vprintk_default vprintk_func do_error_trap do_invalid_op do_mem_abort
    do_translation_fault do_alignment_fault do_sp_pc_abort do_trap do_trap_no_signal invalid_op page_fault
    page_fault_oops no_context do_bad_area bad_area bad_area_nosemaphore bad_page_fault do_page_fault
    do_kernel_fault die_kernel_fault do_kern_addr_fault do_user_addr_fault handle_page_fault
    exc_page_fault bust_spinlocks el1_abort el1_sync el1_irq el1_error el1h_64_sync el1h_64_irq
    el1h_64_error el1h_64_sync_handler el1h_64_error_handler el1_undef el1_dbg el1_brk64
    debug_print_object debug_object_init debug_object_activate debug_object_assert_init
    debug_object_deactivate debug_object_destroy debug_object_free debug_check_no_obj_freed
    el1_sync_handler el1_irq_handler el1_fiq_handler el1_error_handler el1_da el1_ia el1h_64_fiq_handler
    handle_overflow handle_divrem_overflow handle_negate_overflow handle_load_invalid_value
    handle_shift_out_of_bounds handle_out_of_bounds handle_null_ptr_deref handle_misaligned_access
    handle_object_size_mismatch handle_type_mismatch_common vprintk_store vprintk_deferred printk_sprint
    dev_vprintk_emit dev_printk_emit dev_printk dev_err dev_warn dev_notice dev_info dynamic_dev_dbg
    dynamic_pr_debug netdev_printk db_panic db_fncall breakpoint
    panic_abort esp_system_abort invoke_abort abort assert_func multi_heap_assert
    debug_object_active_state debug_dma_assert_idle print_bad_pte print_unlock_imbalance_bug
    print_circular_bug print_usage_bug print_irq_inversion_bug print_bad_irq_dependency print_deadlock_bug
    print_lock_nested_lock_not_held print_freed_lock_bug print_held_locks_bug print_kernel_ident
    check_noncircular check_prev_add check_prevs_add validate_chain do_report_trap handle_break
    bug_handler brk_handler do_debug_exception
"""
# The runtimes' hooks and reports, by the first word after the name. A test such as kasan_strings() is ordinary code.
_RUNTIME = re.compile(
    r"_*(?:kasan|kmsan|kfence|kcsan)_(?:report|check|save|set|record|complete|k[mzv]?alloc|krealloc|slab|poison|unpoison"
    r"|tag_mismatch|k?free|mempool|init|cache|populate|quarantine|update|print|end|start|get|non_canonical|alloc|guarded"
    r"|handle|protect|setup|die|async|found|internal|access|load|unwind|describe|inline|outline|heap|warn|vmalloc|page"
    r"|object)(?:_\w+)?"
)
# (prefixes without leading underscores, why each function that has one is a sanitizer's).
_SANITIZER_PREFIXES = (
    (
        "asan_ hwasan_ msan_ tsan_ ubsan_ sanitizer_ sancov_",
        "the names that compilers call are reserved for the runtime",
    ),
    ("kcsan_", "the sanitizer's file has no other functions, and its tests begin with test_"),
    ("interceptor_", "user-space runtimes name their wrappers so"),
    ("asm_exc_", "the assembler's entry of an exception"),
    ("exc_", "the C part of the entry of an exception, which DEFINE_IDTENTRY() makes"),
    ("lockdep_", "the lock validator's own"),
    ("warn_slowpath", "what WARN() calls"),
)

# --- Allocators ---------------------------------------------------------------------------------------------

# Whole names: a driver's foo_alloc() is not one, and neither is a test's kmalloc_oob_right().
_ALLOCATOR = re.compile(
    "|".join(
        (
            r"_*(?:kv?|v|p?de|devm_k|sock_k|kmem_cache_|mempool_|percpu_)?[mzc]?(?:re)?alloc"
            r"(?:_array|_node|_large|_huge|_bulk|_lru|_objs?|_cache|_slab|_user|_32|_track_caller|_trace|_order|_range"
            r"|_frozen|_pages|_percpu|_area|_hw|_node_range|_large_node|_stub)*(?:_noprof|_nolock)?",
            r"_*(?:k|kz|kv|v|kvz|kfree_|mempool_|kmem_cache_)free(?:_sensitive|_bulk|_rcu|_skb)?",
            r"_*v(?:unmap|map)",
            r"_*(?:free|malloc|calloc|realloc|reallocarray|posix_memalign|aligned_alloc|strn?dup|cfree)",
            r"k(?:mem|str|strn|vmem)dup(?:_nul|_const|_noprof)?",
            r"v?mem(?:dup_user|dup_user_nul)",
            r"krealloc(?:_array|_node|_node_align)?(?:_noprof)?",
            r"_*slab_(?:alloc|free|post|pre|pad)\w*",
            r"(?:new|allocate|discard|free)_slab",
            r"_*kmem_cache_(?:alloc|free|create|destroy|shrink)(?!_oob|_double|_invalid|_acc|_bulk$)\w*",
            r"_*alloc_(?:frozen_)?pages?(?:_\w+)?",
            r"_*free_(?:frozen_)?pages?(?:_\w+)?",
            r"_*kmalloc_(?:large|cache|node)\w*noprof",
            r"do_slab_free|_*cache_(?:free|alloc|grow)\w*|qlist_\w+|quarantine_\w+|free_large\w*|free_unref\w+",
            r"mempool_(?:alloc|free|resize|exit|kmalloc|kfree|alloc_slab|free_slab)|folio_alloc\w*",
            r"operator (?:new|delete).*|_Zn[wa]\w*|_Zd[la]\w*|kasan_heap\w*|check_(?:heap_)?object",
            # ESP-IDF's.
            r"(?:multi_heap|heap_caps)_\w+",
            r"usercopy_abort|__check_object_size|(?:filemap_alloc_folio|pagecache_get_page|__filemap_get_folio)\w*",
            # Of small systems: FreeRTOS's heaps, xv6.
            r"kalloc|memalign|(?:pvPort|vPort)(?:Malloc|Calloc|Realloc|Free)(?:Stack)?",
            r"_(?:malloc|free|calloc|realloc)_r",
        )
    )
)

# The names that the user gives to further allocators.
_named = frozenset()


def set_allocators(names):
    """From now on the functions @names, and what --wrap makes of them, are allocators, and no earlier ones are."""
    global _named
    if _named != frozenset(names):
        _named = frozenset(names)
        role.cache_clear()


# --- Helpers --------------------------------------------------------------------------------------------------

# Whole names, without leading underscores.
_HELPER_NAMES = """
    bcopy bzero bcmp explicit_bzero read_word_at_a_time sized_strscpy nla_strscpy nla_strcmp nla_memcpy
    nla_memcmp vsnprintf snprintf vscnprintf scnprintf vsprintf sprintf kasprintf kvasprintf
    kvasprintf_const seq_printf seq_vprintf seq_puts seq_write seq_putc printf vprintf fprintf bprintf
    bstr_printf vbin_printf string string_nocheck hex_string hex_dump_to_buffer print_hex_dump
    print_hex_dump_bytes print_hex_dump_debug hexdump hex_dump dump_hex bin2hex widen_string error_string
    pointer number special_hex_number format_decode va_format symbol_string resource_string bitmap_string
    bitmap_list_string mac_address_string ip4_string ip4_addr_string ip6_string ip6_addr_string
    ip_addr_string escaped_string uuid_string dentry_name file_dentry_name bdev_name simple_strtoul
    simple_strtol simple_strtoull kstrtoul kstrtol kstrtoull kstrtouint kstrtoint skip_spaces dev_printk
    dev_printk_emit dev_vprintk_emit dev_info dev_notice dev_warn dev_err dev_crit dev_emerg dev_alert
    netdev_printk netdev_info netdev_warn netdev_err spin_lock spin_unlock spin_trylock spin_lock_irq
    spin_lock_irqsave spin_lock_bh spin_unlock_irq spin_unlock_irqrestore spin_unlock_bh spin_lock_debug
    spin_unlock_debug spin_dump spin_bug do_spin_lock do_spin_unlock do_spin_trylock read_lock read_unlock
    write_lock write_unlock read_lock_bh read_unlock_bh write_lock_bh write_unlock_bh read_lock_irq
    write_lock_irq read_lock_irqsave write_lock_irqsave read_unlock_irqrestore write_unlock_irqrestore
    arch_spin_lock arch_spin_unlock bit_spin_lock bit_spin_unlock hlist_bl_lock hlist_bl_unlock
    percpu_down_read percpu_up_read percpu_down_write percpu_up_write down up down_read down_write
    down_interruptible down_killable down_trylock down_timeout down_read_trylock down_write_trylock
    down_read_killable down_write_killable down_write_nested down_read_nested up_read up_write
    downgrade_write down_common down_read_common down_write_common rwsem_down_read_slowpath
    rwsem_down_write_slowpath rwsem_wake owner_on_cpu lock_sock lock_sock_nested lock_sock_fast mark_lock
    mark_held_locks mark_lock_irq reacquire_held_locks register_lock_class look_up_lock_class lock_acquire
    lock_release lock_is_held lock_is_held_type lock_acquired lock_contended read_seqbegin read_seqretry
    read_seqcount_begin read_seqcount_retry write_seqcount_begin write_seqcount_end write_seqlock
    write_sequnlock set_bit clear_bit change_bit test_bit test_and_set_bit test_and_clear_bit
    test_and_change_bit find_first_bit find_next_bit find_first_zero_bit find_next_zero_bit find_last_bit
    arch_set_bit arch_clear_bit arch_test_bit arch_test_and_set_bit arch_test_and_clear_bit
    test_bit_acquire const_test_bit generic_test_bit get_user put_user get_user_nocheck_1
    get_user_nocheck_2 get_user_nocheck_4 get_user_nocheck_8 readb readw readl readq writeb writew writel
    writeq ioread8 ioread16 ioread32 iowrite8 iowrite16 iowrite32 rb_erase rb_insert_color rb_next
    rb_first rb_prev rb_last rb_replace_node rb_erase_color rb_insert rb_add wake_up wake_up_common
    wake_up_common_lock wake_up_sync_key wake_up_locked complete complete_all local_bh_enable
    local_bh_disable local_bh_enable_ip local_bh_disable_ip get_device_parent find_lock_entries
    truncate_inode_pages_range lock_page unlock_page iput iput_final ihold kfree_skb kfree_skb_reason
    kfree_skbmem kfree_skb_list kfree_skb_list_reason skb_release_data skb_release_head_state finish_wait
    prepare_to_wait prepare_to_wait_event prepare_to_wait_exclusive remove_wait_queue add_wait_queue
    wait_for_completion wait_for_completion_timeout wait_for_completion_interruptible
    wait_for_completion_killable wait_for_common do_wait_for_common lock_timer_base del_timer
    del_timer_sync timer_delete timer_delete_sync timer_shutdown timer_shutdown_sync mod_timer
    mod_timer_pending try_to_del_timer_sync detach_if_pending sk_stop_timer sk_stop_timer_sync
    sk_reset_timer timer_is_static_object timer_fixup_activate work_is_static_object is_static_object
    queue_work queue_work_on queue_delayed_work queue_delayed_work_on mod_delayed_work mod_delayed_work_on
    insert_work flush_work flush_delayed_work flush_workqueue drain_workqueue destroy_workqueue
    alloc_workqueue cancel_work cancel_work_sync cancel_delayed_work cancel_delayed_work_sync
    cancel_work_timer try_to_grab_pending grab_pending start_flush_work kthread_stop trace_hardirqs_on
    trace_hardirqs_off trace_hardirqs_on_caller trace_hardirqs_off_caller unregister_netdevice_many
    rollback_registered rollback_registered_many unregister_netdevice_queue unregister_netdev
    i2c_del_adapter hwrng_unregister tty_unregister_driver tty_unregister_device
    tty_port_unregister_device print_tainted add_taint test_taint update_stack_state devres_release
    devres_release_all devres_release_group kill_urb usb_kill_urb usb_submit_urb usb_unlink_urb
    usb_kill_anchored_urbs usb_unlink_anchored_urbs usb_control_msg usb_hcd_submit_urb usb_start_wait_urb dummy_urb_enqueue dummy_urb_dequeue copy_page
    copy_folio copy_user_highpage copy_page_range copy_mc_to_kernel wrap_memcpy copy_from_user
    copy_to_user copy_in_user copy_from_user_nofault copy_to_user_nofault copy_from_kernel_nofault
    copy_to_kernel_nofault raw_copy_from_user raw_copy_to_user raw_copy_in_user inline_copy_from_user
    inline_copy_to_user check_object_size raw_spin_lock raw_spin_unlock raw_spin_trylock raw_spin_lock_bh
    raw_spin_unlock_bh raw_spin_lock_irq raw_spin_lock_irqsave raw_spin_unlock_irq
    raw_spin_unlock_irqrestore raw_spin_lock_nested raw_read_lock raw_read_unlock raw_write_lock
    raw_write_unlock raw_read_lock_bh raw_read_unlock_bh raw_write_lock_bh raw_write_unlock_bh
    raw_read_lock_irq raw_write_lock_irq raw_read_lock_irqsave raw_write_lock_irqsave xa_load xa_find
    xa_erase xa_store ida_free ida_destroy ida_alloc_range raw_read_unlock_irqrestore
    raw_write_unlock_irqrestore do_raw_spin_lock do_raw_spin_unlock do_raw_spin_trylock do_raw_read_lock
    do_raw_read_unlock do_raw_write_lock do_raw_write_unlock do_raw_read_trylock do_raw_write_trylock
    simple_copy_to_iter kasan_memcpy kasan_memmove kasan_memset kasan_memcmp kasan_strcpy kasan_strcmp
    kasan_strlen kasan_strcat kasan_strchr kasan_strrchr kasan_copyin kasan_copyout kasan_copyinstr
    kasan_copyoutstr strlcpy
"""
# (prefixes without leading underscores, why each function that has one does what its caller asked for).
_HELPER_PREFIXES = (
    ("memcpy memmove", "copies; its variants name a machine's way to do it, or where the bytes go"),
    ("memset memzero", "fills"),
    ("memcmp memchr memscan", "compares or searches"),
    ("pi_mem pi_str", "arm64's names of the same functions"),
    ("rep_", "x86's instructions that copy and fill: rep_movs_alternative()"),
    (
        "strcpy strncpy strlcpy strscpy strcat strncat strlcat strcmp strncmp strcasecmp strncasecmp strlen strnlen"
        " strchr strnchr strrchr strstr strnstr strspn strcspn strpbrk strsep",
        "a string function",
    ),
    ("arch_str arch_mem", "an architecture's form of a string or memory function"),
    ("fortify_", "the checks of FORTIFY_SOURCE"),
    ("crc", "sums up a buffer; libraries only"),
    (
        "copy_to_iter copy_from_iter copy_page_to_iter copy_page_from_iter copy_folio_ copy_to_user copy_from_user",
        "copies for a system call",
    ),
    ("logic_in logic_out", "port input and output of a bus"),
    ("might_", "might_sleep(), might_fault() and their like check their caller"),
    ("instrument_", "the hooks of sanitizers in atomics and user copies"),
    ("mutex_ rt_mutex_ rwsem_", "locks and unlocks; the lock is the caller's"),
    ("osq_", "the queue of a mutex"),
    (
        "queued_spin_ queued_read_ queued_write_ native_queued_spin_ pv_queued_spin_",
        "the slow path of a lock",
    ),
    ("rt_spin_ rt_read_ rt_write_", "a lock of a real-time kernel"),
    ("seqprop_", "the parts of a sequence counter"),
    ("atomic_ atomic64_ atomic_long_ arch_atomic raw_atomic", "an atomic operation on the caller's variable"),
    ("refcount_ kref_ ref_tracker_", "a reference count of the caller's object"),
    ("list_ hlist_ klist_ llist_", "an operation on the caller's list"),
    ("xas_", "an operation on the caller's XArray"),
    ("rhashtable_ rht_", "an operation on the caller's hash table"),
    (
        "kobject_ device_add device_del device_unregister device_destroy device_release device_remove_file"
        " device_for_each sysfs_remove",
        "the driver model, which drops the last reference for its caller",
    ),
    ("rcu_read_", "begins or ends a section"),
    ("rcu_is_", "asks for the state of RCU"),
    ("perf_trace_ trace_event_raw_event_", "what a tracepoint calls"),
    ("stack_depot_ stack_trace_consume", "stores a trace"),
    ("unwind_", "walks a stack"),
    ("phys_", "phys_addr() and its like check an address"),
)
_SANITIZERS_WHOLE, _HELPERS_WHOLE = frozenset(_SANITIZER_NAMES.split()), frozenset(_HELPER_NAMES.split())
# Files whose functions have names that others have as well: OP-TEE's check_access().
_SANITIZER_FILES = ("core/kernel/asan.c",)
_CHECKED_MEMORY = ("asan_mem", "hwasan_mem")


def _by_start(rows):
    """Return {first two letters: the prefixes of the table @rows that begin with them}: most names need no look."""
    found = {}
    for prefix in " ".join(prefixes for prefixes, _ in rows).split():
        found[prefix[:2]] = (*found.get(prefix[:2], ()), prefix)
    return found


_SANITIZERS, _HELPERS = _by_start(_SANITIZER_PREFIXES), _by_start(_HELPER_PREFIXES)

# --- Where a trace ends ---------------------------------------------------------------------------------------

_ENTRY = re.compile(
    r"kthread|ret_from_fork\w*|kunit_try_run_case\w*|kunit_generic_run_threadfn_adapter|program_thread"
    r"|entry_SYSCALL\w*|do_syscall_\w+|el0_\w+|el0t_\w+|ret_fast_syscall|invoke_syscall|syscall_\w+"
    r"|__libc_start\w*|_start"
)


def find(name, module="", path=""):
    """Return the role of the function @name: "sanitizer", "allocator", "helper", "entry", or "" for ordinary code.

    @name: without what compilers append. @module: the kernel module that has it, "" if none. @path: of its source,
    "" if it is not known.
    """
    bare = name.lstrip("_")
    start = bare[:2]
    if path and path.endswith(_SANITIZER_FILES):
        return "sanitizer"
    if start in _SANITIZERS and bare.startswith(_SANITIZERS[start]):
        return "helper" if bare.startswith(_CHECKED_MEMORY) else "sanitizer"
    # As it was before a linker's --wrap.
    own = name.removeprefix("__wrap_").removeprefix("__real_")
    if own in _named:
        return "allocator"
    if bare[:1] == "k" and _RUNTIME.fullmatch(name):
        return "sanitizer"
    if bare in _SANITIZERS_WHOLE and not module:
        return "sanitizer"
    if _ALLOCATOR.fullmatch(own):
        return "allocator"
    if module:
        return ""
    if bare in _HELPERS_WHOLE:
        return "helper"
    if _ENTRY.fullmatch(name):
        return "entry"
    if start in _HELPERS and bare.startswith(_HELPERS[start]) and not _is_driver(path):
        return "helper"
    return ""


# As find(), which remembers: most names come again.
role = functools.lru_cache(8192)(find)


def _is_driver(path):
    """Is the source file @path a driver's? The driver model and the core of USB serve drivers."""
    parts = path.rsplit("drivers/", 1)
    return len(parts) == 2 and not parts[1].startswith(("base/", "usb/core/"))
