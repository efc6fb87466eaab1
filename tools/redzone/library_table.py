# SPDX-License-Identifier: MIT
"""The public libraries that `./redzone test libraries` runs; redzone/libraries.py says what the fields mean.

The numbers of tests are those of a native build of the same version, counted once.
"""

from redzone.libraries import Library, Program
from redzone.library_source import Debian

_CJSON_TESTS = (
    "cjson_add",
    "compare_tests",
    "json_patch_tests",
    "minify_tests",
    "misc_tests",
    "misc_utils_tests",
    "old_utils_tests",
    "parse_array",
    "parse_examples",
    "parse_hex4",
    "parse_number",
    "parse_object",
    "parse_string",
    "parse_value",
    "parse_with_opts",
    "print_array",
    "print_number",
    "print_object",
    "print_string",
    "print_value",
    "readme_examples",
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
            tuple(f"tests/{name}.c" for name in _CJSON_TESTS),
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
            tuple(
                f"tests/{name}.c"
                for name in (
                    "run-dumper",
                    "run-emitter",
                    "run-loader",
                    "run-parser",
                    "run-scanner",
                    "test-reader",
                    "test-version",
                )
            ),
            library=tuple(
                f"src/{name}.c"
                for name in (
                    "api",
                    "dumper",
                    "emitter",
                    "loader",
                    "parser",
                    "reader",
                    "scanner",
                    "writer",
                )
            ),
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
            tuple(
                f"expat/tests/{name}.c"
                for name in ("runtests", "chardata", "structdata", "memcheck", "minicheck")
            ),
            library=tuple(f"expat/lib/{name}.c" for name in ("xmlparse", "xmlrole", "xmltok")),
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

_ONIGURUMA = tuple(
    f"src/{name}.c"
    for name in (
        "regparse",
        "regcomp",
        "regexec",
        "regenc",
        "regerror",
        "regext",
        "regsyntax",
        "regtrav",
        "regversion",
        "st",
        "unicode",
        "unicode_unfold_key",
        "unicode_fold1_key",
        "unicode_fold2_key",
        "unicode_fold3_key",
        "ascii",
        "utf8",
        "utf16_be",
        "utf16_le",
        "utf32_be",
        "utf32_le",
        "onig_init",
    )
)
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
            library=tuple(f"library/{name}.c" for name in _MBEDTLS.split()),
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

LIBRARIES = (LIBYAML, CJSON, EXPAT, ONIGURUMA, MBEDTLS)
