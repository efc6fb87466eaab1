# SPDX-License-Identifier: MIT
"""The helpers of the porting kit's tests serve these as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "porting"))
