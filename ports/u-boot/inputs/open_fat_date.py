# SPDX-License-Identifier: MIT
"""Open in the patched source: rtc_calc_weekday() reads past its table for a file dated July or later.

`ls` turns each date of each file of a FAT volume into a day of the week. It extracts the month by a shift
that is one bit too short, so October is month 20 in a table of twelve. A file without dates, which is
allowed, has month 0, so the read is before the table's start.
"""

from . import fat

FUNCTION = "rtc_calc_weekday"
TYPES = ("global-out-of-bounds",)
COMMANDS = ("ls virtio 0:1",)
OCTOBER = (43 << 9) | (10 << 5) | 10


def image():
    return fat.disk(fat.volume({"FILE.TXT": b"contents\n"}, date=OCTOBER))
