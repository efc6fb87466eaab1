/* SPDX-License-Identifier: MIT */
/*
 * complex.c - what compilers call for products and quotients of complex numbers, and for __builtin_powi(). Infinities and
 * NaNs give what C's Annex G asks for.
 */
#include "float128.h"

/* C's value of an infinity as a direction: 1 or 0 with the sign of @x. */
#define SIGNED(x, magnitude) (__builtin_signbit(x) ? -(magnitude) : (magnitude))
#define BOX(x)		     SIGNED(x, __builtin_isinf(x) ? 1.0 : 0.0)
#define ZERO_IF_NAN(x)	     (__builtin_isnan(x) ? SIGNED(x, 0.0) : (x))
#define INFINITE(x, y)	     (__builtin_isinf(x) || __builtin_isinf(y))
#define FINITE(x, y)	     (__builtin_isfinite(x) && __builtin_isfinite(y))

/* (a + bi) * (c + di) and (a + bi) / (c + di). @wide: the format to calculate quotients in. */
#define DEFINE_COMPLEX(type, letters, wide)                                                      \
	type _Complex __mul##letters##3(type a, type b, type c, type d);                         \
	type _Complex __mul##letters##3(type a, type b, type c, type d)                          \
	{                                                                                        \
		const type ac = a * c, bd = b * d, ad = a * d, bc = b * c;                       \
		bool again = true;                                                               \
		type _Complex result;                                                            \
                                                                                                 \
		__real__ result = ac - bd;                                                       \
		__imag__ result = ad + bc;                                                       \
		if (!__builtin_isnan(__real__ result) || !__builtin_isnan(__imag__ result))      \
			return result;                                                           \
		if (INFINITE(a, b) || INFINITE(c, d)) {                                          \
			if (INFINITE(a, b)) {                                                    \
				a = (type)BOX(a);                                                \
				b = (type)BOX(b);                                                \
				c = (type)ZERO_IF_NAN(c);                                        \
				d = (type)ZERO_IF_NAN(d);                                        \
			}                                                                        \
			if (INFINITE(c, d)) {                                                    \
				c = (type)BOX(c);                                                \
				d = (type)BOX(d);                                                \
				a = (type)ZERO_IF_NAN(a);                                        \
				b = (type)ZERO_IF_NAN(b);                                        \
			}                                                                        \
		} else if (INFINITE(ac, bd) || INFINITE(ad, bc)) {                               \
			a = (type)ZERO_IF_NAN(a);                                                \
			b = (type)ZERO_IF_NAN(b);                                                \
			c = (type)ZERO_IF_NAN(c);                                                \
			d = (type)ZERO_IF_NAN(d);                                                \
		} else {                                                                         \
			again = false;                                                           \
		}                                                                                \
		if (again) {                                                                     \
			__real__ result = (type)__builtin_inf() * (a * c - b * d);               \
			__imag__ result = (type)__builtin_inf() * (a * d + b * c);               \
		}                                                                                \
		return result;                                                                   \
	}                                                                                        \
	type _Complex __div##letters##3(type a, type b, type c, type d);                         \
	type _Complex __div##letters##3(type a, type b, type c, type d)                          \
	{                                                                                        \
		wide real, imaginary, ratio, by;                                                 \
		type _Complex result;                                                            \
                                                                                                 \
		/* Smith's method: c * c + d * d would overflow. */                              \
		if ((c < 0 ? -c : c) < (d < 0 ? -d : d)) {                                       \
			ratio = (wide)c / d;                                                     \
			by = c * ratio + d;                                                      \
			real = (a * ratio + b) / by;                                             \
			imaginary = (b * ratio - a) / by;                                        \
		} else {                                                                         \
			ratio = (wide)d / c;                                                     \
			by = d * ratio + c;                                                      \
			real = (b * ratio + a) / by;                                             \
			imaginary = (b - a * ratio) / by;                                        \
		}                                                                                \
		if (__builtin_isnan(real) && __builtin_isnan(imaginary)) {                       \
			if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {  \
				wide infinity = (wide)SIGNED(c, __builtin_inf());                \
                                                                                                 \
				real = infinity * a;                                             \
				imaginary = infinity * b;                                        \
			} else if (INFINITE(a, b) && FINITE(c, d)) {                             \
				a = (type)BOX(a);                                                \
				b = (type)BOX(b);                                                \
				real = (wide)__builtin_inf() * (a * (wide)c + b * (wide)d);      \
				imaginary = (wide)__builtin_inf() * (b * (wide)c - a * (wide)d); \
			} else if (INFINITE(c, d) && FINITE(a, b)) {                             \
				c = (type)BOX(c);                                                \
				d = (type)BOX(d);                                                \
				real = 0 * (a * (wide)c + b * (wide)d);                          \
				imaginary = 0 * (b * (wide)c - a * (wide)d);                     \
			}                                                                        \
		}                                                                                \
		__real__ result = (type)real;                                                    \
		__imag__ result = (type)imaginary;                                               \
		return result;                                                                   \
	}

#ifdef ARCH_FLOAT16
DEFINE_COMPLEX(_Float16, hc, float)
#endif
DEFINE_COMPLEX(float, sc, double)
DEFINE_COMPLEX(double, dc, double)
DEFINE_COMPLEX(long double, tc, long double)

#define DEFINE_POWER(type, letters)                                                      \
	type __powi##letters##2(type base, int exponent);                                \
	type __powi##letters##2(type base, int exponent)                                 \
	{                                                                                \
		unsigned int left =                                                      \
			exponent < 0 ? -(unsigned int)exponent : (unsigned int)exponent; \
		type result = left & 1 ? base : 1;                                       \
                                                                                         \
		while (left >>= 1) {                                                     \
			base *= base;                                                    \
			if (left & 1)                                                    \
				result *= base;                                          \
		}                                                                        \
		return exponent < 0 ? 1 / result : result;                               \
	}

DEFINE_POWER(float, sf)
DEFINE_POWER(double, df)
DEFINE_POWER(f128, tf)
