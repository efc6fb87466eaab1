/* SPDX-License-Identifier: MIT */
/*
 * port.c - the port: OpenSBI under KASAN. It takes the place of some of OpenSBI's functions by the linker's --wrap; no
 * file of OpenSBI is changed. Not instrumented.
 */
#include <sbi/riscv_locks.h>
#include <sbi/sbi_console.h>
#include <sbi/sbi_domain.h>
#include <sbi/sbi_hart.h>
#include <sbi/sbi_heap.h>
#include <sbi/sbi_platform.h>
#include <sbi/sbi_string.h>

#include <kasan/riscv_firmware.h>
#include <kasan/stack.h>

#include "layout.h"

_Static_assert(KASAN_RISCV_HART_AT == SBI_SCRATCH_HARTINDEX_OFFSET,
	       "the hart's number in struct sbi_scratch");

extern char _fw_start[], _fw_end[];
extern struct sbi_platform platform;

/* --- What the runtime needs of the system ------------------------------------------------------------ */

static void put(char c);
static void stop(const char *why);
static struct kasan_console console;

KASAN_PORT_POOL(_fw_start + WINDOW_SIZE + SHADOW_SIZE, POOL_SIZE);
KASAN_PORT_CONSOLE(put, stop);
KASAN_PORT_CONSOLE_LOCK(console);
KASAN_PORT_REPORT_STACKS(4096);
KASAN_MACHINE_TRAP_ENTRY(__wrap_sbi_trap_handler, kasan_sbi_trap_handler);

/* The lowest address of the stack below @scratch. */
static uintptr_t stack_of(const struct sbi_scratch *scratch)
{
	return (uintptr_t)scratch + SBI_SCRATCH_SIZE - platform.hart_stack_size;
}

void kasan_port_task(struct kasan_port_task *task)
{
	const struct sbi_scratch *scratch = sbi_scratch_thishart_ptr();

	task->name = "hart";
	task->id = kasan_port_cpu();
	/* Before it has one, the first hart runs on the two pages after the image. */
	task->stack_start = scratch ? stack_of(scratch) + STACK_GUARD : (uintptr_t)_fw_end;
	task->stack_end = scratch ? (uintptr_t)scratch : (uintptr_t)_fw_end + 2 * SBI_SCRATCH_SIZE;
}

bool kasan_port_image(uintptr_t *start, uintptr_t *end)
{
	*start = (uintptr_t)_fw_start;
	*end = (uintptr_t)_fw_end;
	return true;
}

bool kasan_port_stack_owner(const void *addr, struct kasan_port_task *task)
{
	sbi_for_each_hartindex(i)
	{
		const struct sbi_scratch *scratch = sbi_hartindex_to_scratch(i);

		if (!scratch || (uintptr_t)addr < stack_of(scratch) ||
		    (uintptr_t)addr >= (uintptr_t)scratch)
			continue;
		task->name = "hart";
		task->id = i;
		task->stack_start = stack_of(scratch) + STACK_GUARD;
		task->stack_end = (uintptr_t)scratch;
		return true;
	}
	return false;
}

/* --- Traps ------------------------------------------------------------------------------------------- */

uintptr_t __real_sbi_trap_handler(uintptr_t context);
uintptr_t kasan_sbi_trap_handler(uintptr_t context, uintptr_t fp);
uintptr_t kasan_sbi_trap_handler(uintptr_t context, uintptr_t fp)
{
	struct kasan_port_task task = {0};

	kasan_machine_fault(fp);
	context = __real_sbi_trap_handler(context);
	/* No check sees a call that goes too deep, but what it left in the zone is seen now. */
	kasan_port_task(&task);
	kasan_stack_check(&task, (void *)(task.stack_start - STACK_GUARD));
	return context;
}

/* --- The console ------------------------------------------------------------------------------------- */

/* Until the console's driver is there: reports of the first functions that run. */
static char early[16384];
static unsigned int early_used;

static void put(char c)
{
	const struct sbi_console_device *device = sbi_console_get_device();

	if (device && device->console_putc) {
		if (c == '\n')
			device->console_putc('\r');
		device->console_putc(c);
	} else if (device && device->console_puts) {
		while (!device->console_puts(&c, 1))
			;
	} else if (early_used < sizeof(early)) {
		early[early_used++] = c;
	}
}

static void stop(const char *why)
{
	kasan_port_print(why);
	sbi_hart_hang();
}

void __real_sbi_console_set_device(const struct sbi_console_device *device);
void __wrap_sbi_console_set_device(const struct sbi_console_device *device)
{
	const unsigned int used = early_used;
	unsigned int i;

	__real_sbi_console_set_device(device);
	early_used = 0;
	for (i = 0; i < used; i++)
		put(early[i]);
}

/* In sbi_console.c these take the place of spin_lock() and spin_unlock(). */
void kasan_console_spin_lock(spinlock_t *lock);
void kasan_console_spin_lock(spinlock_t *lock)
{
	(void)lock;
	kasan_console_lock(&console);
}

