// SPDX-License-Identifier: MIT
/*
 * Compresses the files of the arguments with zstd and expands them again: in one call, in streams, by threads,
 * and with dictionaries. Damaged data must give an error or data, and never more than there is room for.
 *
 * Each line has the size and a checksum of the compressed data, so that two machines can be compared.
 */
#define ZSTD_STATIC_LINKING_ONLY
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zdict.h>
#include <zstd.h>
#include <zstd_errors.h>

/* zstd asks the compiler in the same way whether to poison what it does not use of its own memory. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISONS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define POISONS 1
#endif
#ifdef POISONS
#include <sanitizer/asan_interface.h>
#endif

#define MADE	   1600000
#define SAMPLE	   512
#define DICTIONARY 4096

static const int levels[] = {-7, 1, 2, 3, 5, 7, 10, 13, 16, 19, 22};

struct data {
	uint8_t *bytes;
	size_t size;
};

static uint32_t checksum(struct data data)
{
	uint32_t sum = 2166136261U;

	for (size_t i = 0; i < data.size; i++)
		sum = (sum ^ data.bytes[i]) * 16777619U;
	return sum;
}

static void *allocate(size_t size)
{
	void *memory = malloc(size > 0 ? size : 1);

	if (memory == NULL) {
		printf("no memory for %zu bytes\n", size);
		exit(1);
	}
	return memory;
}

/* Return @result, which is no error, or end the program. */
static size_t check(size_t result, const char *what)
{
	if (ZSTD_isError(result)) {
		printf("%s: %s\n", what, ZSTD_getErrorName(result));
		exit(1);
	}
	return result;
}

/* Move @data into an object of its own size: a byte behind it is a report. */
static struct data exact(struct data data)
{
	data.bytes = realloc(data.bytes, data.size > 0 ? data.size : 1);
	return data;
}

static struct data read_file(const char *name)
{
	FILE *file = fopen(name, "rb");
	struct data data = {NULL, 0};

	while (file != NULL && !feof(file)) {
		data.bytes = realloc(data.bytes, data.size + 4096);
		data.size += fread(data.bytes + data.size, 1, 4096, file);
	}
	if (file == NULL || ferror(file)) {
		printf("%s cannot be read\n", name);
		exit(1);
	}
	fclose(file);
	return exact(data);
}

/* Return data that has repetitions near and far. */
static struct data make(size_t size)
{
	struct data data = {allocate(size), size};
	uint32_t random = 1;

	for (size_t at = 0; at < size;) {
		random = random * 1664525 + 1013904223;
		if (random >> 30 != 0 && at > 300) {
			size_t length = 3 + (random >> 8) % 60;
			size_t back = 1 + (random >> 4) % (at - 1);

			for (size_t i = 0; i < length && at < size; i++, at++)
				data.bytes[at] = data.bytes[at - back];
		} else {
			data.bytes[at++] = (uint8_t)('a' + (random >> 20) % 26);
		}
	}
	return data;
}

static void say(const char *name, const char *how, struct data packed, int same)
{
	printf("%s %s: %zu bytes, checksum %08x, %s\n", name, how, packed.size, checksum(packed),
	       same ? "same" : "DIFFERENT");
}

static int equal(struct data one, struct data other)
{
	return one.size == other.size && memcmp(one.bytes, other.bytes, one.size) == 0;
}

/* Expand @packed in one call into an object of the size of @data. Returns 1 if the result is @data. */
static int expands(ZSTD_DCtx *context, struct data packed, struct data data,
		   const ZSTD_DDict *dictionary)
{
	struct data again = {allocate(data.size), data.size};

	again.size = check(ZSTD_decompress_usingDDict(context, again.bytes, again.size,
						      packed.bytes, packed.size, dictionary),
			   "expand");
	int same = equal(again, data);

	free(again.bytes);
	return same;
}

/* Expand @packed, with input and output in pieces. Returns 1 if the result is @data. */
static int streams_back(ZSTD_DCtx *context, struct data packed, struct data data)
{
	uint8_t piece[777];
	size_t done = 0, left = 1;
	ZSTD_inBuffer in = {packed.bytes, 0, 0};
	int same = 1;

	check(ZSTD_DCtx_reset(context, ZSTD_reset_session_only), "reset");
	while (left != 0 && in.pos < packed.size) {
		ZSTD_outBuffer out = {piece, sizeof(piece), 0};

		if (in.pos == in.size)
			in.size += packed.size - in.size < 100 ? packed.size - in.size : 100;
		left = check(ZSTD_decompressStream(context, &out, &in), "expand a stream");
		same = same && done + out.pos <= data.size &&
		       memcmp(data.bytes + done, piece, out.pos) == 0;
		done += out.pos;
		/* Bytes that have been read may still have output. */
		while (left != 0 && out.pos == out.size) {
			out.pos = 0;
			left = check(ZSTD_decompressStream(context, &out, &in), "expand a stream");
			same = same && done + out.pos <= data.size &&
			       memcmp(data.bytes + done, piece, out.pos) == 0;
			done += out.pos;
		}
	}
	return same && left == 0 && done == data.size;
}

