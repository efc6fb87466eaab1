# SPDX-License-Identifier: MIT
"""The public libraries that `./redzone test libraries` runs; recipe.py says what the fields mean.

The numbers of tests are those of a native build of the same version, counted once.
"""

from redzone.core import crates
from redzone.libraries.recipe import OWN, Library, Program
from redzone.libraries.registries import Crate, Debian, PyPI


def _c(place, names):
    """Return the C files whose names begin with @place and go on with one of the words @names."""
    return tuple(f"{place}{name}.c" for name in names.split())


_CJSON_TESTS = (
    "cjson_add compare_tests json_patch_tests minify_tests misc_tests misc_utils_tests "
    "old_utils_tests parse_array parse_examples parse_hex4 parse_number parse_object "
    "parse_string parse_value parse_with_opts print_array print_number print_object "
    "print_string print_value readme_examples"
)
_CJSON_DATA = (
    *(f"inputs/test{number}" for number in range(1, 12)),
    *(f"inputs/test{number}.expected" for number in range(1, 12) if number != 6),
    *(f"json-patch-tests/{name}.json" for name in ("cjson-utils-tests", "spec_tests", "tests")),
)
CJSON = Library(
    "cjson",
    Debian(
        "pool/main/c/cjson/cjson_1.7.15.orig.tar.gz",
        "5308fd4bd90cef7aa060558514de6a1a4a0819974a26e6ed13973c5f624c24b2",
        "cJSON-1.7.15",
    ),
    (
        # Each of its tests includes cJSON.c itself.
        Program(
            "tests",
            _c("tests/", _CJSON_TESTS),
            library=("tests/unity/src/unity.c", "cJSON_Utils.c"),
            includes=("tests/unity/src", "tests"),
            files={name: f"tests/{name}" for name in _CJSON_DATA},
            each=True,
            count=r"^(\d+) Tests 0 Failures",
            tests=155,
        ),
    ),
)

_YAML_EXAMPLES = ("anchors", "array", "global-tag", "json", "mapping", "numbers", "strings", "tags")
LIBYAML = Library(
    "libyaml",
    Debian(
        "pool/main/liby/libyaml/libyaml_0.2.5.orig.tar.gz",
        "fa240dbf262be053f3898006d502d514936c818e422afdcf33921c63bed9bf2e",
        "libyaml-0.2.5",
    ),
    (
        # Each reads all of the examples; emitter and dumper write them again and compare.
        Program(
            "tests",
            _c("tests/", "run-dumper run-emitter run-loader run-parser run-scanner test-reader test-version"),
            library=_c("src/", "api dumper emitter loader parser reader scanner writer"),
            includes=("include", "src"),
            options=("--cflag", "-include", "--cflag", "config.h"),
            host_options=("-include", "config.h"),
            arguments=tuple(f"{name}.yaml" for name in _YAML_EXAMPLES),
            files={f"{name}.yaml": f"examples/{name}.yaml" for name in _YAML_EXAMPLES},
            each=True,
            host=True,
        ),
    ),
    headers={
        "config.h": "#define YAML_VERSION_MAJOR 0\n#define YAML_VERSION_MINOR 2\n"
        '#define YAML_VERSION_PATCH 5\n#define YAML_VERSION_STRING "0.2.5"\n'
    },
)

EXPAT = Library(
    "expat",
    Debian(
        "pool/main/e/expat/expat_2.5.0.orig.tar.gz",
        "ab00ee05c7067fd10a35c5d2a4922ebba746ddd50ff83b79c828da17bbdf1757",
        "libexpat-R_2_5_0",
    ),
    (
        Program(
            "runtests",
            _c("expat/tests/", "runtests chardata structdata memcheck minicheck"),
            library=_c("expat/lib/", "xmlparse xmlrole xmltok"),
            includes=("expat/lib",),
            options=("--timeout", "900"),
            count=r"^100%: Checks: (\d+), Failed: 0$",
            tests=345,
        ),
    ),
    headers={
        "expat_config.h": '#define BYTEORDER 1234\n#define HAVE_UNISTD_H\n#define PACKAGE_NAME "expat"\n'
        "#define XML_CONTEXT_BYTES 1024\n#define XML_DTD\n#define XML_NS\n#define XML_POOR_ENTROPY\n"
    },
)

