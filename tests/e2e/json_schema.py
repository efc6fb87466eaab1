# SPDX-License-Identifier: MIT
"""Makes docs/use/json.schema.json of the TypeScript in the documents, and checks data against it."""

import json
import re

from redzone.core.base import ROOT

PATH = ROOT / "docs" / "use" / "json.schema.json"
DOCUMENTS = ("decode.md", "run.md", "each.md")
_SIMPLE = {"string": {"type": "string"}, "number": {"type": "number"}, "boolean": {"type": "boolean"}}
# What the files are: those of decode, of run, and of run --each.
ROOTS = ("Log", "Result", "Verdicts")


def interfaces():
    """Return {name: {key: (type, is it optional, comment)}} of all interfaces in the documents."""
    found = {}
    for document in DOCUMENTS:
        text = (ROOT / "docs" / "use" / document).read_text(encoding="utf-8")
        for block in re.findall(r"^```ts\n(.*?)^```", text, re.M | re.S):
            for name, base, body in re.findall(
                r"^interface (\w+)(?: extends (\w+))? \{\n(.*?)^\}", block, re.M | re.S
            ):
                keys = re.findall(r"^  (\w+)(\??): (.*?)(?: +// (.*))?$", body, re.M)
                assert len(keys) == len(body.splitlines()), f"{document}: {name}"
                own = {key: (kind, optional == "?", comment) for key, optional, kind, comment in keys}
                found[name] = found.get(base, {}) | own
    return found


def _type(text):
    """Return the schema of the type @text."""
    text = text.strip()
    if text.endswith("[]"):
        return {"type": "array", "items": _type(text[:-2].removeprefix("(").removesuffix(")"))}
    if found := re.fullmatch(r"\{\[\w+: string\]: (.*)\}", text):
        return {"type": "object", "additionalProperties": _type(found[1])}
    if "|" in text:
        parts = text.split("|")
        if all(part.startswith('"') for part in parts):
            return {"enum": [json.loads(part) for part in parts]}
        return {"anyOf": [_type(part) for part in parts]}
    if text == "Address":
        return {"type": "string", "pattern": "^0x[0-9a-f]+$"}
    if re.fullmatch(r'\d+|".*"', text):
        return {"const": json.loads(text)}
    return {"type": "null"} if text == "null" else _SIMPLE.get(text) or {"$ref": f"#/$defs/{text}"}


def make():
    """Return the schema that the documents describe."""
    definitions = {}
    for name, keys in interfaces().items():
        properties = {}
        for key, (kind, _, comment) in keys.items():
            properties[key] = _type(kind) | ({"description": comment} if comment else {})
        definitions[name] = {
            "type": "object",
            "required": [key for key, (_, optional, _) in keys.items() if not optional],
            "properties": properties,
        }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "What redzone decode, run and run --each write with --json",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in ROOTS],
        "$defs": definitions,
    }


_PYTHON = {
    "object": dict,
    "array": list,
    "string": str,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def errors(data, schema, whole, where="$"):
    """Return what is wrong with @data by @schema, a part of the schema @whole. A key that no schema knows is
    an error here, although later versions may add keys."""
    if "$ref" in schema:
        return errors(data, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, where)
    if "anyOf" in schema:
        results = [errors(data, one, whole, where) for one in schema["anyOf"]]
        return [] if [] in results else min(results, key=len)
    if "enum" in schema or "const" in schema:
        accepted = schema.get("enum", [schema.get("const")])
        return [] if data in accepted else [f"{where}: {data!r} is none of {accepted}"]
    kind = schema["type"]
    if not isinstance(data, _PYTHON[kind]) or (kind == "number" and isinstance(data, bool)):
        return [f"{where}: {data!r} is no {kind}"]
    if kind == "string":
        good = re.search(schema.get("pattern", ""), data)
        return [] if good else [f"{where}: {data!r} does not match {schema['pattern']}"]
    if kind == "array":
        return [error for one in data for error in errors(one, schema["items"], whole, f"{where}[]")]
    if kind != "object":
        return []
    found = [f"{where}: {key} is missing" for key in schema.get("required", ()) if key not in data]
    for key, value in data.items():
        part = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
        found += (
            [f"{where}: {key} is not described"]
            if part is None
            else errors(value, part, whole, f"{where}.{key}")
        )
    return found


def check(data, name):
    """Assert that @data is what the schema's file calls @name, one of ROOTS."""
    whole = json.loads(PATH.read_text(encoding="utf-8"))
    assert errors(data, {"$ref": f"#/$defs/{name}"}, whole) == []
    # A reader need not know which of them it is.
    assert errors(data, whole, whole) == []