/* Compress @data as the parameters of @context say, with input and output in pieces of @step bytes. */
static struct data stream(ZSTD_CCtx *context, struct data data, size_t step)
{
	struct data packed = {allocate(ZSTD_compressBound(data.size)), 0};
	size_t room = ZSTD_compressBound(data.size);
	ZSTD_inBuffer in = {data.bytes, 0, 0};
	size_t left = 1;

	check(ZSTD_CCtx_reset(context, ZSTD_reset_session_only), "reset");
	while (left != 0) {
		size_t free_bytes = room - packed.size;
		ZSTD_outBuffer out = {packed.bytes + packed.size,
				      free_bytes < step ? free_bytes : step, 0};

		if (in.pos == in.size)
			in.size += data.size - in.size < step ? data.size - in.size : step;
		left = check(
			ZSTD_compressStream2(context, &out, &in,
					     in.size == data.size ? ZSTD_e_end : ZSTD_e_continue),
			"compress a stream");
		if (in.size < data.size)
			left = 1;
		packed.size += out.pos;
	}
	return exact(packed);
}

static void set(ZSTD_CCtx *context, ZSTD_cParameter parameter, int value)
{
	check(ZSTD_CCtx_setParameter(context, parameter, value), "set a parameter");
}

static void in_one_call(const char *name, struct data data, ZSTD_CCtx *context, ZSTD_DCtx *back)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		size_t room = ZSTD_compressBound(data.size);
		struct data packed = {allocate(room), room};
		char how[32];

		packed.size = check(ZSTD_compressCCtx(context, packed.bytes, packed.size,
						      data.bytes, data.size, levels[i]),
				    "compress");
		packed = exact(packed);
		snprintf(how, sizeof(how), "level %d", levels[i]);
		say(name, how, packed, expands(back, packed, data, NULL));
		free(packed.bytes);
	}
}

static void in_streams(const char *name, struct data data, ZSTD_CCtx *context, ZSTD_DCtx *back)
{
	for (int i = 0; i < 3; i++) {
		char how[32];

		check(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters), "reset");
		set(context, ZSTD_c_compressionLevel, 1 + 6 * i);
		set(context, ZSTD_c_checksumFlag, 1);
		set(context, ZSTD_c_windowLog, 12 + i);
		set(context, ZSTD_c_enableLongDistanceMatching, i & 1);
		struct data packed = stream(context, data, 60U + 1000U * (unsigned int)i);

		snprintf(how, sizeof(how), "stream, level %d", 1 + 6 * i);
		say(name, how, packed, streams_back(back, packed, data));
		free(packed.bytes);
	}
	check(ZSTD_CCtx_reset(context, ZSTD_reset_session_and_parameters), "reset");
}

/* Each damage is in data of its own size. Only whether it is an error is printed, and the size if it is none. */
static void damaged(const char *name, struct data data, ZSTD_DCtx *back)
{
	size_t room = ZSTD_compressBound(data.size);
	struct data packed = {allocate(room), 0};
	unsigned int errors = 0, results = 0;

	packed.size =
		check(ZSTD_compress(packed.bytes, room, data.bytes, data.size, 3), "compress");
	for (size_t i = 0; i < 64; i++) {
		size_t size = i & 1 ? packed.size : packed.size * i / 64;
		struct data bad = {allocate(size), size};
		struct data out = {allocate(data.size), data.size};

		memcpy(bad.bytes, packed.bytes, size);
		if (i & 1)
			bad.bytes[(size - 1) * i / 63] ^= (uint8_t)(1U << (i % 8));
		size_t result = ZSTD_decompressDCtx(back, out.bytes, out.size, bad.bytes, bad.size);

		if (ZSTD_isError(result))
			errors++;
		else
			results++;
		free(out.bytes);
		free(bad.bytes);
	}
	printf("%s damaged: %u errors, %u results\n", name, errors, results);
	free(packed.bytes);
}

