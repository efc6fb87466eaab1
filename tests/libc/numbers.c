/* SPDX-License-Identifier: MIT
 * printf(), scanf(), strtod() and <math.h>: texts and values that ISO C or arithmetic fixes. */
#include <complex.h>
#include <fenv.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define PRINTS(expected, ...)                                                          \
	do {                                                                           \
		char text[512];                                                        \
		int n = snprintf(text, sizeof(text), __VA_ARGS__);                     \
		if (n != (int)strlen(expected) || strcmp(text, expected)) {            \
			printf("line %d: '%s', not '%s'\n", __LINE__, text, expected); \
			failed = 1;                                                    \
		}                                                                      \
	} while (0)

static void formats(void)
{
	PRINTS("3.141593", "%f", 3.14159265358979);
	PRINTS("0.1000000000000000055511151231257827021181583404541015625", "%.55f", 0.1);
	PRINTS("1e+100", "%g", 1e100);
	PRINTS("1.000000E-10", "%E", 1e-10);
	PRINTS("0x1.999999999999ap-4", "%a", 0.1);
	PRINTS("0x1p+0", "%La", 1.0L);
	PRINTS("-inf nan INF", "%g %g %F", -INFINITY, NAN, INFINITY);
	PRINTS("   +2.50|2.5   |002.5", "%+8.2f|%-6g|%05.1f", 2.5, 2.5, 2.5);
	PRINTS("2 4 -2 0", "%.0f %.0f %.0f %.0f", 2.5, 3.5, -2.5, 0.5);
	PRINTS("4.94066e-324 1.7976931348623157e+308", "%g %.17g", DBL_TRUE_MIN, DBL_MAX);
	PRINTS("1.189731495357231765e+4932", "%.19Lg", LDBL_MAX);
	PRINTS("123456789 -5 1f 0x1f 017", "%d %hhd %x %#x %#o", 123456789, (char)-5, 31, 31, 15);
	PRINTS("18446744073709551615", "%" PRIuMAX, UINTMAX_MAX);
	PRINTS("b  a", "%2$s  %1$s", "a", "b");
	PRINTS("3.141592653589793238462643383279502797", "%.36Lf",
	       3.141592653589793238462643383279502884L);
}

static void scans(void)
{
	double d = 0;
	float f = 0;
	long double l = 0;
	char word[8] = "", *end;
	int i = 0, n = 0;

	CHECK(sscanf("12 3.5e2 0x1.8p1 abc", "%d %lf %f %7s%n", &i, &d, &f, word, &n) == 4);
	CHECK(i == 12 && d == 350 && f == 3 && !strcmp(word, "abc") && n == 20);
	CHECK(sscanf("1.25", "%Lf", &l) == 1 && l == 1.25L);
	CHECK(sscanf("x", "%d", &i) == 0 && sscanf("", "%d", &i) == EOF);
	CHECK(strtod("0.1000000000000000055511151231257827", NULL) == 0.1);
	CHECK(strtod("2.2250738585072011e-308", NULL) < DBL_MIN);
	CHECK(strtod("1e400", NULL) == HUGE_VAL);
	CHECK(strtod("nonsense", &end) == 0 && *end == 'n');
	CHECK(strtof("16777217", NULL) == 16777216.0f);
	CHECK(strtold("1e-4940", NULL) > 0);
	CHECK(strtoull("18446744073709551615", NULL, 0) == UINT64_MAX);
	CHECK(atof("-.5") == -0.5);
}

static void functions(void)
{
	int exponent, rounding;
	double whole;

	CHECK(sqrt(2) == 1.4142135623730951 && cbrt(27) == 3 && hypot(3, 4) == 5);
	CHECK(sin(0) == 0 && cos(0) == 1 && fabs(sin(M_PI)) < 1e-15);
	CHECK(exp(1) == M_E && log(M_E) == 1 && exp2(10) == 1024 && log2(8) == 3 &&
	      log10(1000) == 3);
	CHECK(pow(2, 0.5) == sqrt(2) && pow(0, 0) == 1 && isnan(pow(-1, 0.5)));
	CHECK(atan2(-1, -1) == -3 * M_PI_4 && fabs(tgamma(5) - 24) < 1e-12);
	CHECK(floor(-2.5) == -3 && ceil(-2.5) == -2 && trunc(-2.5) == -2 && round(-2.5) == -3 &&
	      rint(2.5) == 2);
	CHECK(fmod(7, 3) == 1 && remainder(7, 4) == -1 && frexp(8, &exponent) == 0.5 &&
	      exponent == 4);
	CHECK(modf(3.75, &whole) == 0.75 && whole == 3 && ldexp(0.5, 4) == 8 &&
	      nextafter(1, 2) > 1);
	CHECK(fma(0x1p53, 1, 1) == 0x1p53 && signbit(-0.0) && fmin(NAN, 1) == 1);
	CHECK(sqrtl(2.0L) == 1.41421356237309504880168872420969808L && sinl(0) == 0);
	CHECK(cabs(3 + 4 * I) == 5 && creal(csqrt(-1)) == 0 && cimag(csqrt(-1)) == 1);
	rounding = fegetround();
	CHECK(rounding == FE_TONEAREST && !fesetround(FE_UPWARD) && rint(2.1) == 3 &&
	      !fesetround(rounding));
	feclearexcept(FE_ALL_EXCEPT);
	{
		volatile double zero = 0, one = 1;

		one /= zero;
		CHECK(fetestexcept(FE_DIVBYZERO) && isinf(one));
	}
}

int main(void)
{
	formats();
	scans();
	functions();
	puts(failed ? "numbers: bad" : "numbers: good");
	return failed;
}
