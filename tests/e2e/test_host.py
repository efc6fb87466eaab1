# SPDX-License-Identifier: MIT
"""What programs get from the host, and give back: standard input, environment, saved files."""

import json
import os
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from redzone.core import process
from redzone.run import host_io

TIMEOUT = 300
# With an argument it reads by getchar(), else by fread(), which it asks for more than there is.
SUM = """\
#include <stdio.h>
#include <stdlib.h>

static unsigned char block[5000];

int main(int argc, char **argv)
{
	unsigned sum = 0, total = 0;
	size_t n;
	int c;

	while (argc > 1 && (c = getchar()) != EOF)
		sum = sum * 31 + (unsigned)c, total++;
	while (argc == 1 && (n = fread(block, 1, sizeof(block), stdin)) > 0)
		for (size_t i = 0; i < n; i++, total++)
			sum = sum * 31 + block[i];
	printf("%u bytes, sum %u, end %d, error %d\\n", total, sum, !!feof(stdin), !!ferror(stdin));
	if (getenv("ONE"))
		printf("ONE is <%s>, EMPTY is <%s>\\n", getenv("ONE"), getenv("EMPTY"));
	printf("%s\\n", getenv("ON") || getenv("HOME") ? "too much" : "no more");
	return fseek(stdin, 0, SEEK_SET) == 0;
}
"""


def said(data):
    """Return what SUM prints about the bytes @data."""
    total = 0
    for byte in data:
        total = (total * 31 + byte) & 0xFFFFFFFF
    return f"{len(data)} bytes, sum {total}, end 1, error 0"


def with_input(redzone, *arguments, **options):
    """Run ./redzone with standard input from a file or a pipe. Return (status, stdout, stderr)."""
    command = [redzone.root / "redzone", *arguments]
    chosen = {"cwd": redzone.folder, "env": redzone.environment(), "timeout": TIMEOUT, **options}
    result = process.run(command, text=False, **chosen)
    return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode()


def test_stdin_file(redzone, source, tmp_path):
    for data, *arguments in ((b"",), (bytes(range(256)) * 40 + b"x",), (b"one\n\0two", "--", "x")):
        (tmp_path / "data").write_bytes(data)
        result = redzone("run", source(SUM), "--stdin", "data", *arguments, status=0)
        assert said(data) in result.stdout


def test_own_stdin(redzone, source, tmp_path):
    """A pipe, a file, and a file of which a part is read already."""
    data = bytes(range(256)) * 400
    (tmp_path / "data").write_bytes(data)
    status, out, err = with_input(redzone, "run", source(SUM), input=data)
    assert status == 0, out + err
    assert said(data) in out
    with open(tmp_path / "data", "rb", buffering=0) as file:
        status, out, err = with_input(redzone, "run", source(SUM), stdin=file)
        assert status == 0, out + err
        assert said(data) in out
        file.seek(1000)
        status, out, err = with_input(redzone, "run", source(SUM), stdin=file)
        assert status == 0, out + err
        assert said(data[1000:]) in out


@pytest.mark.rest
def test_stdin_pipes(redzone, source, tmp_path):
    """--stdin with a pipe: that of a shell's <(command), /dev/stdin, and one with a name."""
    data = bytes(range(256)) * 400
    out, into = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(into, data[:50000]), os.close(into)))
    writer.start()
    status, text, err = with_input(redzone, "run", source(SUM), "--stdin", f"/dev/fd/{out}", pass_fds=(out,))
    writer.join()
    os.close(out)
    assert status == 0, text + err
    assert said(data[:50000]) in text
    status, text, err = with_input(redzone, "run", source(SUM), "--stdin", "/dev/stdin", input=data)
    assert status == 0, text + err
    assert said(data) in text
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes(data))
    writer.start()
    status, text, err = with_input(redzone, "run", source(SUM), "--stdin", "fifo")
    writer.join()
    assert status == 0, text + err
    assert said(data) in text


def test_stdin_vanishes(redzone, source, tmp_path):
    """The file of --stdin is there when the run begins, and gone when the program reads."""
    (tmp_path / "data").write_bytes(b"some")
    code = (
        "import sys; from redzone import cli; from redzone.run import host_io\n"
        "host_io._named_stdin = lambda name: ('/absent/file', None)\n"
        "sys.exit(cli.main())"
    )
    environment = {**redzone.environment(), "PYTHONPATH": str(redzone.root / "tools")}
    command = [sys.executable, "-c", code, "run", source(SUM), "--stdin", "data"]
    result = process.run(command, cwd=tmp_path, env=environment, timeout=TIMEOUT)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 bytes, sum 0, end 0, error 1" in result.stdout


