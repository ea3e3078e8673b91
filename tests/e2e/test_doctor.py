# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: its findings are what the machine says when asked directly."""
import glob
import os
import pathlib
import re

from harness import ASSAY, main, run, test


def findings(t, **options):
    checks = t.json(t.assay("doctor", "--json", **options).out)["checks"]
    return {check["name"]: check for check in checks}


@test
def each_finding_has_a_state_and_says_what_it_is(t):
    found = findings(t)
    for name in ("capabilities", "perf_event_paranoid", "kallsyms", "ring buffers", "sampling",
                 "cycles", "build-id", "code", "libc", "cpu quota", "processes"):
        t.true(name in found, f"{name} is not looked at: {sorted(found)}")
    for check in found.values():
        t.true(check["state"] in ("ok", "limited", "missing"), f"state: {check}")
        t.true(check["what"], f"says nothing: {check}")
        t.true(check["state"] != "missing" or check["cost"] or check["mend"],
               f"is missing, and costs nothing: {check}")


@test
def the_text_has_what_the_json_has(t):
    text = " ".join(t.assay("doctor").out.split())
    for check in findings(t).values():
        for key in ("what", "cost", "mend"):
            # Steal goes on meanwhile.
            if check[key] and check["name"] != "hypervisor":
                t.has(text, " ".join(check[key].split()), f"the text of {check['name']}")


@test
def settings_are_those_of_the_kernel(t):
    found = findings(t)
    for name in ("perf_event_paranoid", "perf_event_max_sample_rate", "perf_event_max_stack"):
        value = pathlib.Path("/proc/sys/kernel", name).read_text().strip()
        t.true(value in re.findall(r"-?\d+", found[name]["what"]),
               f"{name} is {value}, not: {found[name]['what']}")
    shown = any(int(line.split()[0], 16)
                for line in pathlib.Path("/proc/kallsyms").read_text().splitlines()[:1000])
    t.equal(found["kallsyms"]["state"] == "ok", shown, "kallsyms is ok")
    t.has(found["cpu quota"]["what"], str(os.cpu_count()))


@test
def an_unprivileged_user_gets_findings_too(t):
    if os.geteuid() != 0:
        t.skip("only root can become another user")
    os.chmod(t.directory, 0o755)
    run("cp", ASSAY, t.path("assay"))
    result = run(t.path("assay"), "doctor", "--json", user=65534, cwd="/")
    found = {check["name"]: check for check in t.json(result.out)["checks"]}
    t.has(found["capabilities"]["what"], "user id 65534, without CAP_PERFMON")
    level = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    t.equal(found["perf_event_paranoid"]["state"],
            "ok" if level <= 0 else "limited" if level <= 2 else "missing")
    if level > 0:
        t.has(found["perf_event_paranoid"]["mend"], "sysctl kernel.perf_event_paranoid")
    kptr = int(pathlib.Path("/proc/sys/kernel/kptr_restrict").read_text())
    if level > 1 or kptr > 0:
        t.equal(found["kallsyms"]["state"], "limited", "kallsyms")


@test
def frame_pointers_are_found_where_they_are(t):
    t.need("gcc", "unshare", "mount")
    if os.geteuid() != 0:
        t.skip("only root can put another libc.so.6 in its place")
    # Functions that call, in number; the compiler is told to keep frames or not.
    source = "int g(int);\n" + "".join(
        f"int f{i}(int a) {{ return g(a + {i}) + g({i}) * a; }}\n" for i in range(50))
    path, library = t.write("a.c", source), t.path("a.so")
    if run("unshare", "-m", "mount", "--bind", path.parent, path.parent, status=None).status:
        t.skip("mount namespaces are not allowed")
    # A library of the list that assay itself does not use is hidden by one built here.
    place = glob.glob("/usr/lib/*/libcrypto.so.3")
    if not place:
        t.skip("no libcrypto.so.3 to stand in for")
    for flags, percent, debug in ((("-O2", "-fno-omit-frame-pointer", "-g"), 100, "with debug"),
                                  (("-O2", "-fomit-frame-pointer", "-s"), 0, "no debug")):
        run("gcc", "-shared", "-fPIC", "-o", library, path, *flags)
        result = run("unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && exec "$3" doctor --json',
                     "sh", library, place[0], ASSAY)
        check = [c for c in t.json(result.out)["checks"] if c["name"] == "openssl"][0]
        t.has(check["what"], f"frame pointers in {percent} % of 50 functions")
        t.has(check["what"], debug)
        t.equal(check["state"], "ok" if percent else "missing")


main()
