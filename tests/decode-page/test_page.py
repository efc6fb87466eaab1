# SPDX-License-Identifier: MIT
"""The page of `./redzone decode --html` in a real browser: scripts, keyboard, colours, widths, hostile text.

Pictures of it are kept in build/logs/decode-page, for people to look at.
"""

import base64
import json

import pytest
import samples
from packages import SITE, base

PICTURES = base.LOGS / "decode-page"
PHONE = 360

# How many texts there are, and those whose contrast with their background is below 4.5 to 1, as in WCAG 2.2.
CONTRAST = """
const parse = (text) => text.match(/[\\d.]+/g).map(Number);
const light = (rgb) => {
  const [r, g, b] = rgb.slice(0, 3).map((one) => {
    one /= 255;
    return one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (element) => {
  if (element.closest("svg")) {
    const part = element.closest("g.part:not(.gap)");
    if (part) return parse(getComputedStyle(part.querySelector("rect")).fill);
  }
  for (let one = element; one; one = one.parentElement) {
    const color = parse(getComputedStyle(one).backgroundColor);
    if (color.length < 4 || color[3] > 0) return color;
  }
  return [255, 255, 255];
};
let count = 0;
const bad = [];
const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walk.nextNode()) {
  const element = walk.currentNode.parentElement;
  const off = element.closest("title, script, button:disabled") || !element.checkVisibility();
  if (off || !walk.currentNode.data.trim()) continue;
  const style = getComputedStyle(element);
  const front = parse(element.closest("svg") ? style.fill : style.color);
  const [one, two] = [light(front), light(behind(element))].sort((a, b) => b - a);
  const ratio = (one + 0.05) / (two + 0.05);
  count++;
  const name = `${element.tagName}.${element.className}: ${element.textContent.slice(0, 40)}`;
  if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} ${name}`);
}
return [count, [...new Set(bad)]];
"""


def picture(page, name):
    """Keep a picture of the whole page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    shot = page.driver.execute_cdp_cmd(
        "Page.captureScreenshot", {"captureBeyondViewport": True, "format": "png"}
    )
    (PICTURES / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))


def complaints(page):
    return [entry["message"] for entry in page.driver.get_log("browser")]


def requested(page):
    """Return the addresses that the page asked for, itself left out."""
    events = (json.loads(entry["message"])["message"] for entry in page.driver.get_log("performance"))
    urls = [one["params"]["request"]["url"] for one in events if one["method"] == "Network.requestWillBeSent"]
    return [url for url in urls if url.partition("#")[0] != page.address and not url.startswith("data:")]


def press(page, *keys):
    """Press @keys where the focus is."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    for key in keys:
        ActionChains(page.driver).send_keys(getattr(Keys, key, key)).perform()


def focused(page, what):
    return page.run(f"return document.activeElement.{what}")


@pytest.mark.parametrize("name", ("golden", "full"))
@pytest.mark.parametrize("dark", (False, True), ids=("light", "dark"))
@pytest.mark.parametrize("width", (1200, PHONE), ids=("desktop", "phone"))
def test_readable(page, name, dark, width):
    """No message on the console, no network, nothing wider than the screen, and enough contrast."""
    log = samples.full() if name == "full" else samples.decoded(*samples.GOLDEN)
    shown = page(log, dark=dark, width=width)
    picture(shown, f"{name}-{'dark' if dark else 'light'}-{width}")
    assert complaints(shown) == []
    assert requested(shown) == []
    assert shown.run("return document.documentElement.scrollWidth") <= width
    background = shown.run("return getComputedStyle(document.body).backgroundColor")
    assert (background != "rgb(255, 255, 255)") == dark
    count, bad = shown.run(CONTRAST)
    assert count > 100
    assert bad == []
    # On a phone, letters keep their size in the drawing.
    strip = "narrow" if width == PHONE else "wide"
    letters = shown.run(
        f"return [...document.querySelectorAll('.strip.{strip} text')].map("
        "(one) => one.getBoundingClientRect().height).filter(Boolean)"
    )
    assert letters and min(letters) >= 10