void kasan_console_spin_unlock(spinlock_t *lock);
void kasan_console_spin_unlock(spinlock_t *lock)
{
	(void)lock;
	kasan_console_unlock(&console);
}

/* The one function that prints without that lock. */
void __real_sbi_putc(char c);
void __wrap_sbi_putc(char c)
{
	kasan_console_lock(&console);
	__real_sbi_putc(c);
	kasan_console_unlock(&console);
}

/* --- Start ------------------------------------------------------------------------------------------- */

unsigned long opensbi_platform_init(unsigned long a0, unsigned long a1, unsigned long a2,
				    unsigned long a3, unsigned long a4);

/* fw_base.S calls it before any other function in C: the image is relocated, .bss is clear, one hart runs. */
unsigned long fw_platform_init(unsigned long a0, unsigned long a1, unsigned long a2,
			       unsigned long a3, unsigned long a4)
{
	uintptr_t start = (uintptr_t)_fw_start;
	unsigned long fdt;

	/* GCC would take the load offset, below, for the address of a symbol that is far away. */
	asm("" : "+r"(start));
	kasan_start(start, WINDOW_SIZE, start + WINDOW_SIZE);
	platform.hart_stack_size = HART_STACK;
	fdt = opensbi_platform_init(a0, a1, a2, a3, a4);
	platform.heap_size += MORE_HEAP;
	if (platform.hart_count > CONFIG_KASAN_NR_CPUS)
		stop("KASAN: more harts than CONFIG_KASAN_NR_CPUS");
	if ((uintptr_t)_fw_end - start + platform.hart_count * HART_STACK + platform.heap_size >
	    WINDOW_SIZE)
		stop("KASAN: image, stacks and heap do not fit into WINDOW_SIZE");
	put('\n');
	kasan_report_line("KASAN: firmware at 0x%lx, shadow at 0x%lx", start, start + WINDOW_SIZE);
	kasan_print_load_offset((void *)start, FW_TEXT_START);
	return fdt;
}

/* A hart begins, or begins again after it was stopped or suspended, on an empty stack. */
void __real_sbi_init(struct sbi_scratch *scratch);
void __noreturn __wrap_sbi_init(struct sbi_scratch *scratch);
void __noreturn __wrap_sbi_init(struct sbi_scratch *scratch)
{
	const uintptr_t low = stack_of(scratch);

	kasan_unpoison_stack((void *)low, (void *)scratch);
	kasan_stack_mark((void *)low, STACK_GUARD);
	__real_sbi_init(scratch);
	__builtin_unreachable();
}

/* Shadow and tables are firmware's alone: physical memory protection refuses them to supervisor mode, and the device tree
 * that it gets says so. */
int __real_sbi_domain_init(struct sbi_scratch *scratch, u32 hartid);
int __wrap_sbi_domain_init(struct sbi_scratch *scratch, u32 hartid)
{
	const int error = __real_sbi_domain_init(scratch, hartid);
	const unsigned long start = (unsigned long)_fw_start + WINDOW_SIZE;

	if (error)
		return error;
	return sbi_domain_root_add_memrange(start, SHADOW_SIZE + POOL_SIZE, SHADOW_SIZE + POOL_SIZE,
					    SBI_DOMAIN_MEMREGION_M_READABLE |
						    SBI_DOMAIN_MEMREGION_M_WRITABLE);
}

/* --- Memory of each hart: the scratch areas ---------------------------------------------------------- */

/* Allocations are never freed; each has the same place in the areas of all harts. */
static struct scratch_object {
	unsigned long offset, size, stride;
	const char *where;
	struct kasan_large_meta meta;
} scratch_objects[64];
static unsigned int scratch_count;

int __real_sbi_scratch_init(struct sbi_scratch *scratch);
int __wrap_sbi_scratch_init(struct sbi_scratch *scratch)
{
	const int error = __real_sbi_scratch_init(scratch);

	sbi_for_each_hartindex(i)
		kasan_poison((char *)sbi_hartindex_to_scratch(i) + SBI_SCRATCH_EXTRA_SPACE_OFFSET,
			     SBI_SCRATCH_SIZE - SBI_SCRATCH_EXTRA_SPACE_OFFSET, KASAN_PAGE_REDZONE);
	return error;
}

unsigned long kasan_scratch_alloc(unsigned long size, const char *where)
{
	const unsigned long padded = size ? ((size + 7) & ~7UL) + SCRATCH_REDZONE : 0;
	unsigned long offset = (sbi_scratch_alloc_offset)(padded);
	struct scratch_object *object;
	unsigned int at;

	if (!offset)
		return 0;
	sbi_for_each_hartindex(i)
		kasan_unpoison((char *)sbi_hartindex_to_scratch(i) + offset, size);
	at = __atomic_fetch_add(&scratch_count, 1, __ATOMIC_RELAXED);
	if (at < array_size(scratch_objects)) {
		object = &scratch_objects[at];
		object->size = size;
		object->stride = padded;
		object->where = where;
		object->meta.alloc.pid = kasan_port_cpu();
		object->meta.alloc.stack = kasan_stack_save((uintptr_t)__builtin_return_address(0));
		__atomic_store_n(&object->offset, offset, __ATOMIC_RELEASE);
	}
	return offset;
}