_ONIGURUMA = _c(
    "src/",
    "regparse regcomp regexec regenc regerror regext regsyntax regtrav regversion st "
    "unicode unicode_unfold_key unicode_fold1_key unicode_fold2_key unicode_fold3_key "
    "ascii utf8 utf16_be utf16_le utf32_be utf32_le onig_init",
)
# Files that only the programs for EUC-JP and for POSIX's interface need.
_ONIGURUMA_MORE = "euc_jp euc_jp_prop regposerr regposix sjis sjis_prop"
ONIGURUMA = Library(
    "oniguruma",
    Debian(
        "pool/main/libo/libonig/libonig_6.9.8.orig.tar.gz",
        "26372720bab6733c869a9eb69377f73971138dc5e3eff4a81f5ba8aea5435fb2",
        "oniguruma-6.9.8",
    ),
    (
        Program(
            "utf8",
            ("test/test_utf8.c",),
            library=_ONIGURUMA,
            includes=("src",),
            options=("-D", "HAVE_CONFIG_H", "--timeout", "900"),
            count=r"^RESULT   SUCC: (\d+),  FAIL: 0,  ERROR: 0",
            tests=1444,
        ),
        # The other programs of its `make check`: SUCC is 1225, 43, 13, 128, 785, 506 and 720.
        Program(
            "more",
            _c("test/", "test_back test_options test_regset test_syntax testc testp testu"),
            library=(*_ONIGURUMA, *_c("src/", _ONIGURUMA_MORE)),
            includes=("src",),
            options=("-D", "HAVE_CONFIG_H", "-D", "USE_POSIX_API", "--timeout", "900"),
            each=True,
            count=r"^RESULT   SUCC: +(\d+),  FAIL: 0,  ERROR: 0",
            tests=3420,
            planted=False,
        ),
    ),
    headers={
        "config.h": "#define HAVE_ALLOCA 1\n#define HAVE_ALLOCA_H 1\n#define HAVE_STDINT_H 1\n"
        "#define HAVE_INTTYPES_H 1\n#define HAVE_SYS_TIME_H 1\n#define HAVE_SYS_TYPES_H 1\n"
        "#define HAVE_UNISTD_H 1\n#define SIZEOF_INT 4\n#define SIZEOF_LONG 8\n"
        "#define SIZEOF_LONG_LONG 8\n#define SIZEOF_VOIDP 8\n"
    },
)

_MBEDTLS = (
    "aes aesni arc4 aria asn1parse asn1write base64 bignum blowfish camellia ccm certs chacha20 "
    "chachapoly cipher cipher_wrap cmac constant_time ctr_drbg debug des dhm ecdh ecdsa ecjpake "
    "ecp ecp_curves entropy entropy_poll error gcm havege hkdf hmac_drbg md md2 md4 md5 "
    "memory_buffer_alloc mps_reader mps_trace net_sockets nist_kw oid padlock pem pk pk_wrap "
    "pkcs11 pkcs12 pkcs5 pkparse pkwrite platform platform_util poly1305 psa_crypto "
    "psa_crypto_aead psa_crypto_cipher psa_crypto_client psa_crypto_driver_wrappers "
    "psa_crypto_ecp psa_crypto_hash psa_crypto_mac psa_crypto_rsa psa_crypto_se "
    "psa_crypto_slot_management psa_crypto_storage psa_its_file ripemd160 rsa rsa_internal sha1 "
    "sha256 sha512 ssl_cache ssl_ciphersuites ssl_cli ssl_cookie ssl_msg ssl_srv ssl_ticket "
    "ssl_tls ssl_tls13_keys threading timing version version_features x509 x509_create x509_crl "
    "x509_crt x509_csr x509write_crt x509write_csr xtea"
)
MBEDTLS = Library(
    "mbedtls",
    Debian(
        "pool/main/m/mbedtls/mbedtls_2.28.3.orig.tar.gz",
        "3b4953aa55a681e084d31892d9904cc5328d6b4958ea57b90ae4b4f94ae69a8d",
        "Mbed-TLS-mbedtls-8f97ca5",
    ),
    (
        # Its timing test measures the clock with alarms; it is not about memory, and no machine is idle.
        Program(
            "selftest",
            ("programs/test/selftest.c",),
            library=_c("library/", _MBEDTLS),
            includes=("include", "library"),
            # Without this it takes the system for one that it does not know.
            options=("-D", "__unix__", "--timeout", "900"),
            arguments=("-x", "timing"),
            says=("[ All tests PASS ]",),
            count=r"^  Executed (\d+) test suites$",
            tests=26,
        ),
    ),
)

