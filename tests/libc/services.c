/* SPDX-License-Identifier: MIT
 * The parts of the C library around files, time, text and control flow. argv: "services" "--flag" "value". The file
 * data.txt has three lines. */
#include <aio.h>
#include <assert.h>
#include <ctype.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <getopt.h>
#include <iconv.h>
#include <langinfo.h>
#include <libgen.h>
#include <limits.h>
#include <locale.h>
#include <malloc.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "check.h"

extern const char __start_text_cold[], __stop_text_cold[];

/* Code in sections of its own, each with a page of its own. */
__attribute__((section("text_cold"), aligned(4096), noinline)) static int cold(int x)
{
	return x + 1;
}

__attribute__((section(".warm.code"), aligned(4096), noinline)) static int warm(int x)
{
	return cold(x) + 1;
}

static void sections(void)
{
	const char *at = (const char *)(uintptr_t)cold;

	CHECK(warm(1) == 3 && at >= __start_text_cold && at < __stop_text_cold);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void files(void)
{
	char line[64], *whole = NULL, *text;
	size_t size = 0;
	struct stat info;
	FILE *file = fopen("data.txt", "r"), *memory;
	struct aiocb later = {.aio_buf = line, .aio_nbytes = 5, .aio_offset = 6};
	const struct aiocb *waited[] = {&later};
	int fd, c;

	CHECK(file);
	if (!file)
		return;
	CHECK(fgets(line, sizeof(line), file) && !strcmp(line, "one 1\n"));
	CHECK(fscanf(file, "%15s %d", line, &c) == 2 && c == 2 && !strcmp(line, "two"));
	CHECK(!fseek(file, -8, SEEK_END) && getline(&whole, &size, file) == 8 &&
	      !strcmp(whole, "three 3\n"));
	CHECK(getc(file) == EOF && feof(file) && !ferror(file));
	rewind(file);
	CHECK(ungetc('x', file) == 'x' && getc(file) == 'x' && ftell(file) == 0);
	free(whole);
	CHECK(!fclose(file));
	errno = 0;
	CHECK(!fopen("missing", "r") && errno == ENOENT);

	fd = open("data.txt", O_RDONLY);
	CHECK(fd > 2 && read(fd, line, 3) == 3 && !memcmp(line, "one", 3));
	CHECK(!fstat(fd, &info) && S_ISREG(info.st_mode) && info.st_size == 20);
	text = mmap(NULL, 20, PROT_READ, MAP_PRIVATE, fd, 0);
	CHECK(text != MAP_FAILED && !memcmp(text + 6, "two 2", 5) && !munmap(text, 20));
	later.aio_fildes = fd;
	CHECK(!aio_read(&later) && !aio_suspend(waited, 1, NULL));
	CHECK(!aio_error(&later) && aio_return(&later) == 5 && !memcmp(line, "two 2", 5));
	CHECK(!close(fd) && close(fd) == -1 && errno == EBADF);
	CHECK(!stat("data.txt", &info) && access("missing", R_OK) == -1);

	memory = open_memstream(&text, &size);
	CHECK(memory && fprintf(memory, "%s-%d", "abc", 7) == 5 && !fclose(memory));
	CHECK(size == 5 && !strcmp(text, "abc-7"));
	free(text);
	memory = fmemopen(line, sizeof(line), "w+");
	CHECK(memory && fputs("42", memory) >= 0 && !fseek(memory, 0, SEEK_SET) &&
	      fscanf(memory, "%d", &c) == 1);
	CHECK(c == 42 && !fclose(memory));
	CHECK(isatty(1) && !isatty(fd));
}

static void times(void)
{
	/* 2001-09-09 01:46:40 UTC */
	time_t then = 1000000000, now = time(NULL);
	struct timespec a, b, nap = {.tv_nsec = 1000000};
	struct timeval tv;
	struct tm tm;
	char text[64];

	CHECK(strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %a %j", gmtime_r(&then, &tm)) > 0);
	CHECK(!strcmp(text, "2001-09-09 01:46:40 Sun 252"));
	CHECK(timegm(&tm) == then && strptime("2001-09-09", "%Y-%m-%d", &tm) && tm.tm_mon == 8);
	/* The machine's clock is right: this test was written in 2026. */
	CHECK(now > 1767225600);
	CHECK(!setenv("TZ", "XYZ-2", 1));
	tzset();
	CHECK(localtime(&then)->tm_hour == 3 && !strcmp(getenv("TZ"), "XYZ-2"));
	CHECK(!clock_gettime(CLOCK_MONOTONIC, &a) && !nanosleep(&nap, NULL) &&
	      !clock_gettime(CLOCK_MONOTONIC, &b));
	CHECK((b.tv_sec - a.tv_sec) * 1000000000L + b.tv_nsec - a.tv_nsec >= 1000000);
	CHECK(!gettimeofday(&tv, NULL) && tv.tv_sec >= now && clock() != (clock_t)-1);
}

static void texts(void)
{
	char list[] = "c,b,,a", *rest = list, *word, *words[4];
	wchar_t wide[16];
	regmatch_t match[2];
	regex_t regex;
	int n = 0;

	while ((word = strsep(&rest, ",")) && n < 4)
		words[n++] = word;
	CHECK(n == 4 && !*words[2]);
	qsort(words, 4, sizeof(*words), compare);
	CHECK(!strcmp(words[1], "a") && !strcmp(words[3], "c"));
	CHECK(strstr("haystack with a needle", "needle") && !strcasecmp("ABC", "abc") &&
	      strspn("aab", "a") == 2);
	CHECK(strnlen("abc", 2) == 2 && memmem("abcdef", 6, "cd", 2) &&
	      strpbrk("abc", "cb")[0] == 'b');
	CHECK(!strcmp(basename((char[]){"/x/y.c"}), "y.c") && isalpha('x') && toupper('x') == 'X');
	CHECK(!regcomp(&regex, "([0-9]+)-x", REG_EXTENDED) &&
	      !regexec(&regex, "ab 12-x", 2, match, 0));
	CHECK(match[1].rm_so == 3 && match[1].rm_eo == 5);
	regfree(&regex);
	CHECK(setlocale(LC_ALL, "") && !strcmp(nl_langinfo(CODESET), "UTF-8"));
	CHECK(mbstowcs(wide, "\xc3\xa4z", 16) == 2 && wide[0] == 0xe4 && iswalpha(wide[0]));
	CHECK(swprintf(wide, 16, L"%d %s", 5, "x") == 3 && !wcscmp(wide, L"5 x") &&
	      wcstol(L"77", NULL, 10) == 77);
	CHECK(localeconv()->decimal_point[0] == '.');
}

static void conversion(void)
{
	char in[] = "\xe4", out[8], *from = in, *to = out;
	size_t left = 1, room = sizeof(out);
	iconv_t converter = iconv_open("UTF-8", "ISO-8859-1");

	CHECK(converter != (iconv_t)-1 && iconv(converter, &from, &left, &to, &room) == 0);
	CHECK(room == 6 && !memcmp(out, "\xc3\xa4", 2) && !iconv_close(converter));
}

static volatile sig_atomic_t got;
static sigjmp_buf out_of_handler;

static void on_signal(int sig)
{
	got = sig;
}

static void leave(int sig)
{
	siglongjmp(out_of_handler, sig);
}

static void control(void)
{
	volatile int calls = 0;
	sigset_t set;
	jmp_buf env;
	int value = setjmp(env);

	if (calls++ < 2)
		longjmp(env, calls);
	CHECK(value == 2 && calls == 3);
	CHECK(signal(SIGUSR1, on_signal) == SIG_DFL && !raise(SIGUSR1) && got == SIGUSR1);
	got = 0;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL) && !kill(getpid(), SIGUSR1) && !got);
	CHECK(!sigpending(&set) && sigismember(&set, SIGUSR1) == 1);
	CHECK(!sigprocmask(SIG_UNBLOCK, &set, NULL) && got == SIGUSR1);
	/* abort() must call the handler, and it may leave. */
	signal(SIGABRT, leave);
	value = sigsetjmp(out_of_handler, 1);
	if (!value)
		abort();
	CHECK(value == SIGABRT);
	sigprocmask(SIG_BLOCK, NULL, &set);
	CHECK(!sigismember(&set, SIGABRT));
}