/* Train a dictionary with pieces of @data, and compress each eighth piece with it. */
static void with_dictionary(const char *name, struct data data, ZSTD_CCtx *context, ZSTD_DCtx *back)
{
	size_t count = data.size / SAMPLE;
	size_t *sizes = allocate(count * sizeof(*sizes));
	struct data trained = {allocate(DICTIONARY), DICTIONARY};

	for (size_t i = 0; i < count; i++)
		sizes[i] = SAMPLE;
	trained.size = ZDICT_trainFromBuffer(trained.bytes, DICTIONARY, data.bytes, sizes,
					     (unsigned int)count);
	free(sizes);
	if (ZDICT_isError(trained.size)) {
		printf("%s dictionary: %s\n", name, ZDICT_getErrorName(trained.size));
		free(trained.bytes);
		return;
	}
	trained = exact(trained);
	ZSTD_CDict *dictionary = ZSTD_createCDict(trained.bytes, trained.size, 6);
	ZSTD_DDict *dictionary_back = ZSTD_createDDict(trained.bytes, trained.size);

	say(name, "dictionary", trained, ZDICT_getDictID(trained.bytes, trained.size) != 0);
	for (size_t i = 0; i < count; i += 8) {
		uint8_t piece[SAMPLE * 2];
		struct data sample = {data.bytes + i * SAMPLE, SAMPLE};
		struct data packed = {piece, 0};
		char how[32];

		packed.size = check(ZSTD_compress_usingCDict(context, piece, sizeof(piece),
							     sample.bytes, sample.size, dictionary),
				    "compress with a dictionary");
		snprintf(how, sizeof(how), "piece %zu", i);
		say(name, how, packed, expands(back, packed, sample, dictionary_back));
	}
	ZSTD_freeDDict(dictionary_back);
	ZSTD_freeCDict(dictionary);
	free(trained.bytes);
}

/* The result does not depend on when a thread runs. */
static void in_threads(ZSTD_DCtx *back)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	struct data data = make(MADE);

	for (int workers = 1; workers <= 3; workers++) {
		char how[32];

		set(context, ZSTD_c_compressionLevel, 2);
		set(context, ZSTD_c_nbWorkers, workers);
		set(context, ZSTD_c_jobSize, 1 << 19);
		set(context, ZSTD_c_checksumFlag, 1);
		struct data packed = stream(context, data, 100000);

		snprintf(how, sizeof(how), "in %d threads", workers);
		say("made", how, packed, streams_back(back, packed, data));
		free(packed.bytes);
	}
	free(data.bytes);
	ZSTD_freeCCtx(context);
}

/* The blocks that zstd has got from the functions below. */
static struct data blocks[16];

static void *keep(void *opaque, size_t size)
{
	void *memory = malloc(size);

	(void)opaque;
	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (blocks[i].bytes == NULL) {
			blocks[i] = (struct data){memory, size};
			return memory;
		}
	}
	free(memory);
	return NULL;
}

static void give_back(void *opaque, void *memory)
{
	(void)opaque;
	for (size_t i = 0; memory != NULL && i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (blocks[i].bytes == memory)
			blocks[i].bytes = NULL;
	}
	free(memory);
}

/* With ASan's macros zstd leaves 128 bytes around each buffer in its memory, and poisons them. */
static void poisoned(struct data data)
{
	ZSTD_CCtx *context = ZSTD_createCCtx_advanced((ZSTD_customMem){keep, give_back, NULL});
	size_t room = ZSTD_compressBound(data.size);
	uint8_t *packed = allocate(room);
	int right = context != NULL;

	check(ZSTD_compressCCtx(context, packed, room, data.bytes, data.size, 3), "compress");
#ifdef POISONS
	size_t largest = 0, run = 0, gaps = 0;

	for (size_t i = 1; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		if (blocks[i].bytes != NULL && blocks[i].size > blocks[largest].size)
			largest = i;
	}
	for (size_t i = 0; i < blocks[largest].size; i++) {
		run = __asan_address_is_poisoned(blocks[largest].bytes + i) ? run + 1 : 0;
		if (run == 128)
			gaps++;
	}
	right = right && gaps > 2;
#endif
	printf("zstd poisons its memory if the compiler says so: %s\n", right ? "yes" : "NO");
	ZSTD_freeCCtx(context);
	free(packed);
}

int main(int argc, char **argv)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();
	ZSTD_DCtx *back = ZSTD_createDCtx();

	for (int i = 1; i < argc; i++) {
		struct data data = read_file(argv[i]);

		in_one_call(argv[i], data, context, back);
		in_streams(argv[i], data, context, back);
		damaged(argv[i], data, back);
		with_dictionary(argv[i], data, context, back);
		if (i == 1)
			poisoned(data);
		free(data.bytes);
	}
	in_threads(back);
	ZSTD_freeDCtx(back);
	ZSTD_freeCCtx(context);
	return 0;
}
