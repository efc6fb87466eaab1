# SPDX-License-Identifier: MIT
"""SARIF and JUnit files of real, made and hostile logs, against the schemas of those who read them."""

import io
import json
import random
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import samples
from redzone.decode import model
from redzone.decode.output import as_junit, as_map, as_sarif

ROOTS = [Path("/src")]
LOGS = {
    "golden": lambda: samples.decoded(*samples.GOLDEN),
    "full": samples.full,
    "hostile": samples.hostile,
    "empty": model.Log,
}


@pytest.fixture(params=LOGS)
def log(request):
    return LOGS[request.param]()


def written(module, log, *arguments):
    """Return what write() of @module gives for @log, which must be UTF-8."""
    stream = io.StringIO()
    module.write(stream, log, ROOTS, *arguments)
    return stream.getvalue().encode().decode()


@pytest.mark.parametrize("baseline", (False, True))
def test_sarif_is_valid(sarif, log, baseline):
    data = json.loads(written(as_sarif, log, baseline))
    sarif(data)
    assert len(data["runs"][0]["results"]) == len(log.bugs)


def test_junit_is_valid(junit, log):
    text = written(as_junit, log)
    junit(text)
    root = ET.fromstring(text)
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(names) == max(1, len(log.bugs)) + len(log.cases)
    assert int(root.get("failures")) == len(list(root.iter("failure")))


def test_the_schemas_refuse(sarif, junit):
    """A validator that accepts anything would prove nothing."""
    data = as_sarif.document(samples.full(), ROOTS)
    data["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(Exception, match="startLine"):
        sarif(data)
    with pytest.raises(Exception, match="name"):
        junit('<testsuites><testsuite tests="1" failures="0" errors="0"/></testsuites>')


def cut(value, random_):
    """Return @value with random parts missing, as in a log that lost lines."""
    if isinstance(value, list):
        return [cut(one, random_) for one in value if random_.random() < 0.8]
    if isinstance(value, dict):
        return {key: cut(one, random_) for key, one in value.items() if random_.random() < 0.8}
    if isinstance(value, int) and not isinstance(value, bool) and random_.random() < 0.2:
        return random_.choice((0, 1, -1, 2**31, 2**64 - 1, 2**80))
    return value


def test_logs_with_parts_missing(sarif, junit):
    from redzone.decode.output import as_html

    random_ = random.Random(15)
    whole = [model.to_json(samples.full()), model.to_json(samples.hostile())]
    for number in range(60):
        data = {**cut(whole[number % 2], random_), "schema": model.SCHEMA}
        log = model.from_json(data)
        sarif(json.loads(written(as_sarif, log)))
        junit(written(as_junit, log))
        as_html.render(log, ROOTS).encode()


def test_the_object_of_a_double_free_is_drawn_as_freed():
    log = samples.decoded(samples.ROOT / "tests" / "golden" / "double-free.log")
    drawing = as_map.draw(log.bugs[0].reports[0])
    kinds = [part.kind for part in drawing.parts]
    assert "freed" in kinds and "object" not in kinds
