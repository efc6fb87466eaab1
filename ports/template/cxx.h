/* SPDX-License-Identifier: MIT */
/* cxx.h - the part of <new> that a C++ program without a standard library needs: operators.cpp defines it. */
#ifndef CXX_H
#define CXX_H

#include <stddef.h>

namespace std
{
enum class align_val_t : size_t {};
struct nothrow_t {
	explicit nothrow_t() = default;
};
extern const nothrow_t nothrow;
} // namespace std

void *operator new(size_t size, const std::nothrow_t &) noexcept;
void *operator new[](size_t size, const std::nothrow_t &) noexcept;
void *operator new(size_t size, std::align_val_t align);
void *operator new[](size_t size, std::align_val_t align);

/* Placement: the memory is the caller's. */
inline void *operator new(size_t, void *at) noexcept
{
	return at;
}

#endif /* CXX_H */