/* Return: the object that has @addr in it or in the redzone after it; @found: its copy. The areas lie in the harts' stacks,
 * from the last hart to the first, so each copy is described by itself. */
static struct scratch_object *find_scratch(uintptr_t addr, struct kasan_percpu *found)
{
	for (unsigned int hart = 0; hart < sbi_hart_count(); hart++) {
		const uintptr_t area = (uintptr_t)sbi_hartindex_to_scratch(hart);
		struct scratch_object *one = scratch_objects;

		for (; one < scratch_objects + array_size(scratch_objects); one++) {
			const uintptr_t at = __atomic_load_n(&one->offset, __ATOMIC_ACQUIRE);

			*found = (struct kasan_percpu){area + at, one->size, one->stride,
						       1,	  hart,	     one->where};
			if (area && at && addr - found->first < found->stride)
				return one;
		}
	}
	return NULL;
}

bool kasan_port_find_percpu(uintptr_t addr, struct kasan_percpu *found)
{
	return find_scratch(addr, found);
}

bool kasan_port_find_object(const void *addr, struct kasan_object *found)
{
	struct kasan_percpu copy;
	struct scratch_object *const object = find_scratch((uintptr_t)addr, &copy);

	if (!object)
		return false;
	found->kind = KASAN_OBJECT_LARGE;
	found->start = (void *)copy.first;
	found->size = object->size;
	found->large = &object->meta;
	found->name = "sbi_scratch";
	return true;
}

/* --- The heap ---------------------------------------------------------------------------------------- */

void *__real_sbi_malloc_from(struct sbi_heap_control *control, size_t size);
void *__real_sbi_aligned_alloc_from(struct sbi_heap_control *control, size_t align, size_t size);
void *__real_sbi_zalloc_from(struct sbi_heap_control *control, size_t size);
void __real_sbi_free_from(struct sbi_heap_control *control, void *ptr);
int __real_sbi_heap_init(struct sbi_scratch *scratch);

static void *acquire(struct kasan_heap *heap, size_t size)
{
	(void)heap;
	return __real_sbi_malloc_from(&global_hpctrl, size);
}

static void release(struct kasan_heap *heap, void *raw)
{
	(void)heap;
	__real_sbi_free_from(&global_hpctrl, raw);
}

static struct kasan_heap heap = {
	.name = "sbi_heap",
	.redzone = 64,
	.quarantine_max = HEAP_HELD,
	.acquire = acquire,
	.release = release,
};
/* OpenSBI's heap gives whole lines of a cache. */
#define HEAP_ALIGN 64

int __wrap_sbi_heap_init(struct sbi_scratch *scratch)
{
	const int error = __real_sbi_heap_init(scratch);

	if (error)
		return error;
	kasan_poison((char *)scratch->fw_start + scratch->fw_heap_offset, scratch->fw_heap_size,
		     KASAN_SLAB_REDZONE);
	kasan_heap_add(&heap);
	return 0;
}

/* Heaps in other memory, which sbi_heap_init_new() makes, are left as they are: it has no shadow. */
void *__wrap_sbi_aligned_alloc_from(struct sbi_heap_control *control, size_t align, size_t size)
{
	if (control != &global_hpctrl)
		return __real_sbi_aligned_alloc_from(control, align, size);
	if (align < HEAP_ALIGN)
		align = HEAP_ALIGN;
	if (!size || align & (align - 1) || size % align)
		return NULL;
	return kasan_heap_memalign(&heap, align, size);
}

void *__wrap_sbi_malloc_from(struct sbi_heap_control *control, size_t size)
{
	if (control != &global_hpctrl)
		return __real_sbi_malloc_from(control, size);
	return size ? kasan_heap_memalign(&heap, HEAP_ALIGN, size) : NULL;
}

void *__wrap_sbi_zalloc_from(struct sbi_heap_control *control, size_t size)
{
	void *ptr;

	if (control != &global_hpctrl)
		return __real_sbi_zalloc_from(control, size);
	ptr = __wrap_sbi_malloc_from(control, size);
	return ptr ? __memset(ptr, 0, size) : NULL;
}

void __wrap_sbi_free_from(struct sbi_heap_control *control, void *ptr)
{
	if (control != &global_hpctrl)
		__real_sbi_free_from(control, ptr);
	else
		kasan_heap_free(&heap, ptr, (uintptr_t)__builtin_return_address(0));
}