_XZ = (
    "check/check check/crc32_fast check/crc32_table check/crc64_fast check/crc64_table "
    "check/sha256 common/alone_decoder common/alone_encoder common/auto_decoder "
    "common/block_buffer_decoder common/block_buffer_encoder common/block_decoder "
    "common/block_encoder common/block_header_decoder common/block_header_encoder "
    "common/block_util common/common common/easy_buffer_encoder common/easy_decoder_memusage "
    "common/easy_encoder common/easy_encoder_memusage common/easy_preset common/file_info "
    "common/filter_buffer_decoder common/filter_buffer_encoder common/filter_common "
    "common/filter_decoder common/filter_encoder common/filter_flags_decoder "
    "common/filter_flags_encoder common/hardware_cputhreads common/hardware_physmem "
    "common/index common/index_decoder common/index_encoder common/index_hash "
    "common/lzip_decoder common/microlzma_decoder common/microlzma_encoder common/outqueue "
    "common/stream_buffer_decoder common/stream_buffer_encoder common/stream_decoder "
    "common/stream_decoder_mt common/stream_encoder common/stream_encoder_mt "
    "common/stream_flags_common common/stream_flags_decoder common/stream_flags_encoder "
    "common/string_conversion common/vli_decoder common/vli_encoder common/vli_size "
    "delta/delta_common delta/delta_decoder delta/delta_encoder lz/lz_decoder lz/lz_encoder "
    "lz/lz_encoder_mf lzma/fastpos_table lzma/lzma2_decoder lzma/lzma2_encoder "
    "lzma/lzma_decoder lzma/lzma_encoder lzma/lzma_encoder_optimum_fast "
    "lzma/lzma_encoder_optimum_normal lzma/lzma_encoder_presets rangecoder/price_table "
    "simple/arm simple/arm64 simple/armthumb simple/ia64 simple/powerpc simple/simple_coder "
    "simple/simple_decoder simple/simple_encoder simple/sparc simple/x86"
)
_XZ_TESTS = (
    "bcj_exact_size block_header check filter_flags hardware index index_hash lzip_decoder "
    "memlimit stream_flags vli"
)
_XZ_FILES = (
    "bad-0-backward_size.xz bad-0-empty-truncated.xz bad-0-footer_magic.xz "
    "bad-0-header_magic.xz bad-0-nonempty_index.xz bad-0cat-alone.xz bad-0cat-header_magic.xz "
    "bad-0catpad-empty.xz bad-0pad-empty.xz bad-1-block_header-1.xz bad-1-block_header-2.xz "
    "bad-1-block_header-3.xz bad-1-block_header-4.xz bad-1-block_header-5.xz "
    "bad-1-block_header-6.xz bad-1-check-crc32-2.xz bad-1-check-crc32.xz bad-1-check-crc64.xz "
    "bad-1-check-sha256.xz bad-1-lzma2-1.xz bad-1-lzma2-10.xz bad-1-lzma2-11.xz "
    "bad-1-lzma2-2.xz bad-1-lzma2-3.xz bad-1-lzma2-4.xz bad-1-lzma2-5.xz bad-1-lzma2-6.xz "
    "bad-1-lzma2-7.xz bad-1-lzma2-8.xz bad-1-lzma2-9.xz bad-1-stream_flags-1.xz "
    "bad-1-stream_flags-2.xz bad-1-stream_flags-3.xz bad-1-v0-uncomp-size.lz bad-1-v1-crc32.lz "
    "bad-1-v1-dict-1.lz bad-1-v1-dict-2.lz bad-1-v1-magic-1.lz bad-1-v1-magic-2.lz "
    "bad-1-v1-member-size.lz bad-1-v1-trailing-magic.lz bad-1-v1-uncomp-size.lz bad-1-vli-1.xz "
    "bad-1-vli-2.xz bad-2-compressed_data_padding.xz bad-2-index-1.xz bad-2-index-2.xz "
    "bad-2-index-3.xz bad-2-index-4.xz bad-2-index-5.xz bad-3-index-uncomp-overflow.xz "
    "bad-too_big_size-with_eopm.lzma bad-too_small_size-without_eopm-1.lzma "
    "bad-too_small_size-without_eopm-2.lzma bad-too_small_size-without_eopm-3.lzma "
    "bad-unknown_size-without_eopm.lzma good-0-empty.xz good-0cat-empty.xz "
    "good-0catpad-empty.xz good-0pad-empty.xz good-1-3delta-lzma2.xz good-1-arm64-lzma2-1.xz "
    "good-1-arm64-lzma2-2.xz good-1-block_header-1.xz good-1-block_header-2.xz "
    "good-1-block_header-3.xz good-1-check-crc32.xz good-1-check-crc64.xz good-1-check-none.xz "
    "good-1-check-sha256.xz good-1-delta-lzma2.tiff.xz good-1-empty-bcj-lzma2.xz "
    "good-1-lzma2-1.xz good-1-lzma2-2.xz good-1-lzma2-3.xz good-1-lzma2-4.xz good-1-lzma2-5.xz "
    "good-1-sparc-lzma2.xz good-1-v0-trailing-1.lz good-1-v0.lz good-1-v1-trailing-1.lz "
    "good-1-v1-trailing-2.lz good-1-v1.lz good-1-x86-lzma2.xz good-2-lzma2.xz good-2-v0-v1.lz "
    "good-2-v1-v0.lz good-2-v1-v1.lz good-known_size-with_eopm.lzma "
    "good-known_size-without_eopm.lzma good-unknown_size-with_eopm.lzma unsupported-1-v234.lz "
    "unsupported-block_header.xz unsupported-check.xz unsupported-filter_flags-1.xz "
    "unsupported-filter_flags-2.xz unsupported-filter_flags-3.xz"
)
_XZ_HAVE = (
    "HAVE_CHECK_CRC32 HAVE_CHECK_CRC64 HAVE_CHECK_SHA256 HAVE_CLOCK_GETTIME "
    "HAVE_CLOCK_MONOTONIC HAVE_DECODERS HAVE_DECODER_ARM HAVE_DECODER_ARM64 "
    "HAVE_DECODER_ARMTHUMB HAVE_DECODER_DELTA HAVE_DECODER_IA64 HAVE_DECODER_LZMA1 "
    "HAVE_DECODER_LZMA2 HAVE_DECODER_POWERPC HAVE_DECODER_SPARC HAVE_DECODER_X86 HAVE_ENCODERS "
    "HAVE_ENCODER_ARM HAVE_ENCODER_ARM64 HAVE_ENCODER_ARMTHUMB HAVE_ENCODER_DELTA "
    "HAVE_ENCODER_IA64 HAVE_ENCODER_LZMA1 HAVE_ENCODER_LZMA2 HAVE_ENCODER_POWERPC "
    "HAVE_ENCODER_SPARC HAVE_ENCODER_X86 HAVE_INTTYPES_H HAVE_LIMITS_H HAVE_LZIP_DECODER "
    "HAVE_MF_BT2 HAVE_MF_BT3 HAVE_MF_BT4 HAVE_MF_HC3 HAVE_MF_HC4 HAVE_STDBOOL_H HAVE_STDINT_H "
    "HAVE_STRING_H HAVE__BOOL HAVE___BUILTIN_BSWAPXX MYTHREAD_POSIX TUKLIB_CPUCORES_SYSCONF "
    "TUKLIB_PHYSMEM_SYSCONF"
)
_XZ_INCLUDES = (
    "src/common",
    "src/liblzma/api",
    "src/liblzma",
    *(f"src/liblzma/{name}" for name in ("check", "common", "delta", "lz", "lzma", "rangecoder", "simple")),
)
_XZ_SOURCES = (
    *_c("src/liblzma/", _XZ),
    "src/common/tuklib_cpucores.c",
    "src/common/tuklib_physmem.c",
)
XZ = Library(
    "xz",
    Debian(
        "pool/main/x/xz-utils/xz-utils_5.4.1.orig.tar.xz",
        "5d9827aa1875b21c288f78864bb26d2650b436ea8d2cad364e4921eb6266a5a5",
        "xz-5.4.1",
    ),
    (
        # test_index has no output: it returns 0, or aborts.
        Program(
            "tests",
            _c("tests/test_", _XZ_TESTS),
            library=_XZ_SOURCES,
            includes=_XZ_INCLUDES,
            options=("-D", "HAVE_CONFIG_H", "--timeout", "900"),
            files={f"files/{name}": f"tests/files/{name}" for name in _XZ_FILES.split()},
            each=True,
            count=r"^# PASS: +(\d+)$",
            tests=45,
        ),
        Program(
            "files",
            own=("xz_files.c",),
            library=_XZ_SOURCES,
            includes=_XZ_INCLUDES,
            options=("-D", "HAVE_CONFIG_H", "--timeout", "900"),
            arguments=tuple(_XZ_FILES.split()),
            files={name: f"tests/files/{name}" for name in _XZ_FILES.split()},
            count=r" status \d+, \d+ bytes, crc64 ",
            tests=168,
            host=True,
        ),
    ),
    headers={
        "config.h": "".join(f"#define {name} 1\n" for name in _XZ_HAVE.split())
        + "#define SIZEOF_SIZE_T 8\n#define TUKLIB_SYMBOL_PREFIX lzma_\n"
    },
)

