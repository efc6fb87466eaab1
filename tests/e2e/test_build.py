# SPDX-License-Identifier: MIT
"""`./redzone build`: build folders whose programs have moved."""

import shutil


def test_programs_that_have_moved(redzone, path_without):
    """A folder is configured again, not given up, if its programs have moved since."""
    preset = "runtime-arm-clang-windowed"
    folder = redzone.root / "build" / preset
    shutil.rmtree(folder, ignore_errors=True)
    other = path_without()
    redzone("build", preset, PATH=other, status=0)
    assert f"={other}/ninja\n" in (folder / "CMakeCache.txt").read_text()
    shutil.rmtree(other)
    redzone("build", preset, status=0)
    assert other not in (folder / "CMakeCache.txt").read_text()
