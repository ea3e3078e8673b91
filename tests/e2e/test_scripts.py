# SPDX-License-Identifier: GPL-2.0-or-later
"""The scripts that check the project: they must fail on errors."""
import json

from harness import ROOT, main, run, test

COUNT = ROOT / "tests" / "count.py"


def count(t, files, skips=None):
    """The exit status, the last line and all lines of tests/count.py on these files."""
    directory = t.path("results")
    run("rm", "-rf", directory)
    directory.mkdir()
    for name, text in files.items():
        (directory / name).write_text(text)
    words = [t.write("skips", skips)] if skips is not None else []
    result = run("python3", COUNT, directory, *words, status=None)
    return result.status, result.out.splitlines()[-1], result.out


def meson(name, result, stdout="", returncode=0):
    return json.dumps({"name": name, "result": result, "stdout": stdout,
                       "returncode": returncode}) + "\n"


@test
def passes_failures_and_skips_are_counted(t):
    status, last, out = count(t, {
        "a.tap": "ok 1 - one\n# why\nnot ok 2 - two\nok 3 - three # SKIP no reason\n1..3\n",
        "build.json": meson("test_b", "OK", "ok 1 - x\nok 2 - y\n1..2\n")
                      + meson("plain", "OK")})
    t.equal((status, last), (1, "4 passed, 1 failed, 1 skipped"))
    t.has(out, "FAILED: a: two\n    # why\n")
    t.has(out, "skipped: a: three: no reason")


@test
def all_passing_is_success(t):
    t.equal(count(t, {"a.tap": "ok 1 - one\n1..1\n"})[:2], (0, "1 passed, 0 failed"))


@test
def programs_that_do_not_end_well_fail(t):
    for text in ("", "ok 1 - one\n", "ok 1 - one\n1..2\n", "ok 1 - one\nBail out! no\n1..1\n"):
        status, last, _ = count(t, {"a.tap": text})
        t.equal((status, last.split(", ")[1]), (1, "1 failed"), f"the count of {text!r}")
    for entry in (meson("a", "FAIL", "ok 1 - x\n1..1\n", 1), meson("a", "TIMEOUT"), ""):
        status, last, _ = count(t, {"build.json": entry})
        t.equal((status, last.split(", ")[1]), (1, "1 failed"), f"the count of {entry!r}")
    t.equal(count(t, {})[:2], (1, "0 passed, 1 failed"), "the count of nothing")


@test
def only_expected_skips_are_let_pass(t):
    files = {"a.tap": "ok 1 - one\nok 2 - two # SKIP no PMU\n1..2\n"}
    t.equal(count(t, files, "# none\n")[:2], (1, "1 passed, 1 failed, 1 skipped"))
    t.equal(count(t, files, "a: two # there is no PMU\n")[:2], (0, "1 passed, 0 failed, 1 skipped"))


@test
def what_fails_and_then_passes_is_listed_and_few_may(t):
    line = "# why\nok {0} - t{0} # UNSTEADY\n"
    for tests, end in ((8, (0, "8 passed, 0 failed")), (9, (1, "9 passed, 1 failed"))):
        tap = "".join(line.format(n) for n in range(1, tests + 1)) + f"1..{tests}\n"
        status, last, out = count(t, {"a.tap": tap})
        t.equal((status, last), end, f"the count of {tests}")
        t.has(out, "unsteady: a: t1\n    # why\n")


@test
def only_a_test_of_shares_that_fails_is_run_again(t):
    t.write("test_three.py", f"""import sys
sys.path.insert(0, {str(ROOT / "tests" / "e2e")!r})
from harness import main, test, test_of_shares
seen, counted = [], []
@test_of_shares
def fails(t):
    t.fail("never right")
@test_of_shares
def wavers(t):
    seen.append(1)
    t.equal(len(seen), 2, "the attempt")
@test
def counts(t):
    counted.append(1)
    t.equal(len(counted), 2, "the only attempt")
@test
def passes(t):
    pass
main()
""")
    for again, second in (("", "not ok 2 - wavers"), ("1", "ok 2 - wavers # UNSTEADY")):
        out = run("python3", t.path("test_three.py"), env={"ASSAY_AGAIN": again}, status=1).out
        t.equal([x for x in out.splitlines() if not x.startswith("#")],
                ["not ok 1 - fails", second, "not ok 3 - counts", "ok 4 - passes", "1..4"])
        t.equal(out.count("# the only attempt is 1, not 2"), 1, "attempts of a test of counts")
        t.equal(out.count("# never right"), 4 if again else 1, "reported attempts")
        t.has(out, "# the attempt is 1, not 2")


@test
def a_wrong_option_installs_nothing(t):
    t.has(run(ROOT / "script" / "install-deps", "--tests", status=2).err, "usage: script/install-deps")


@test
def the_layers_check_finds_what_it_forbids(t):
    """In a tree of few headers, since each takes the start of a compiler. check-layers itself
    checks the whole tree."""
    for part in ("include", "runtime", "src", "script"):
        run("cp", "-r", ROOT / part, t.directory)
    kept = {t.path(name) for name in ("src/base/error.h", "include/assay/tags.h")}
    for header in {*t.path("src").rglob("*.h"), *t.path("include").rglob("*.h")} - kept:
        header.unlink()
    check = t.path("script/check-layers")
    t.equal(run(check).out, "", "the complaints about the tree as it is")
    wrong = (
        ("src/base/up.c", '#include "cmd/cli/command.h"\n', "src/base/up.c:1: base/ includes"),
        ("src/view/print.c", '#include "output/x.h"\n', "view/print.c:1: view/ includes"),
        ("src/base/copy.c", "\nvoid f(char *a) { strcpy(a, \"b\"); }\n", "copy.c:2: strcpy: a banned"),
        ("src/base/alone.h", "/* SPDX-License-Identifier: X */\nstruct a f(b c);\n",
         "alone.h:1: does not compile alone"),
        ("include/assay/tags_c.h", "/* SPDX-License-Identifier: X */\nint f(int);\n",
         "tags_c.h:1: is not for assembly"),
        ("include/assay/new.h", "/* SPDX-License-Identifier: X */\nstruct new;\nint new;\n",
         "new.h:1: is not for C++"),
        ("src/base/bare.h", "struct a;\n", "bare.h:1: has no SPDX line"),
        ("runtime/heap.c", "#include <stdlib.h>\n", "runtime/heap.c:1: runtime/ has no"))
    for name, text, _ in wrong:
        t.write(name, text)
    out = run(check, status=1).out
    for _, _, rule in wrong:
        t.has(out, rule)


main()