_ZSTD = (
    "common/debug common/entropy_common common/error_private common/fse_decompress common/pool "
    "common/threading common/xxhash common/zstd_common compress/fse_compress compress/hist "
    "compress/huf_compress compress/zstd_compress compress/zstd_compress_literals "
    "compress/zstd_compress_sequences compress/zstd_compress_superblock "
    "compress/zstd_double_fast compress/zstd_fast compress/zstd_lazy compress/zstd_ldm "
    "compress/zstd_opt compress/zstdmt_compress decompress/huf_decompress decompress/zstd_ddict "
    "decompress/zstd_decompress decompress/zstd_decompress_block dictBuilder/cover "
    "dictBuilder/divsufsort dictBuilder/fastcover dictBuilder/zdict legacy/zstd_v01 "
    "legacy/zstd_v02 legacy/zstd_v03 legacy/zstd_v04 legacy/zstd_v05 legacy/zstd_v06 "
    "legacy/zstd_v07"
)
_ZSTD_SOURCES = _c("lib/", _ZSTD)
_ZSTD_TESTS = (
    *_ZSTD_SOURCES,
    *(f"programs/{name}.c" for name in ("datagen", "timefn", "util")),
    "tests/external_matchfinder.c",
    "tests/seqgen.c",
)
_ZSTD_INCLUDES = ("lib", *(f"lib/{name}" for name in ("common", "compress", "dictBuilder", "legacy")))
_ZSTD_MACROS = (
    *("-D", "ZSTD_MULTITHREAD", "-D", "ZSTD_LEGACY_SUPPORT=4", "-D", "ZSTD_DISABLE_ASM"),
    *("-D", "XXH_NAMESPACE=ZSTD_"),
)
# It does not know this system, and so does not ask <unistd.h> for its version of POSIX.
_ZSTD_SYSTEM = ("-D", "PLATFORM_POSIX_VERSION=200809L")
_ZSTD_FILES = (
    "lib/compress/zstd_ldm.c",
    *(f"tests/golden-compression/{name}" for name in ("http", "large-literal-and-match-lengths")),
)
ZSTD = Library(
    "zstd",
    Debian(
        "pool/main/libz/libzstd/libzstd_1.5.4+dfsg2.orig.tar.xz",
        "8cf4bbb65e77ec348d052c8d6230eba66d435bddf64c8b5be2fcb16880c19953",
        "zstd-1.5.4",
    ),
    (
        # -t1: without the fixed tests.
        Program(
            "tests",
            _c("tests/", "fuzzer zstreamtest invalidDictionaries legacy poolTests"),
            library=_ZSTD_TESTS,
            includes=(*_ZSTD_INCLUDES, "programs"),
            options=(*_ZSTD_MACROS, *_ZSTD_SYSTEM, "--timeout", "900"),
            arguments=("-v", "-t1", "-i60", "-s7", "--no-big-tests"),
            each=True,
            count=r"(\d+) +fuzzer tests completed",
            tests=121,
            says=("Frame Decoding OK", "PASS: all POOL tests"),
        ),
        Program(
            "newapi",
            ("tests/zstreamtest.c",),
            library=_ZSTD_TESTS,
            includes=(*_ZSTD_INCLUDES, "programs"),
            options=(*_ZSTD_MACROS, *_ZSTD_SYSTEM, "--timeout", "900"),
            arguments=("--newapi", "-v", "-t1", "-i60", "-s7", "--no-big-tests"),
            count=r"(\d+) +fuzzer tests completed",
            tests=60,
        ),
        Program(
            "files",
            own=("zstd_files.c",),
            library=_ZSTD_SOURCES,
            includes=_ZSTD_INCLUDES,
            options=(*_ZSTD_MACROS, "--timeout", "900"),
            arguments=_ZSTD_FILES,
            files={name: name for name in _ZSTD_FILES},
            count=r" bytes, checksum [0-9a-f]{8}, same$",
            tests=103,
            says=("zstd poisons its memory if the compiler says so: yes",),
            host=True,
        ),
    ),
)

