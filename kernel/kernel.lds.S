/* SPDX-License-Identifier: MIT */
/*
 * kernel.lds.S - the image: linked at KIMAGE_VADDR, loaded at KIMAGE_LOAD as an ELF file, at any 2 MiB
 * boundary as a raw image. The preprocessor turns this file into the linker script.
 *
 * Three segments, each with its own protection, page aligned. The tables of constructors, parameters and test
 * suites are arrays between two symbols: their sections hold nothing else.
 */
#include <kasan/config.h>
#include <asm/memory.h>

#define KASAN_GRANULE (1 << KASAN_SHADOW_SCALE_SHIFT)

ENTRY(_head)

PHDRS
{
	text PT_LOAD FLAGS(5);
	rodata PT_LOAD FLAGS(4);
	tls PT_TLS;
	data PT_LOAD FLAGS(6);
}

SECTIONS
{
	. = KIMAGE_VADDR;

	.head.text : AT(ADDR(.head.text) - KIMAGE_VADDR + KIMAGE_LOAD) {
		_text = .;
		KEEP(*(.head.text))
	} :text

	.text : AT(ADDR(.text) - KIMAGE_VADDR + KIMAGE_LOAD) {
		/* The checks whose shadow loads may fault: see kasan_fixup_shadow_load(). */
		__kasan_access_start = .;
		*(.text.kasan_access .text.kasan_access.*)
		__kasan_access_end = .;
		/* Functions that a tag check fault ends: see mte_tag_check_fault(). */
		__kasan_mem_start = .;
		*(.text.kasan_mem)
		__kasan_mem_end = .;
#if defined(CONFIG_SHADOW_CALL_STACK) && !defined(CONFIG_SCS_RUNTIME)
		/* The functions that do not push: see scs_walk_start(). */
		__runtime_text_start = .;
		*CMakeFiles?runtime.dir?*(.text .text.*)
		*CMakeFiles?runtime-copies.dir?*(.text .text.*)
		*CMakeFiles?runtime-bench.dir?*(.text .text.*)
		__runtime_text_end = .;
#endif
		/* Programs: what was linked before. All that CMake compiles is in its folders. */
		__program_text_start = .;
		/* Arranged by tools/build-scripts/pages.py. */
		*(SORT_BY_NAME(.text.page.*))
		*(EXCLUDE_FILE(*CMakeFiles*) .text EXCLUDE_FILE(*CMakeFiles*) .text.*)
		__program_text_end = .;
		/* Functions that often run together share a page: for an emulator a step into another page is a search. */
		. = ALIGN(PAGE_SIZE);
		*(.text.__asan_memset .text.__memset .text.__asan_memcpy .text.__memcpy)
		*(.text.kasan_set_slow* .text.kasan_copy_slow* .text.kasan_init_slab_object .text.kasan_fill)
		. = ALIGN(PAGE_SIZE);
		*(.text.malloc .text.calloc .text.kmalloc .text.kasan_slab_alloc .text.set_known_object .text.set_object)
		*(.text.slab_take_slow .text.slab_get_next .text.slab_clear)
		. = ALIGN(PAGE_SIZE);
		*(.text.free .text.kfree .text.kasan_slab_free .text.free_object)
		*(.text.slab_put_many .text.slab_release_bulk .text.kasan_slab_release)
		. = ALIGN(PAGE_SIZE);
		*(.text.kasan_set_full_track .text.save_stack .text.kasan_known_table)
		*(.text.slab_new .text.slab_add_slot .text.slab_set_next)
		*(.text .text.*)
		__own_text_start = .;
	} :text

	/* Sections that a program has named for code of its own come here, up to _etext: each stays an output section, for
	 * its __start_NAME and __stop_NAME. */
	. = ALIGN(PAGE_SIZE);
	_etext = .;
	__rodata_start = .;
	/* Thread-local variables of programs: their initial values, of which each thread has a copy. */
	.tdata : AT(ADDR(.tdata) - KIMAGE_VADDR + KIMAGE_LOAD) {
		*(.tdata .tdata.*)
	} :rodata :tls
	.tbss : {
		*(.tbss .tbss.*)
	} :rodata :tls
	/* All are addresses, also the last, so that code can reach them: the alignment is its distance from the start. */
	redzone_tls_start = ADDR(.tdata);
	redzone_tls_filled = ADDR(.tdata) + SIZEOF(.tdata);
	redzone_tls_end = ADDR(.tbss) + SIZEOF(.tbss);
	redzone_tls_align = ADDR(.tdata) + MAX(ALIGNOF(.tdata), ALIGNOF(.tbss));

	.rodata : AT(ADDR(.rodata) - KIMAGE_VADDR + KIMAGE_LOAD) {
		*(.rodata .rodata.* .srodata .srodata.*)
		*(.data.rel.ro .data.rel.ro.*)
		/* Undefined weak symbols are looked up here: the table must not be an orphan section. */
		*(.got .got.*)
		/* Addresses of weak symbols that may be absent. */
		*(.got .got.plt)

		/* Constructors, including those that register instrumented globals. The constructors in a
		 * program's source are called by the program's thread: arrays with a NULL after the last. */
		. = ALIGN(8);
		KEEP(*(.redzone_ctors .redzone_dtors))
		. = ALIGN(8);
		__init_array_start = .;
		KEEP(*(SORT_BY_INIT_PRIORITY(.init_array.*)))
		KEEP(*(.init_array))
		__init_array_end = .;

		. = ALIGN(8);
		__init_params_start = .;
		KEEP(*(.init.params))
		__init_params_end = .;

		. = ALIGN(8);
		__percpu_vars_start = .;
		KEEP(*(.percpu_vars))
		__percpu_vars_end = .;

		. = ALIGN(8);
		__kunit_suites_start = .;
		KEEP(*(.kunit_test_suites))
		__kunit_suites_end = .;

		/* Clang's descriptions of tagged globals. The first is linked to the note, which is not read here. */
		*(.note.hwasan.globals)
		. = ALIGN(8);
		__start_hwasan_globals = .;
		KEEP(*(hwasan_globals))
		__stop_hwasan_globals = .;

		/* The places of a fuzzing target's counters, for the host. */
		. = ALIGN(8);
		__start___sancov_pcs = .;
		*(__sancov_pcs)
		__stop___sancov_pcs = .;

		/* Last: only this grows between the two link passes, so addresses stay. */
		. = ALIGN(8);
		KEEP(*(.kallsyms))
		KEEP(*(.kallsyms.*))
	} :rodata
	. = ALIGN(PAGE_SIZE);
	__rodata_end = .;

	.data : AT(ADDR(.data) - KIMAGE_VADDR + KIMAGE_LOAD) {
		__data_start = .;
		*(.data .data.* .sdata .sdata.*)
		/* Coverage of a fuzzing target: one of the two. */
		. = ALIGN(8);
		__start___sancov_cntrs = .;
		*(__sancov_cntrs)
		__stop___sancov_cntrs = .;
		. = ALIGN(8);
		__start___sancov_guards = .;
		*(__sancov_guards)
		__stop___sancov_guards = .;
		. = ALIGN(16);
		_edata = .;
	} :data

	.bss (NOLOAD) : AT(ADDR(.bss) - KIMAGE_VADDR + KIMAGE_LOAD) {
		. = ALIGN(16);
		__bss_start = .;
		*(.bss .bss.* .sbss .sbss.*)
		*(COMMON)

#ifdef CONFIG_KASAN_SHADOW_OFFSET
		/*
		 * Shadow of the image: an eighth of everything between _text and _end, including the shadow itself, so a
		 * seventh of the rest; with software tags a sixteenth, so a fifteenth.
		 */
		. = ALIGN(PAGE_SIZE);
		__kasan_image_shadow_start = .;
		. += ALIGN((. - _text) / (KASAN_GRANULE - 1) + 2 * PAGE_SIZE, PAGE_SIZE);
		__kasan_image_shadow_end = .;
#endif
		. = ALIGN(16);
		__bss_stop = .;
	} :data

	.boot_pgtables (NOLOAD) : AT(ADDR(.boot_pgtables) - KIMAGE_VADDR + KIMAGE_LOAD) {
		. = ALIGN(PAGE_SIZE);
		__boot_pgtables_start = .;
		*(.boot_pgtables)
		. = ALIGN(PAGE_SIZE);
		__boot_pgtables_end = .;
	} :data
	. = ALIGN(PAGE_SIZE);
	_end = .;
	_image_size = _end - _text;

	ASSERT(_end - _text <= KIMAGE_END - KIMAGE_VADDR, "the image is larger than its address space")
#ifdef CONFIG_KASAN_SHADOW_OFFSET
	ASSERT((__kasan_image_shadow_end - __kasan_image_shadow_start) * KASAN_GRANULE >= _end - _text,
	       "the image's shadow is too small")
#endif

	/DISCARD/ : {
		*(.fini_array .fini_array.* .dtors .eh_frame .eh_frame_hdr)
		*(.note .note.* .interp .dynamic .gnu.*)
		*(__patchable_function_entries)
	}
}
