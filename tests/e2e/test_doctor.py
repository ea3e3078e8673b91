# SPDX-License-Identifier: GPL-2.0-or-later
"""doctor: its findings equal the machine's state, which the test reads directly."""
import errno
import glob
import os
import pathlib
import platform
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
def the_text_has_the_contents_of_the_json(t):
    before = findings(t)
    text = " ".join(t.assay("doctor").out.split())
    after = findings(t)
    # These change while the test runs: stolen time, free space, lowered rates.
    same = [check for name, check in before.items() if check == after[name]]
    t.true(len(same) > len(before) - 5, f"most stay as they are: {before} {after}")
    for check in same:
        for key in ("what", "cost", "mend"):
            if check[key]:
                t.has(text, " ".join(check[key].split()), f"the text of {check['name']}")


@test
def markdown_has_a_list_for_each_group_and_commands_as_code(t):
    checks = t.json(t.assay("doctor", "--json").out)["checks"]
    text = t.assay("doctor", "--markdown").out
    for group in {check["group"] for check in checks}:
        t.true(re.search(rf"^#+ {re.escape(group)}$", text, re.M), f"the heading {group}: {text}")
    for check in checks:
        t.true(re.search(rf"^- \**{check['state']}", text, re.M), f"the state {check['state']}: {text}")
        if check["mend"]:
            t.has(text, f"`{check['mend']}`", f"the command for {check['name']}")


def settings():
    return {name: pathlib.Path("/proc/sys/kernel", name).read_text().strip() for name in
            ("perf_event_paranoid", "perf_event_max_sample_rate", "perf_event_max_stack")}


@test
def settings_are_those_of_the_kernel(t):
    before, found, after = settings(), findings(t), settings()
    for name, value in before.items():
        # The kernel lowers the rate by itself.
        t.true({value, after[name]} & set(re.findall(r"-?\d+", found[name]["what"])),
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


def missing_library(t, name, group, cost, package):
    found = findings(t)[name]
    if found["state"] != "ok":
        t.skip(f"{name} is not installed")
    t.equal(found["group"], group)
    t.need("unshare", "mount", "ldconfig")
    if os.geteuid() != 0 or run("unshare", "-m", "true", status=None).status:
        t.skip("mount namespaces are not allowed")
    libraries = re.findall(name + r"\S*\.so\S* .*=> (\S+)", t.run("ldconfig", "-p").out)
    hide = " && ".join(f"mount --bind /dev/null {os.path.realpath(path)}" for path in set(libraries))
    out = t.run("unshare", "-m", "sh", "-c", f'{hide} && exec "$@"', "sh", ASSAY, "doctor", "--json").out
    check, = [c for c in t.json(out)["checks"] if c["name"] == name]
    t.equal(check["state"], "missing")
    t.has(check["cost"], cost)
    t.equal(check["mend"], f"apt-get install {package}")


@test
def a_missing_libcurl_is_a_finding(t):
    missing_library(t, "libcurl", "sending", "clickhouse://", "libcurl4")


@test
def a_missing_libcapstone_is_a_finding(t):
    missing_library(t, "libcapstone", "code", "assay annotate", "'^libcapstone[45]$'")


@test
def frame_pointers_are_found_where_they_are(t):
    t.need("gcc", "unshare", "mount")
    if os.geteuid() != 0:
        t.skip("only root can put another libc.so.6 in its place")
    # A number of functions with calls, compiled with or without frame pointers.
    source = "int g(int);\n" + "".join(
        f"int f{i}(int a) {{ return g(a + {i}) + g({i}) * a; }}\n" for i in range(50))
    path, library = t.write("a.c", source), t.path("a.so")
    if run("unshare", "-m", "mount", "--bind", path.parent, path.parent, status=None).status:
        t.skip("mount namespaces are not allowed")
    # `doctor` lists a library that assay does not use: the test hides it by a library of its own.
    place = glob.glob("/usr/lib/*/libcrypto.so.3")
    if not place:
        t.skip("no libcrypto.so.3 to stand in for")
    # Linked without start files, since these contain unwind tables.
    bare = ("-fno-asynchronous-unwind-tables", "-nostdlib", "-Wl,--no-ld-generated-unwind-info")
    framed, unframed = ("-fno-omit-frame-pointer", "-g"), ("-fomit-frame-pointer", "-s")
    for flags, table, percent, debug, state in (
            (framed, "with", 100, "with debug", "ok"), (unframed, "with", 0, "no debug", "ok"),
            ((*framed, *bare), "no", 100, "with debug", "ok"),
            ((*unframed, *bare), "no", 0, "no debug", "missing")):
        run("gcc", "-O2", "-shared", "-fPIC", "-o", library, path, *flags)
        result = run("unshare", "-m", "sh", "-c", 'mount --bind "$1" "$2" && exec "$3" doctor --json',
                     "sh", library, place[0], ASSAY)
        check = [c for c in t.json(result.out)["checks"] if c["name"] == "openssl"][0]
        t.has(check["what"], f"{table} unwind table, frame pointers in {percent} % of 50 functions")
        t.has(check["what"], debug)
        # On x86-64, -g uses unwind tables.
        walked = table == "with" and platform.machine() == "x86_64"
        t.equal(check["state"], state if walked or table == "no" or percent else "missing")


@test
def a_directory_that_cannot_be_created_is_reported_with_the_reason(t):
    t.need("unshare", "mount")
    if os.geteuid() != 0 or run("unshare", "-m", "true", status=None).status:
        t.skip("mount namespaces are not allowed")
    place = t.path("readonly")
    place.mkdir()
    readonly = {"XDG_RUNTIME_DIR": str(place)}
    mounted = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs -o ro none "$0" && exec "$@"', place, ASSAY)
    result = run(*mounted, "doctor", "--json", env=readonly)
    found = {check["name"]: check for check in t.json(result.out)["checks"]}
    for name, folder, variable in (("tables", "calls", "ASSAY_CALLS_DIR"),
                                   ("recordings", "tags", "ASSAY_TAGS_DIR")):
        t.equal(found[name]["state"], "missing", name)
        t.has(found[name]["what"], f"{place}/assay/{folder} cannot be written to: Read-only")
        t.equal(found[name]["mend"], f"export {variable}=DIRECTORY")
        result = run(*mounted, folder, "-o", t.path("out"), "--", "true", status=1, env=readonly)
        t.has(result.err, f"cannot make {place}/assay: Read-only file system; set another "
              f"directory with {variable}")


@test
def if_a_filter_refuses_perf_events_the_finding_has_the_way_out(t):
    """As in containers: root is denied, too."""
    way = "docker run --security-opt seccomp=unconfined --cap-add PERFMON"
    for code in (errno.EPERM, errno.ENOSYS):
        denied = (t.workload("noperf"), code, ASSAY)
        for words in (("record", "-a"), ("record",), ("start", "-p", os.getpid())):
            result = run(*denied, *words, "-o", t.path("x.data"), *(("--", "true") if words[0] ==
                         "record" else ()), status=1, env={"XDG_RUNTIME_DIR": str(t.directory)})
            t.has(result.err, f"perf_event_open: {os.strerror(code)}: a system call filter")
            t.has(result.err, way)
        found = {check["name"]: check for check in t.json(run(*denied, "doctor", "--json").out)["checks"]}
        t.equal(found["sampling"]["state"], "missing", "sampling")
        t.has(found["sampling"]["mend"], way)
        t.equal(found["waiting"]["mend"], None, "no sysctl helps")


main()