_BROTLI = (
    "common/constants common/context common/dictionary common/platform common/transform "
    "dec/bit_reader dec/decode dec/huffman dec/state enc/backward_references "
    "enc/backward_references_hq enc/bit_cost enc/block_splitter enc/brotli_bit_stream "
    "enc/cluster enc/command enc/compress_fragment enc/compress_fragment_two_pass "
    "enc/dictionary_hash enc/encode enc/encoder_dict enc/entropy_encode enc/fast_log "
    "enc/histogram enc/literal_cost enc/memory enc/metablock enc/static_dict enc/utf8_util"
)
_BROTLI_FILES = ("c/dec/huffman.c", "tests/testdata/empty", "tests/testdata/ukkonooa")
BROTLI = Library(
    "brotli",
    Debian(
        "pool/main/b/brotli/brotli_1.0.9.orig.tar.gz",
        "f9e8d81d0405ba66d181529af42a3354f838c939095ff99930da6aa9cdf6fe46",
        "brotli-1.0.9",
    ),
    (
        Program(
            "files",
            own=("brotli_files.c",),
            library=_c("c/", _BROTLI),
            includes=("c/include",),
            options=("--timeout", "900"),
            arguments=_BROTLI_FILES,
            files={name: name for name in _BROTLI_FILES},
            count=r" bytes, checksum [0-9a-f]{8}, same$",
            tests=27,
            host=True,
        ),
    ),
)

