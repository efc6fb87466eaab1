# SPDX-License-Identifier: MIT
"""Called by hatchling, which makes the wheel: adds what `./redzone release` has built, if that calls it."""

import os

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):
    def initialize(self, version, build_data):
        folder = os.environ.get("REDZONE_PREBUILT")
        if folder:
            build_data["force_include"][folder] = "redzone/tree/prebuilt"