@pytest.mark.parametrize("dark", (False, True), ids=("light", "dark"))
def test_accessibility_rules(page, dark):
    """axe finds nothing against WCAG 2 A and AA, nor against its own best practices."""
    axe = (SITE / "axe_playwright_python" / "axe.min.js").read_text(encoding="utf-8")
    shown = page(samples.full(), dark=dark)
    shown.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    shown.run(axe)
    found = shown.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
    assert len(found["passes"]) > 15
    assert [
        (one["id"], one["nodes"][0]["html"][:200], one["nodes"][0]["failureSummary"])
        for one in found["violations"]
    ] == []


def test_screen_reader_gets_the_drawing(page):
    """The accessibility tree has the access, the parts of the memory, and each cell's meaning."""
    shown = page(samples.full())
    tree = shown.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    nodes = [
        (
            one["role"]["value"],
            one.get("name", {}).get("value", ""),
            one.get("description", {}).get("value", ""),
        )
        for one in tree
        if not one.get("ignored") and "role" in one
    ]
    drawings = [name for role, name, _ in nodes if role in ("image", "img")]
    expected = "Write of 1 byte at ffff0000003530ad: just past the end of the object."
    assert any(one.startswith(expected) and "13 bytes allocated object" in one for one in drawings)
    cells = [(name, description) for role, name, description in nodes if role == "gridcell"]
    assert (
        "05",
        "ffff0000003530a8: 05, only the first 5 of 8 bytes accessible; object; accessed here",
    ) in cells
    roles = {role for role, _, _ in nodes}
    assert {"banner", "main", "contentinfo", "search", "slider", "grid", "rowheader"} <= roles


def test_keyboard(page):
    """Everything can be reached and used without a mouse."""
    shown = page(samples.full())
    press(shown, "TAB")
    assert focused(shown, "textContent") == "Skip to the list of bugs"
    press(shown, "ENTER", "TAB")
    assert focused(shown, "id") == "words"
    # The slider.
    stepper = ".bug .stepper"
    shown.run(f"document.querySelector('{stepper} input').focus()")
    press(shown, "ARROW_RIGHT")
    said = f"return document.querySelector('{stepper} output').textContent"
    assert shown.run(said).startswith("2 of 3: ")
    visible = "return [...document.querySelectorAll('#bug-1 .step')].map((one) => !one.hidden)"
    assert shown.run(visible) == [False, True, False]
    press(shown, "END")
    assert shown.run(visible) == [False, False, True]
    press(shown, "TAB")
    # "Next" is off at the end, so the focus goes on.
    assert focused(shown, "textContent") != "Next"
    shown.run(f"document.querySelector('{stepper} button').focus()")
    press(shown, "ENTER", "ENTER")
    assert shown.run(visible) == [True, False, False]
    assert focused(shown, "textContent") == "Next"
    # The grid: one stop for Tab, and arrow keys inside.
    grid = "#bug-1 .step:not([hidden]) .grid"
    assert shown.run(f"return document.querySelectorAll('{grid} [tabindex=\"0\"]').length") == 1
    shown.run(f"document.querySelector('{grid} [tabindex=\"0\"]').focus()")
    assert focused(shown, "textContent") == "05"
    press(shown, "ARROW_RIGHT")
    assert focused(shown, "textContent") == "fc"
    about = f"return document.querySelector('{grid} + .about').textContent"
    assert shown.run(about) == "ffff0000003530b0: fc, slab redzone"
    press(shown, "HOME", "ARROW_UP", "END", "ARROW_DOWN", "ARROW_DOWN", "ARROW_DOWN", "ARROW_RIGHT")
    assert shown.run(about) == "ffff000000353178: --, not readable"
    outline = shown.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    assert complaints(shown) == []