_LUA = (
    "lapi lauxlib lbaselib lcode lcorolib lctype ldblib ldebug ldo ldump lfunc lgc linit liolib "
    "llex lmathlib lmem loadlib lobject lopcodes loslib lparser lstate lstring lstrlib ltable "
    "ltablib ltm lundump lutf8lib lvm lzio"
)
_LUA_TESTS = (
    "all api attrib big bitwise bwcoercion calls closure code constructs coroutine cstack db "
    "errors events files gc gengc goto heavy literals locals main math nextvar pm sort strings "
    "tpack tracegc utf8 vararg verybig"
)
# _U: the tests for users, without those that start programs or need gigabytes. musl's setlocale() takes every
# name and keeps the point for decimals, so the tests must not believe that there is a locale with a comma.
LUA_BEFORE = (
    "_U = true; local set = os.setlocale; os.setlocale = "
    "function(name, ...) return name ~= 'pt_BR' and name ~= 'ptb' and set(name, ...) or nil end"
)
LUA = Library(
    "lua",
    # It has the interpreter and its tests as their authors keep them, in one folder.
    PyPI(
        "lupa==2.4",
        "5300d21f81aa1bd4d45f55e31dddba3b879895696068a3f84cfcb5fd9148aacd",
        "lupa-2.4/third-party/lua54",
    ),
    (
        Program(
            "tests",
            ("lua.c",),
            library=_c("", _LUA),
            options=("--env", "PATH=/bin", "--timeout", "1800"),
            arguments=("-e", LUA_BEFORE, "all.lua"),
            files={f"{name}.lua": f"testes/{name}.lua" for name in _LUA_TESTS.split()},
            count=r"^\*\*\*\*\* FILE '\w+\.lua'\*\*\*\*\*$",
            tests=26,
            says=("final OK !!!",),
        ),
    ),
)

