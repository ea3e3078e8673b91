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


@test
def intervals_of_samples(t):
    clock = Clock(t)
    truth = {**clock.truth(), "of a CPU: period": {0: PERIOD, 1: PERIOD}}
    read = Media(t, [clock.data], distinct_table.INTERVALS)
    check_distinct(distinct_table.INTERVALS, truth, related=(
        "of a CPU: period", "samples", "trimmed: 50 %", "delayed from", "late: least",
        "late: 1 %"))
    check_complete(distinct_table.INTERVALS, read, distinct_table.INTERVALS_ELSEWHERE)
    compare(distinct_table.INTERVALS, truth, read.read)


@test
def counted_calls(t):
    calls = Calls(t)
    truth = calls.truth()
    read = Media(t, [calls.data], distinct_table.CALLS)
    check_distinct(distinct_table.CALLS, truth)
    check_complete(distinct_table.CALLS, read, distinct_table.CALLS_ELSEWHERE)
    compare(distinct_table.CALLS, truth, read.read)


@test
def event_tags(t):
    tags = Tags(t)
    truth = tags.truth()
    read = Media(t, [tags.data], distinct_table.TAGS)
    check_distinct(distinct_table.TAGS, truth, related=("functions", "triggers"))
    check_complete(distinct_table.TAGS, read, distinct_table.TAGS_ELSEWHERE)
    compare(distinct_table.TAGS, truth, read.read)


@test
def a_profile_of_another_tool(t):
    profile = PprofProfile(t)
    truth = profile.truth()
    read = Media(t, [profile.data], distinct_table.PROFILE)
    check_distinct(distinct_table.PROFILE, truth)
    check_complete(distinct_table.PROFILE, read, distinct_table.PROFILE_ELSEWHERE)
    compare(distinct_table.PROFILE, truth, read.read)


main()
