# SPDX-License-Identifier: MIT
"""`./redzone merge`: one result of the parts of `./redzone run --each --shard`, from several machines."""

import json
from pathlib import Path

import click

from redzone.core import base
from redzone.core.base import Failure
from redzone.run import each


def _read(name):
    """Return what the file @name of --json says: (index of its part, parts, programs of all, its records)."""
    try:
        data = json.loads(Path(name).read_text(encoding="utf-8"))
        if "error" in data:
            raise Failure(f"'{name}' is not complete: {data['error']}")
        records = data["programs"]
        shard = data.get("shard", {"index": 1, "count": 1, "total": len(records)})
        [(record["number"], record["file"], record["ok"], record["end"]) for record in records]
        return int(shard["index"]), int(shard["count"]), int(shard["total"]), records
    except OSError as error:
        raise Failure(f"'{name}' cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise Failure(f"'{name}' is not a file of --json: {type(error).__name__}: {error}") from None


def _join(names):
    """Return the records of all parts, in order. Raise Failure if these are not the parts of one run."""
    parts, records = {}, {}
    for name in names:
        index, count, total, found = _read(name)
        if parts and (count, total) != next(iter(parts.values()))[1:]:
            raise Failure(
                f"'{name}' is part of another run than '{names[0]}': its parts or programs differ in number"
            )
        if index in parts:
            raise Failure(f"'{name}' and '{parts[index][0]}' are both part {index}")
        parts[index] = (name, count, total)
        records |= {record["number"]: record for record in found}
    _, count, total = next(iter(parts.values()))
    if absent := [str(index) for index in range(1, count + 1) if index not in parts]:
        raise Failure(f"of {count} parts these are not there: {', '.join(absent)}")
    if len(records) != total:
        raise Failure(
            f"the parts have {len(records)} of {base.plural(total, 'program')}: a result is missing"
        )
    return [records[number] for number in sorted(records)]


def _line(number, record):
    file = record["file"].replace("#", "\\#")
    return (
        f"ok {number} {file}"
        if record["ok"]
        else f"not ok {number} {file} # {record.get('title', record['end'])}"
    )


@click.command("merge", short_help="Merge results of sharded run --each runs.")
@click.argument("files", nargs=-1, required=True, metavar="FILE.json...")
@click.option("--json", "report_file", metavar="FILE", help="Also write the joined verdicts to FILE.")
@click.pass_context
def merge(context, files, report_file):
    """Join the verdicts of all parts of one ./redzone run --each --shard, from the files of its --json.

    Prints them as KTAP, in the order of the files. All parts must be there.

    \b
    Exit status: that of ./redzone run --each with all files; also 2 if the parts do not fit together.

    \b
    Example:
      ./redzone run --each --shard 1/2 --json a.json tests/    on one machine
      ./redzone run --each --shard 2/2 --json b.json tests/    on another
      ./redzone merge a.json b.json
    """
    records = _join(files)
    if report_file:
        each.write_json(report_file, records)
    click.echo(f"KTAP version 1\n1..{len(records)}")
    for number, record in enumerate(records, 1):
        click.echo(_line(number, record))
    failed = sum(not record["ok"] for record in records)
    base.say(
        f"{base.plural(len(records), 'program')} in {base.plural(len(files), 'part')}: "
        f"{len(records) - failed} passed, {failed} failed"
    )
    context.exit(each.status_of({record["end"] for record in records}))


def register(group):
    group.add_command(merge)
