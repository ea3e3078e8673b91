# SPDX-License-Identifier: GPL-2.0-or-later
"""time_limit: the time after which a test regards a program as hung.

A time limit ends a hang. It is not a check: a test must pass on a machine that is busy with other
work, where each program takes several times as long.
"""

# At a load of 6 on two CPUs, programs of the tests take up to five times as long.
BUSY = 8


def limit(seconds):
    """The limit, in seconds, for a program that takes at most `seconds` on an idle machine."""
    return None if seconds is None else seconds * BUSY