def test_mouse(page):
    """The meaning of a cell shows while the pointer is on it; a tap selects it."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.by import By

    shown = page(samples.full())
    grid = shown.driver.find_element(By.CSS_SELECTOR, "#bug-1 .step:not([hidden]) .grid")
    cell = grid.find_elements(By.CSS_SELECTOR, ".cell")[3]
    ActionChains(shown.driver).scroll_to_element(cell).move_to_element(cell).perform()
    about = "return document.querySelector('#bug-1 .about').textContent"
    assert shown.run(about) == "ffff000000353018: 03, only the first 3 of 8 bytes accessible"
    cell.click()
    assert focused(shown, "textContent") == "03"


def test_filter_and_links(page):
    """The filter hides bugs, and a link to a hidden report shows it."""
    shown = page(samples.full())
    shown.run("document.getElementById('words').focus()")
    press(shown, "wifi_timer")
    visible = "return [...document.querySelectorAll('.bug')].map((one) => !one.hidden)"
    assert shown.run(visible) == [False, True, False]
    assert shown.run("return document.getElementById('found').textContent") == "1 of 3"
    shown.run("location.hash = '#report-3'; dispatchEvent(new HashChangeEvent('hashchange'))")
    assert shown.run(visible) == [True, True, True]
    assert shown.run("return document.getElementById('report-3').checkVisibility()")
    assert not shown.run("return document.getElementById('report-1').checkVisibility()")
    shown.run("document.getElementById('new').click()")
    assert shown.run(visible) == [True, True, False]
    again = page(samples.full(), fragment="#report-2")
    assert again.run("return document.getElementById('report-2').checkVisibility()")


def test_one_object(page):
    """Reports of one object, of several bugs, have a slider of their own, in the order of time."""
    shown = page(samples.full())
    titles = "return [...document.querySelectorAll('.group .step')].map((one) => one.dataset.title)"
    found = shown.run(titles)
    assert len(found) == 4
    assert found[-1] == "BUG: KASAN: slab-use-after-free in wifi_timer"
    assert shown.run("return document.querySelector('.group h3').textContent") == (
        "struct wifi object at ffff0000003530a0"
    )


def test_without_scripts(page):
    """All of it is there for those who run no scripts, and nothing that would not work."""
    shown = page(samples.full(), scripts=False)
    picture(shown, "no-scripts")
    root = shown.driver.execute_cdp_cmd("DOM.getDocument", {})["root"]["nodeId"]

    def count(selector):
        found = shown.driver.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": root, "selector": selector})
        return len(found["nodeIds"])

    assert count(".report") == count(".report:not([hidden])") == 5
    assert count(".stepper") == 0
    assert count("form[hidden]") == 1


@pytest.mark.parametrize("scripts", (True, False), ids=("scripts", "no-scripts"))
def test_hostile_text(page, scripts):
    """Names that hold HTML, scripts or escapes are text: nothing runs, loads, or becomes an element."""
    shown = page(samples.hostile(), scripts=scripts)
    picture(shown, f"hostile-{'scripts' if scripts else 'no-scripts'}")
    assert requested(shown) == []
    # The policy would complain here if it had to stop anything.
    assert complaints(shown) == []
    text = shown.path.read_text(encoding="utf-8")
    assert not any(letter in text for letter in "\x1b\x07\x9b\x08\u202e\u2066")
    if not scripts:
        return
    assert shown.run("return window.broken") is None
    elements = shown.run("return [...document.querySelectorAll('*')].map((one) => one.localName)")
    assert (
        elements.count("script") == elements.count("style") == elements.count("title") - elements.count("g")
    )
    assert not {"img", "iframe", "base", "textarea", "object", "embed"} & set(elements)
    attributes = shown.run(
        "return [...document.querySelectorAll('*')].flatMap((one) => one.getAttributeNames())"
    )
    assert not {one for one in attributes if one.startswith("on") or one in ("style", "srcdoc", "autofocus")}
    links = shown.run("return [...document.querySelectorAll('a')].map((one) => one.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    assert "<script>window.broken=1</script>" in shown.run("return document.body.textContent")


def test_the_policy_holds_by_itself(page):
    """Even markup that got through would not run or load anything."""
    shown = page(samples.full())
    broken = shown.path.read_text(encoding="utf-8").replace(
        "<main>", "<main><script>window.broken=1</script><img src=/x.png onerror='window.broken=1'>"
    )
    shown.path.write_text(broken, encoding="utf-8")
    shown.driver.get(shown.address + "?again")
    assert shown.run("return window.broken") is None
    assert len([one for one in complaints(shown) if "Content Security Policy" in one]) >= 2
    assert "/page.html?again" in shown.served
    assert "/x.png" not in shown.served


def test_print(page):
    """On paper all reports of a slider are there."""
    shown = page(samples.full())
    shown.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    visible = "return [...document.querySelectorAll('.report')].every((one) => one.checkVisibility())"
    assert shown.run(visible)
    shown.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
