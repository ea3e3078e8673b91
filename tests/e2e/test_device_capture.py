# SPDX-License-Identifier: GPL-2.0-or-later
"""assay tags capture --qemu: runs a guest with the capture device and reports on it; errors; start
and stop while the guest runs."""

import os
import signal
import stat
import subprocess
import time

import qemu_guest
from harness import ASSAY, BUILD, main, run, test
from time_limit import limit

ROUNDS = 100
EVENTS = 7 * ROUNDS + 4
CALLS = {"leaf": 2 * ROUNDS, "branch": ROUNDS, "rounds": 1, "start_c": 1}
EXACT = "-icount shift=0,sleep=off -rtc clock=vm"


def capture(t, line, *options, status=1, qemu=None, **more):
    """Runs the guest; 1 is the status of its normal end."""
    guest, names = qemu_guest.build(t)
    return t.assay("tags", "capture", "--qemu", "--names", names, *options, "--", "timeout",
                   str(limit(20)), *(qemu or qemu_guest.command(guest, line)), status=status,
                   env={"TMPDIR": str(t.directory)}, **more)


def start(t, line, *options):
    guest, names = qemu_guest.build(t)
    return t.start(ASSAY, "tags", "capture", "--qemu", "-o", t.path("trace"), "--names", names,
                   *options, "--", "timeout", str(limit(20)), *qemu_guest.command(guest, line),
                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def calls(report):
    return {row["function"]: row["calls"] for row in report["functions"]}


def stable(read):
    """The value that `read` returns twice within half a second; else None."""
    value = read()
    time.sleep(0.5)
    return value if read() == value else None


def qemu_of(t, process):
    """The process id of QEMU, a child of `timeout`, which is a child of assay."""
    def child(pid):
        text = run("pgrep", "-P", str(pid), status=None).out.split()
        return text[0] if text else None
    return int(t.until(lambda: child(child(process.pid) or 0), "QEMU runs"))


@test
def the_report_has_the_calls_of_the_guest(t):
    result = capture(t, str(ROUNDS))
    t.has(result.out, f"({EVENTS} tags)")
    t.has(result.out, "rounds")
    t.equal(result.err, "", "messages")
    t.true(not list(t.directory.glob("assay-qemu-*")), "the temporary trace was not removed")


@test
def the_report_takes_options(t):
    result = capture(t, str(ROUNDS), "-o", t.path("trace"), "--json")
    report = t.json(result.out[result.out.index("{"):])
    t.equal(calls(report), CALLS, "calls")
    t.equal(calls(t.report(t.path("trace"))), CALLS, "calls of the trace")
    t.equal(stat.S_IMODE(t.path("trace").stat().st_mode), 0o700, "mode of the trace")
    t.has(result.err, f"the trace is in {t.path('trace')}; 'assay report ")
    t.has(capture(t, "1", "-o", t.path("trace"), "-q").err, "exists already; remove it")
    t.equal(capture(t, "1", "-q").err, "", "messages with -q")


@test
def a_directory_may_have_a_comma(t):
    capture(t, str(ROUNDS), "-q", "-o", t.path("a,b=c"))
    t.equal(calls(t.report(t.path("a,b=c"))), CALLS, "calls")


@test
def options_reach_the_device(t):
    err = capture(t, str(ROUNDS), "--mode", "stop", "--memory", "4k").err
    t.has(err, "the memory is full: recording has stopped")
    out = capture(t, str(ROUNDS), "--mode", "wrap", "--memory", "4k").out
    t.has(out, "events were lost")
    capture(t, str(ROUNDS), "--start", "tag:mark", "-q", "-o", t.path("trace"))
    report = t.report(t.path("trace"))
    t.equal(report["tags"], EVENTS - 7, "events after the first mark")
    out = capture(t, str(ROUNDS), "--start", "tag:branch", "--end", "tag:mark").out
    t.has(out, "(5 tags)")


@test
def a_guest_in_user_mode(t):
    qemu_guest.need(t)
    t.need("qemu-x86_64")
    source, names = t.write("p.c", "void f(void) {}\nint main(void) { f(); f(); return 3; }\n"), \
        t.path("p.names")
    run("gcc", "-O0", f"-fplugin={qemu_guest.PLUGIN}", f"-fplugin-arg-assay_tags-names={names}",
        "-fplugin-arg-assay_tags-trigger=nop", "-o", t.path("p"), source)
    result = t.assay("tags", "capture", "--qemu", "--names", names, "-o", t.path("trace"), "--",
                     "timeout", str(limit(20)), "qemu-x86_64", t.path("p"), status=3)
    t.lacks(result.err, "not exact")
    t.equal(calls(t.report(t.path("trace"))).get("main"), 1, "calls of main")


@test
def missing_words_are_printed(t):
    guest, _ = qemu_guest.build(t)
    words = qemu_guest.command(guest, "1")
    at = words.index("-icount")
    loose = [*words[:at], *words[at + 2:]]
    t.has(capture(t, "1", qemu=loose).err, f"without these words of QEMU: {EXACT}")
    t.lacks(capture(t, "1", "--clock", "host", qemu=loose).err, "exact")
    both = [word.replace("tcg", "kvm:tcg") for word in ["-machine", "pc,accel=tcg"]]
    rest = [word for word in words if word not in ("-accel", "tcg")]
    t.has(capture(t, "1", qemu=[*rest, *both]).err, "QEMU may run this guest with KVM")


@test
def a_guest_without_tags(t):
    qemu_guest.need(t)
    plain = t.path("untagged")
    (t.path("y")).mkdir()
    qemu_guest.compile_guest(t.path("y"), plain, None)

    def untagged(*options, status=1):
        return t.assay("tags", "capture", "--qemu", *options, "--", "timeout", str(limit(20)),
                       *qemu_guest.command(plain, str(ROUNDS)), status=status,
                       env={"TMPDIR": str(t.directory)})

    found = calls(t.json(untagged("--calls", "--symbols", plain, "--json").out.split("\n", 1)[1]))
    t.equal({name: found[name] for name in CALLS}, CALLS, "calls")
    sampled = t.json(untagged("--sample", "1", "--symbols", plain, "--json").out.split("\n", 1)[1])
    t.equal({row["function"]: row["net_ns"] for row in sampled["functions"]}["leaf"],
            4 * CALLS["leaf"], "instructions of leaf")
    for options, message in ((["--calls"], "--calls needs --symbols FILE"),
                             (["--sample", "9"], "--sample needs --symbols FILE"),
                             (["--symbols", plain], "--symbols needs --calls or --sample"),
                             (["--calls", "--sample", "9", "--symbols", plain], "exclude each"),
                             (["--sample", "x", "--symbols", plain], "not 'x'"),
                             (["--calls", "--symbols", plain, "--names", plain], "--names is for")):
        t.has(untagged(*options, status=2).err, message)


@test
def wrong_commands_are_refused(t):
    guest, names = qemu_guest.build(t)
    for words, message in ((["true"], "timeout is not QEMU"),
                           (["qemu-system-x86_64", "-enable-kvm"], "'-accel tcg' in its place"),
                           (["qemu-system-x86_64", "-accel", "kvm"], "'-accel kvm' runs the guest"),
                           (["qemu-system-x86_64", "--machine", "q35,accel=kvm"],
                            "'--machine q35,accel=kvm' runs the guest"),
                           (["qemu-system-x86_64", "-cpu", "host"], "'-cpu max' in its place"),
                           (["qemu-system-x86_64", "-daemonize"], "leave this word out")):
        t.has(capture(t, "", qemu=words, status=2).err, message)
    for options, status, message in ((["--memory", "1"], 2, "a stream has no limit"),
                                     (["--start", "now"], 2, "--start needs on, off or tag:NAME"),
                                     (["--end", "mark"], 2, "--end needs tag:NAME"),
                                     (["--end", "tag:none"], 1, "has no such name"),
                                     (["--start", "tag:none"], 1, "has no such name"),
                                     (["--names", t.path("none")], 1, "No such file"),
                                     (["--device", t.path("none")], 1, "is not a readable file")):
        t.has(capture(t, "1", *options, status=status).err, message)
    t.has(capture(t, "", qemu=["qemu-none"], status=127).err, "No such file")
    t.has(t.assay("tags", "capture", "--qemu", status=2).err, "needs a command to run")
    t.has(t.assay("tags", "capture", "off", t.path("none"), status=1).err, "does not exist; name")
    err = capture(t, "", qemu=["qemu-system-x86_64", "-nonsense"]).err
    t.has(err, "-nonsense: invalid option")
    t.has(err, "QEMU ended with status 1 before the capture device had a trace")
    # A guest without triggers.
    plain = t.path("plain")
    (t.path("x")).mkdir()
    qemu_guest.compile_guest(t.path("x"), plain, None)
    t.has(capture(t, "", qemu=qemu_guest.command(plain, "1")).err, "the guest ran no trigger")


@test
def a_missing_device_names_its_places(t):
    copy = t.path("assay")
    os.link(ASSAY, copy) if os.stat(ASSAY).st_dev == os.stat(t.directory).st_dev \
        else run("cp", ASSAY, copy)
    if (BUILD / "installed").exists():
        t.skip("a device is installed")
    result = run(copy, "tags", "capture", "--qemu", "--", "qemu-system-x86_64", status=None)
    if "the capture device is neither at" not in result.err:
        t.skip("a device is installed")
    t.has(result.err, "build assay with 'meson configure -Ddevice=enabled'")


@test
def a_killed_qemu_gives_a_report(t):
    process = start(t, f"{ROUNDS} wait")
    t.true(process.stdout.readline().strip(), "the guest printed no time")
    os.kill(qemu_of(t, process), signal.SIGKILL)
    out, _ = process.communicate(timeout=limit(20))
    t.has(out, f"({EVENTS - 1} tags)")  # start_c has not returned
    t.true(not (t.path("trace") / ".control").exists(), "the FIFO was not removed")


@test
def a_signal_reaches_qemu(t):
    process = start(t, f"{ROUNDS} wait")
    t.true(process.stdout.readline().strip(), "the guest printed no time")
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate(timeout=limit(20))
    t.has(out, f"({EVENTS - 1} tags)")


@test
def recording_stops_and_starts_while_the_guest_runs(t):
    process = start(t, "1 busy", "--start", "off")
    trace, stream = t.path("trace"), t.path("trace") / "stream_0"
    t.true(process.stdout.readline().strip(), "the guest printed no time")
    t.has(process.stderr.readline(), f"'assay tags capture on {trace}' starts it")
    t.equal(t.assay("tags", "capture", "on", trace).out, f"{trace}: on\n")
    t.until(lambda: stream.exists() and stream.stat().st_size > 512 * 1024, "events")
    t.assay("tags", "capture", "off", trace, "-q", status=1)  # options come first
    t.equal(t.assay("tags", "capture", "-q", "off", trace).out, "")
    size = t.until(lambda: stable(lambda: stream.stat().st_size), "no more events")
    report = t.report(trace)
    t.assay("tags", "capture", "on", trace)
    t.until(lambda: stream.stat().st_size > size, "events after the gap")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=limit(20))
    after = t.report(trace)
    t.between(after["tags"], report["tags"] + 1, 10**12, "events")
    t.equal(after["gaps"], report["gaps"] + 1, "gaps")
    t.has(t.assay("tags", "capture", "on", trace, status=1).err, "does not exist; name")


main()
