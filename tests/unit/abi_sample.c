/* SPDX-License-Identifier: MIT */
/* abi_sample.c - makes a compiler emit every kind of check that it has. abi_symbols.py compiles this file and looks at
 * the symbols that it needs. It is never run. */
typedef unsigned long size_t;
struct big {
	char bytes[300];
};
union sixteen {
	__int128 whole;
};

void use(void *p);
_Noreturn void stop(void);
void *memcpy(void *dst, const void *src, size_t n);
void *memmove(void *dst, const void *src, size_t n);
void *memset(void *dst, int c, size_t n);
int loads(const char *a, const short *b, const int *c, const long *d, const union sixteen *e);
void stores(char *a, short *b, int *c, long *d, union sixteen *e);
void copy(struct big *to, const struct big *from);
long pairs(char *a, char *b);
void copies(char *to, const char *from, size_t n);
void scopes(int n);
int leave(int n);

int counter[7];
static char text[13] = "twelve chars";

int loads(const char *a, const short *b, const int *c, const long *d, const union sixteen *e)
{
	return *a + *b + *c + (int)*d + (int)e->whole + counter[*c & 7] + text[*a & 15];
}

void stores(char *a, short *b, int *c, long *d, union sixteen *e)
{
	*a = 1;
	*b = 2;
	*c = 3;
	*d = 4;
	e->whole = 5;
}

long pairs(char *a, char *b)
{
	return a < b ? 0 : a - b;
}

void copy(struct big *to, const struct big *from)
{
	*to = *from;
}

void copies(char *to, const char *from, size_t n)
{
	memcpy(to, from, n);
	memmove(to + n, from + n, n);
	memset(to, 0, n);
}

void scopes(int n)
{
	for (int i = 0; i < n; i++) {
		char inner[5003];
		char variable[n + i];

		use(inner);
		use(variable);
	}
	{
		char other[77];

		use(other);
	}
}

int leave(int n)
{
	char local[10];

	use(local);
	if (n)
		stop();
	return local[3];
}
