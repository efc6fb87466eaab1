# SPDX-License-Identifier: MIT
"""The page of ./redzone decode in a real browser, and its files for CI against their schemas.

The tests are in tests/decode-page, for pytest. What they use of package registries is pinned by hash there,
and goes to build/decode-page. Without a browser or a registry the tests that need it are skipped by name.
"""

from redzone.testing.suites import _pytest

# It fetches packages for more than a minute, and a browser if that is missing.
SLOW = True
run = _pytest.suite("tests/decode-page", "chromium", "chromedriver")
