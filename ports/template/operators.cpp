// SPDX-License-Identifier: MIT
//
// operators.cpp - operator new and delete over the heap of heap.c, in all their forms, and the functions that
// compilers call in C++ programs without a standard library. To be copied into a C++ kernel.
//
// Not instrumented, like the heap. Nothing here needs a hook of its own: malloc() and free() have them.
#include <kasan/port.h>

#include "board.h"
#include "cxx.h"
#include "heap.h"

const std::nothrow_t std::nothrow;

// Without exceptions, ordinary new cannot say that there is no memory: the caller would use a null pointer.
static void *or_stop(void *memory)
{
	if (!memory)
		kasan_port_panic("operator new: no memory");
	return memory;
}

void *operator new(size_t size)
{
	return or_stop(malloc(size));
}

void *operator new[](size_t size)
{
	return or_stop(malloc(size));
}

void *operator new(size_t size, std::align_val_t align)
{
	return or_stop(memalign((size_t)align, size));
}

void *operator new[](size_t size, std::align_val_t align)
{
	return or_stop(memalign((size_t)align, size));
}

void *operator new(size_t size, const std::nothrow_t &) noexcept
{
	return malloc(size);
}

void *operator new[](size_t size, const std::nothrow_t &) noexcept
{
	return malloc(size);
}

// The heap knows sizes and alignments itself, so all forms of delete do the same.

void operator delete(void *object) noexcept
{
	free(object);
}

void operator delete[](void *object) noexcept
{
	free(object);
}

void operator delete(void *object, size_t) noexcept
{
	free(object);
}

void operator delete[](void *object, size_t) noexcept
{
	free(object);
}

void operator delete(void *object, std::align_val_t) noexcept
{
	free(object);
}

void operator delete[](void *object, std::align_val_t) noexcept
{
	free(object);
}

void operator delete(void *object, size_t, std::align_val_t) noexcept
{
	free(object);
}

void operator delete[](void *object, size_t, std::align_val_t) noexcept
{
	free(object);
}

// Called instead of new's other forms if a constructor fails, which it cannot without exceptions.
void operator delete(void *object, const std::nothrow_t &) noexcept
{
	free(object);
}

void operator delete[](void *object, const std::nothrow_t &) noexcept
{
	free(object);
}

extern "C" {
void __cxa_pure_virtual(void);
int __cxa_atexit(void (*destructor)(void *), void *object, void *module);
int __aeabi_atexit(void *object, void (*destructor)(void *), void *module);
extern void *__dso_handle;

void *__dso_handle;

void __cxa_pure_virtual(void)
{
	kasan_port_panic("pure virtual function called");
}

// Firmware does not end, so its globals are never destroyed.
int __cxa_atexit(void (*)(void *), void *, void *)
{
	return 0;
}

// The same under its name on 32-bit arm.
int __aeabi_atexit(void *, void (*)(void *), void *)
{
	return 0;
}
}
