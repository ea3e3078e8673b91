# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of reports: its bundle is that of its sources, its parts compute what they should, and headless
Chromium uses it as a reader does. tests/page has the tests and the driver; one run of the driver has all
steps. The packages come from npm."""
import functools
import json
import os
import tempfile

from harness import LONG, ROOT, Failure, main, run, test
from waits_truth import program as waiting_program

BUILD_PAGE = ROOT / "src/web/page/build"
PAGE = ROOT / "src/web/page/dist/page.html"


@functools.cache
def packages():
    """'' if the packages of the page are installed, else the reason why not."""
    result = run(BUILD_PAGE, "packages", status=None, timeout=240)
    return "" if result.status == 0 else "npm packages cannot be installed: npm's registry is not reachable"


def need_packages(t):
    t.need("node")
    t.need("npm")
    if packages():
        t.skip(packages())


@functools.cache
def steps():
    """What each step of the driver found, by its name."""
    run(BUILD_PAGE, "tools", timeout=120)
    with tempfile.TemporaryDirectory(prefix="assay-test-") as directory:
        result = run("node", ROOT / "build-page/drive.cjs", PAGE, directory, timeout=300, status=None,
                     env={"NODE_PATH": str(ROOT / "build-page/node_modules")})
    if result.status != 0:
        raise Failure(str(result))
    return {item["step"]: item["error"] for item in map(json.loads, result.out.splitlines())}


def step(t, name):
    need_packages(t)
    t.need("chromium")
    t.equal(steps()[name], "", name)


@test
def the_bundle_is_that_of_its_sources(t):
    need_packages(t)
    t.run(BUILD_PAGE, "check")
    t.true(PAGE.stat().st_size <= 200000, "the page has at most 200 KB")


@test
def the_bundle_names_no_registry_and_no_network(t):
    lock = (ROOT / "src/web/page/package-lock.json").read_text()
    t.true('"resolved"' not in lock, "the lock file names no registry")
    page = PAGE.read_text()
    t.has(page, "default-src 'none'", "the policy")
    t.equal(page.count("<!--assay-data-->"), 1, "places for the data")
    t.true("<script src" not in page and "<link" not in page, "the page refers to no file")
    t.has(page, "Copyright (c) 2015-present Jason Miller", "the notice of preact")
    t.has(page, "Copyright (c) 2022 Leon Sorokin", "the notice of uPlot")


@test
def the_types_of_the_page_are_right(t):
    need_packages(t)
    t.run(BUILD_PAGE, "types")


@test
def the_parts_of_the_page_compute_what_they_should(t):
    need_packages(t)
    t.run(BUILD_PAGE, "test")


@test
def a_page_opens_with_all_its_parts(t):
    step(t, "opens")


@test
def totals_of_tables_and_pictures_are_those_of_the_data(t):
    step(t, "totals")


@test
def names_with_markup_and_escapes_are_text(t):
    step(t, "names")


@test
def a_search_shows_the_matched_share(t):
    step(t, "searches")


@test
def a_click_zooms_and_escape_returns(t):
    step(t, "zooms")


@test
def drags_select_and_compare_stretches(t):
    step(t, "drags")


@test
def an_address_leads_to_the_same_view(t):
    step(t, "links")


@test
def the_keyboard_alone_is_enough(t):
    step(t, "keyboard")


@test
def callers_and_callees_have_the_total_of_the_function(t):
    step(t, "neighbours")


@test
def tables_sort_and_filter_and_the_ledger_closes(t):
    step(t, "tables")


@test
def tables_are_drawn_with_the_sizes_of_their_figures(t):
    step(t, "bars")


@test
def narrow_dark_and_printed_pages_are_whole(t):
    step(t, "shapes")


@test
def a_diff_has_both_sides_per_run(t):
    step(t, "diffs")


@test
def the_page_cannot_use_the_network(t):
    step(t, "network")


@test
def old_browsers_and_damaged_pages_get_a_message(t):
    step(t, "messages")


@test
def a_live_page_follows_its_session(t):
    step(t, "live")


@test
def lanes_show_waits_arrows_and_the_path(t):
    step(t, "waits")


def seconds(ns):
    return "%d.%09d" % divmod(ns, 10**9)


def figures(t, page, *ends):
    tool = ROOT / "build-page/wait_figures.cjs"
    return json.loads(t.run("node", tool, page, *ends).out)


def same_path(t, shown, printed, where):
    """The rows of paths. The rest of a division of samples among functions may go to another row."""
    key = lambda r: (r["thread"], r["kind"], r["name"] or "", r["function"] or "", r["count"])
    a, b = sorted(shown, key=key), sorted(printed, key=key)
    t.equal([key(r) for r in a], [key(r) for r in b], f"rows of the path, {where}")
    for x, y in zip(a, b):
        t.between(x["ns"], y["ns"] - 2, y["ns"] + 2, f"{key(x)}, {where}")
        t.equal(x["saves_ns"] is None, y["saves_ns"] is None, f"{key(x)}, {where}")


@test
def waits_of_a_page_are_those_of_assay_waits_in_any_range(t):
    need_packages(t)
    if os.geteuid() != 0:
        t.skip("tracepoints of the scheduler need root")
    t.run(BUILD_PAGE, "tools")
    data, page = t.path("waits.data"), t.path("waits.html")
    t.assay("record", "--waits", "-o", data, "--", waiting_program("path_lock_chain"), env={"TRUTH": t.path("truth.json")})
    t.assay("report", "--html", page, data)
    whole = figures(t, page)
    clock, length = whole["clock_ns"], whole["duration_ns"]
    for part in (None, (0.2, 0.9), (0.45, 0.7)):
        words, shown = [], whole
        if part:
            begin, end = (int(x * length) for x in part)
            words = ["--time", f"{seconds(clock + begin)},{seconds(clock + end)}"]
            shown = figures(t, page, begin, end)
        printed = json.loads(t.assay("waits", "--json", *words, data).out)
        ledger = printed["ledger"]
        t.equal((shown["blocked_ns"], shown["runnable_ns"], shown["waits"], shown["path_ns"]),
                (ledger["blocked_ns"], ledger["runnable_ns"], printed["waits"], printed["path_ns"]), f"sums of {part}")
        same_path(t, shown["path"], printed["path"], part)


@test
def a_page_of_a_recording_has_the_samples_of_its_report(t):
    if "--html" not in t.assay("help", "report").out:
        t.skip("this build has no report --html")
    need_packages(t)
    t.need("chromium")
    t.run(BUILD_PAGE, "tools")
    data, page = t.path("build.data"), t.path("build.html")
    source = t.write("big.c", "".join(f"int f{i}(int a) {{ return a * {i} + a % 7; }}\n" for i in range(4000 if LONG else 400)))
    t.assay("record", "-F", "997", "-g", "-a", "-o", data, "--", "nice", "-n", "-5", "gcc", "-O2", "-c", "-o", t.path("big.o"), source)
    t.assay("report", "--html", page, data)
    shown = json.loads(t.run("node", ROOT / "build-page/drive.cjs", "--look", page,
                             env={"NODE_PATH": str(ROOT / "build-page/node_modules")}).out)
    t.equal(shown["samples"], t.report(data)["samples"], "samples in the page")
    t.between(shown["half"], 1, shown["samples"] - 1, "samples of half of the time")
    t.equal((shown["frames"], shown["problems"]), (1, []), "pictures and messages")


main()
