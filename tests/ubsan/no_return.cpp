/* SPDX-License-Identifier: MIT */
/* no_return.cpp - a function whose end is reached without the value that it must return, which C++ does not allow. */
extern "C" int gives_number(int number);

int gives_number(int number)
{
	if (number)
		return number;
}
