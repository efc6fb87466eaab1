# SPDX-License-Identifier: MIT
"""The rules of the suite style that are more than a call of a linter."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "tools"))

from redzone.suites import style


def test_import_cycle():
    """Also one that an import inside a function hides, and one of relative imports."""
    sources = {
        "redzone.a": "import json\nfrom redzone import b\n",
        "redzone.b": "def late():\n    from redzone.c import thing\n",
        "redzone.c": "",
    }
    assert style.import_cycle(sources) is None
    sources["redzone.c"] = "import redzone.a\n"
    cycle = style.import_cycle(sources)
    assert cycle[0] == cycle[-1] and set(cycle) == set(sources)
    relative = {
        "redzone.ports.x.a": "from . import b\n",
        "redzone.ports.x.b": "from .a import thing\n",
        "redzone.ports.x": "",
    }
    assert style.import_cycle(relative) is not None
    relative["redzone.ports.x.b"] = "from .. import a\n"
    assert style.import_cycle(relative) is None