SQLITE = Library(
    "sqlite",
    Crate(crates.Crate("libsqlite3-sys", "0.28.0", OWN / "sqlite", "sqlite3")),
    (
        Program(
            "statements",
            own=("sqlite_statements.c",),
            library=("sqlite3.c",),
            includes=("",),
            options=(
                *("-D", "SQLITE_ENABLE_FTS5", "-D", "SQLITE_ENABLE_MATH_FUNCTIONS"),
                *("-D", "SQLITE_ENABLE_RTREE", "--timeout", "1800"),
            ),
            count=r"^\d+: \d+ rows, [0-9a-f]{8}, status \d+$",
            tests=10000,
            says=("10000 statements, integrity: ok",),
            host=True,
        ),
    ),
)

_CHECK = "check check_error check_list check_log check_msg check_pack check_print check_run check_str"
_CHECK_HAVE = (
    "HAVE_DECL_ALARM HAVE_DECL_CLOCK_GETTIME HAVE_DECL_FPCLASSIFY HAVE_DECL_GETLINE "
    "HAVE_DECL_GETTIMEOFDAY HAVE_DECL_ISNAN HAVE_DECL_LOCALTIME_R HAVE_DECL_SETENV "
    "HAVE_DECL_SIGACTION HAVE_DECL_STRDUP HAVE_DECL_STRSIGNAL HAVE_DECL_FILENO HAVE_DECL_PIPE "
    "HAVE_DECL_PUTENV HAVE_DECL_UNSETENV HAVE_DECL_TIMER_CREATE HAVE_DECL_TIMER_DELETE "
    "HAVE_DECL_TIMER_SETTIME HAVE_LIBRT HAVE_MALLOC HAVE_MKSTEMP HAVE_REALLOC HAVE_SNPRINTF "
    "HAVE_STDINT_H HAVE_STRUCT_TIMESPEC_TV_NSEC HAVE_STRUCT_ITIMERSPEC_IT_VALUE HAVE_SYS_TIME_H "
    "HAVE_UNISTD_H HAVE_VSNPRINTF"
)
# The test framework of lwIP.
CHECK = Library(
    "check",
    Debian(
        "pool/main/c/check/check_0.15.2.orig.tar.gz",
        "8451b68ac5d6f3157b24f22eceff575bcf566264f6d78f3852f89d4e08cf42e1",
        "check-0.15.2",
    ),
    headers={
        "config.h": "".join(f"#define {name} 1\n" for name in _CHECK_HAVE.split()) + "#define HAVE_FORK 0\n"
    },
)
_LWIP = (
    "core/altcp core/altcp_alloc core/altcp_tcp core/def core/dns core/inet_chksum core/init "
    "core/ip core/mem core/memp core/netif core/pbuf core/raw core/stats core/sys core/tcp "
    "core/tcp_in core/tcp_out core/timeouts core/udp core/ipv4/autoip core/ipv4/dhcp "
    "core/ipv4/etharp core/ipv4/icmp core/ipv4/igmp core/ipv4/ip4 core/ipv4/ip4_addr "
    "core/ipv4/ip4_frag core/ipv6/dhcp6 core/ipv6/ethip6 core/ipv6/icmp6 core/ipv6/inet6 "
    "core/ipv6/ip6 core/ipv6/ip6_addr core/ipv6/ip6_frag core/ipv6/mld6 core/ipv6/nd6 "
    "api/api_lib api/api_msg api/err api/if_api api/netbuf api/netdb api/netifapi api/sockets "
    "api/tcpip apps/mdns/mdns apps/mqtt/mqtt netif/ethernet"
)
_LWIP_TESTS = (
    "api/test_sockets arch/sys_arch core/test_def core/test_mem core/test_netif core/test_pbuf "
    "core/test_timers dhcp/test_dhcp etharp/test_etharp ip4/test_ip4 ip6/test_ip6 "
    "lwip_unittests mdns/test_mdns mqtt/test_mqtt tcp/tcp_helper tcp/test_tcp tcp/test_tcp_oos "
    "udp/test_udp"
)
LWIP = Library(
    "lwip",
    Debian(
        "pool/main/l/lwip/lwip_2.1.3+dfsg1.orig.tar.xz",
        "0a8276d09fc4e97bbba2f953d74af2388fc2195ea156be9d7589e297a68fde24",
        "lwip-2.1.3",
    ),
    (
        Program(
            "tests",
            _c("test/unit/", _LWIP_TESTS),
            library=(
                *_c("src/", _LWIP),
                *_c("check:src/", _CHECK),
                "check:lib/libcompat.c",
            ),
            includes=("test/unit", "src/include", "check:", "check:src", "check:lib"),
            options=("-D", "HAVE_CONFIG_H", "-D", "LWIP_UNITTESTS_NOFORK", "--timeout", "900"),
            count=r"^100%: Checks: (\d+), Failures: 0, Errors: 0$",
            tests=112,
        ),
    ),
    # Each port of it says this about its compiler and its C library.
    headers={
        "arch/cc.h": "#include <stdlib.h>\n#include <sys/time.h>\n#define LWIP_ERRNO_INCLUDE <errno.h>\n"
        "#define LWIP_RAND() ((u32_t)rand())\n#define LWIP_TIMEVAL_PRIVATE 0\n"
    },
    uses=(CHECK,),
)

# Those of the suite libraries-small.
SMALL = ("cjson", "oniguruma.utf8", "brotli", "lwip")
LIBRARIES = (LIBYAML, CJSON, EXPAT, ONIGURUMA, MBEDTLS, BROTLI, XZ, ZSTD, LUA, SQLITE, LWIP)
