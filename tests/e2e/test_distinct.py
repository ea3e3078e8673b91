# SPDX-License-Identifier: GPL-2.0-or-later
"""Each figure of a recording has a value of its own, and is in each medium under its name.

distinct_table.py has the places. A value that is exchanged with another one, has another unit, or is
missing fails by its name.
"""
import distinct_table
from distinct import Media, check_complete, check_distinct, check_intervals, compare
from distinct_calls import Calls
from distinct_intervals import PERIOD, Clock
from distinct_profile import PprofProfile
from distinct_samples import Machine
from distinct_session import TRUTH, Session
from distinct_tags import Tags
from harness import main, test


@test
def samples_and_waits(t):
    m = Machine(t)
    truth = m.truth()
    check_distinct(distinct_table.SAMPLES, truth, related=("wall", "mean wall", "CPUs"))
    read = Media(t, [m.data, *m.words], distinct_table.SAMPLES)
    check_complete(distinct_table.SAMPLES, read, distinct_table.SAMPLES_ELSEWHERE,
                   partial=["report+--sort+function+--children"])
    check_intervals(read.document("report"))
    compare(distinct_table.SAMPLES, truth, read.read)


@test
def samples_and_waits_of_a_store(t):
    m = Machine(t)
    store = m.stored(t.path("distinct.db"))
    read = Media(t, ["--store", store, *m.words], distinct_table.STORE)
    compare(distinct_table.STORE, m.stored_truth(), read.read, distinct_table.STORES_WITHOUT)


@test
def the_status_of_a_session(t):
    read = Session(t, distinct_table.SESSION)
    check_distinct(distinct_table.SESSION, TRUTH)
    check_complete(distinct_table.SESSION, read)
    compare(distinct_table.SESSION, TRUTH, read.read)


def check_file(t, kind, recorded, truth=None, related=()):
    """A recording in a file, of which distinct_table has the places as KIND and KIND_ELSEWHERE."""
    places = getattr(distinct_table, kind)
    truth = truth or recorded.truth()
    read = Media(t, [recorded.data], places)
    check_distinct(places, truth, related=related)
    check_complete(places, read, getattr(distinct_table, f"{kind}_ELSEWHERE"))
    compare(places, truth, read.read)


@test
def intervals_of_samples(t):
    clock = Clock(t)
    check_file(t, "INTERVALS", clock, {**clock.truth(), "of a CPU: period": {0: PERIOD, 1: PERIOD}},
               related=("of a CPU: period", "samples", "trimmed: 50 %", "delayed from", "late: least", "late: 1 %"))


@test
def counted_calls(t):
    check_file(t, "CALLS", Calls(t))


@test
def event_tags(t):
    check_file(t, "TAGS", Tags(t), related=("functions", "triggers"))


@test
def a_profile_of_another_tool(t):
    check_file(t, "PROFILE", PprofProfile(t))


main()