static void rest(int argc, char **argv)
{
	struct option options[] = {{"flag", required_argument, NULL, 'f'}, {0}};
	struct utsname name;
	ENTRY entry = {.key = (char *)"key", .data = argv};
	void *root = NULL;
	char *text;

	CHECK(getopt_long(argc, argv, "", options, NULL) == 'f' && !strcmp(optarg, "value"));
	CHECK(hcreate(10) && hsearch(entry, ENTER) && hsearch(entry, FIND)->data == (void *)argv);
	hdestroy();
	CHECK(tsearch("b", &root, (int (*)(const void *, const void *))strcmp));
	CHECK(tsearch("a", &root, (int (*)(const void *, const void *))strcmp));
	CHECK(tfind("a", &root, (int (*)(const void *, const void *))strcmp) && !uname(&name));
	tdelete("a", &root, (int (*)(const void *, const void *))strcmp);
	tdelete("b", &root, (int (*)(const void *, const void *))strcmp);
	CHECK(asprintf(&text, "%s %05d", "x", 42) == 7 && !strcmp(text, "x 00042"));
	free(text);
	CHECK(!dlopen("libm.so", RTLD_NOW) && dlerror() && !dlerror());
	CHECK(!dlsym(RTLD_DEFAULT, "main") && !strcmp(dlerror(), "Symbol not found: main"));
	CHECK(sysconf(_SC_PAGESIZE) == 4096 && sysconf(_SC_NPROCESSORS_ONLN) >= 1);
	srand(1);
	CHECK(rand() != rand() && random() >= 0 && drand48() < 1);
	errno = 0;
	CHECK(!malloc((size_t)1 << 60) && errno == ENOMEM &&
	      !strcmp(strerror(errno), "Out of memory"));
}

/* All that an object may hold can be written. */
static void sizes(void)
{
	const size_t asked[] = {0, 1, 13, 100, 4096, 5000, 100000, (size_t)20 << 20};

	CHECK(malloc_usable_size(NULL) == 0);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		char *p = malloc(asked[i]);
		size_t size = malloc_usable_size(p);

		CHECK(p && size >= asked[i]);
		memset(p, 1, size);
		p = realloc(p, asked[i] / 2);
		CHECK(p && malloc_usable_size(p) >= asked[i] / 2);
		free(p);
	}
}

static int order;

static void at_exit_first(void)
{
	printf("exit %d\n", ++order);
}

static void at_exit_last(void)
{
	printf("exit %d\n", ++order);
	if (!failed)
		puts("services: good");
}

__attribute__((constructor)) static void before_main(void)
{
	/* The library is ready before constructors run. */
	errno = 0;
	order = printf("constructor\n") == 12 ? 10 : 0;
}

__attribute__((destructor)) static void after_exit(void)
{
	puts("destructor");
}

int main(int argc, char **argv)
{
	atexit(at_exit_last);
	atexit(at_exit_first);
	files();
	times();
	texts();
	conversion();
	control();
	rest(argc, argv);
	sizes();
	sections();
	printf("no end of line");
	exit(failed);
}