def test_no_stdin(redzone, source):
    """Without a file or a pipe it is empty; a terminal does not count, and nothing waits for it."""
    result = redzone("run", source(SUM), status=0)
    assert said(b"") in result.stdout
    status, output = redzone.on_terminal("run", source(SUM))
    assert status == 0, output
    assert said(b"") in output


def test_stdin_without_end(redzone, source):
    """What the program does not read nobody reads: neither the end nor the data are waited for."""
    running = subprocess.Popen(
        [redzone.root / "redzone", "run", source("int main(void)\n{\n\treturn 0;\n}\n")],
        cwd=redzone.folder,
        env=redzone.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        assert running.wait(TIMEOUT) == 0, running.stdout.read()
    finally:
        running.kill()
        running.stdin.close()
        running.stdout.close()


def test_environment(redzone, source):
    result = redzone("run", source(SUM), "--env", 'ONE=a=b c"ä', "--env", "EMPTY=", status=0)
    assert 'ONE is <a=b c"ä>, EMPTY is <>' in result.stdout
    assert "no more" in result.stdout


def test_end_of_a_variable(redzone, source):
    """A variable is an object of the heap."""
    text = '#include <stdlib.h>\nint main(void)\n{\n\treturn getenv("A")[4] & 1;\n}\n'
    redzone("run", "-O0", source(text), "--env", "A=12345678", status=4)
    result = redzone("run", "-O0", source(text.replace("[4]", "[9]")), "--env", "A=12345678", status=1)
    assert "\nmain() at program.c:4 read 1 byte at 0x" in result.stdout


def test_each(redzone, source, tmp_path):
    """Every program reads --stdin from its beginning, and has the environment."""
    (tmp_path / "data").write_bytes(b"some input")
    log = tmp_path / "console"
    files = [source(SUM, f"{name}.c") for name in ("one", "two")]
    options = ["--each", "--stdin", "data", "--env", "ONE=1", "--env", "EMPTY=", "--log", log]
    redzone("run", *options, *files, status=0)
    assert log.read_text().count(said(b"some input")) == 2
    assert log.read_text().count("ONE is <1>, EMPTY is <>") == 2


SAVE = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char text[64], *p = malloc(8);
	struct stat input;
	time_t day = 86400;
	FILE *file;
	int c;

	strftime(text, sizeof(text), "%F %R", localtime(&day));
	fstat(0, &input);
	printf("%s, %d %d\\n", text, isatty(0), S_ISFIFO(input.st_mode));
	mkdir("/folder", 0777);
	chdir("/folder");
	file = fopen("copy", "wb");
	while ((c = getchar()) != EOF)
		fputc(c, file);
	fclose(file);
	if (argc > 1)
		p[8 + argc] = 1;
	if (argc > 1)
		abort();
	return argc > 1;
}
"""


def test_save(redzone, source, tmp_path):
    data = bytes(range(256)) * 40
    (tmp_path / "data").write_bytes(data)
    file = source(SAVE)
    options = ["--stdin", "data", "--env", "TZ=XYZ-2"]
    result = redzone(
        "run", *options, "--save", "folder/copy=out", "--save", "/folder/copy=again", file, status=0
    )
    assert "1970-01-02 02:00, 0 1" in result.stdout
    assert (tmp_path / "out").read_bytes() == data
    assert (tmp_path / "again").read_bytes() == data

    (tmp_path / "out").unlink()
    result = redzone("run", *options, "--save", "folder/copy=out", file, "--", "report", status=1)
    assert "slab-out-of-bounds" in result.stderr
    assert (tmp_path / "out").read_bytes() == data

    (tmp_path / "out").unlink()
    names = ("absent=one", "folder=two", "folder/copy=out", "dev/null=three")
    result = redzone("run", *options, *(word for name in names for word in ("--save", name)), file, status=4)
    assert "redzone: --save absent: not saved: the program made no such file" in result.stderr
    assert "redzone: --save folder: not saved: it is a directory" in result.stderr
    assert "redzone: --save dev/null: not saved: it is a device" in result.stderr
    assert (tmp_path / "out").read_bytes() == data
    assert not any((tmp_path / name).exists() for name in ("one", "two", "three"))


def test_save_elsewhere(redzone, source, tmp_path):
    """A pipe with a name gets the file, a link stays one, and a full disk is said."""
    data = bytes(range(256)) * 40
    (tmp_path / "data").write_bytes(data)
    (tmp_path / "linked").write_bytes(b"old")
    (tmp_path / "linked").chmod(0o640)
    (tmp_path / "link").symlink_to("linked")
    os.mkfifo(tmp_path / "fifo")
    read = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "fifo").read_bytes()))
    reader.start()
    pairs = ("/folder/copy=fifo", "./folder/copy=link", "folder/copy=/dev/full")
    saves = [word for pair in pairs for word in ("--save", pair)]
    result = redzone("run", "--stdin", "data", *saves, source(SAVE))
    reader.join()
    assert result.returncode == 4, result.stdout + result.stderr
    assert read == [data]
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "linked").read_bytes() == data
    assert (tmp_path / "linked").stat().st_mode & 0o777 == 0o640
    assert "folder/copy: not saved: '/dev/full' cannot be written: No space left on device" in result.stderr


def saving(tmp_path, *names):
    """Return the Host of a run with --save NAME=NAME for each of @names."""
    options = SimpleNamespace(
        save=[(name, tmp_path / name) for name in names],
        stdin=None, own_stdin=False, separate=False, files=["x.c"], project=None, env=[], arguments=[],
    )  # fmt: skip
    (tmp_path / "run").mkdir()
    return host_io.Host(options, tmp_path / "run")


@pytest.mark.parametrize("arrived", [0, 1])
def test_torn_results(tmp_path, capsys, arrived):
    """The results end early: the files behind their end are not there."""
    taken = saving(tmp_path, "a", "b")
    taken.save(0, b"fir")
    taken.save(0, b"st")
    if arrived:
        taken.saved(0, 0)
        taken.save(1, b"a part")
    assert not taken.take()
    said = capsys.readouterr().err
    assert ("--save b: not saved: its result did not arrive" if arrived else "no file was saved") in said
    assert (tmp_path / "a").exists() == bool(arrived)
    assert not arrived or (tmp_path / "a").read_bytes() == b"first"
    assert not (tmp_path / "b").exists()


def test_a_machine_that_lies(tmp_path, capsys):
    """It sends files that nobody has asked for, more of one that was whole, and numbers of all kinds."""
    taken = saving(tmp_path, "a", "b")
    taken.save(0, b"first")
    for number, result in ((0, 0), (0, -2), (1, -(10**30)), (1, 0), (2, 0), (-1, 0), (10**30, 0)):
        taken.saved(number, result)
        taken.save(number, b"more")
    assert not taken.take()
    assert (tmp_path / "a").read_bytes() == b"first"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "run"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["save-0"]
    assert "--save b: not saved: Unknown error 4095" in capsys.readouterr().err
    assert taken.read_input(10**30, -5)[4:] == b"\xff\xff\xff\xff"


def test_a_copy_that_fails(tmp_path):
    """What was there before is still there, and nothing else is."""
    (tmp_path / "old").write_bytes(b"old")
    assert "cannot be written: No such file" in host_io._copy(tmp_path / "absent", tmp_path / "old")
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert (tmp_path / "old").read_bytes() == b"old"


def test_nothing_to_save_from(redzone, source, tmp_path):
    """The machine ends before the program does."""
    options = ["--save", "a=a", "--append", "kasan.fault=panic"]
    result = redzone("run", *options, source(SAVE), "--", "report", status=1)
    assert "no file was saved, because the machine stopped before the program's end" in result.stderr
    assert not (tmp_path / "a").exists()


def test_project(redzone, source, tmp_path):
    """--project and musl together: each file has its own options, the library all that it needs."""
    source("double area(double r);\n", "inc/area.h")
    area = (
        "#include <area.h>\n#include <math.h>\ndouble area(double r)\n{\n\treturn M_PI * r * r * FACTOR;\n}\n"
    )
    main = (
        "#include <area.h>\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
        "int main(int argc, char **argv)\n{\n"
        '\tprintf("%s %.6f\\n", WORD, area(sqrt(strtod(argv[1], NULL))));\n\treturn 0;\n}\n'
    )
    entries = [
        {"directory": str(tmp_path), "file": f"src/{name}.c", "command": f"cc -Iinc {more} -c src/{name}.c"}
        for name, more in (("area", "-std=gnu99 -DFACTOR=2"), ("main", "-std=c11 '-DWORD=\"a b\"' -Werror"))
    ]
    source(area, "src/area.c")
    source(main, "src/main.c")
    (tmp_path / "compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    result = redzone("run", "--project", "compile_commands.json", "--", "4", status=0)
    assert "\na b 25.132741\n" in result.stdout
