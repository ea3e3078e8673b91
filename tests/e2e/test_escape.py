# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of programs that are deleted before the report keep their names and can be
annotated."""
import contextlib
import http.server
import os
import pathlib
import signal
import threading

from harness import *

# A program that uses argv[1] seconds of CPU time in one function; each %s is the function's name.
SPIN = """
#include <stdlib.h>
#include <time.h>
static volatile unsigned long sink;
__attribute__((noinline)) void %(inner)s(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
static __attribute__((noinline)) int %(outer)s(double seconds)
{
	struct timespec a, b;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	do {
		%(inner)s();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	} while ((b.tv_sec - a.tv_sec) + (b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
	return (int)sink;
}
%(main)s
"""
MAIN = "int main(int argc, char **argv) { return %(outer)s(atof(argv[1])) == -1; }"
LIBRARY = "int run(double seconds); int run(double seconds) { return %(outer)s(seconds); }"
USER = "#include <stdlib.h>\nint run(double); int main(int c, char **v) { return run(atof(v[1])) == -1; }"


def compile(t, name, prefix, *flags, main=MAIN):
    t.need("cc")
    names = {"inner": f"{prefix}_inner", "outer": f"{prefix}_outer"}
    source = t.write(f"{name}.c", SPIN % {**names, "main": main % names})
    t.run("cc", "-g", "-O1", "-fno-omit-frame-pointer", "-o", t.path(name), source, *flags)
    return t.path(name)


def cached(t):
    """An environment with its own cache."""
    return {"XDG_CACHE_HOME": str(t.path("cache"))}


def record(t, script, *options, machine_wide=False):
    """Records a shell script that runs in the test's directory."""
    out = t.path("a.data")
    words = ["-a"] if machine_wide else []
    t.assay("record", "-F", "1999", "-o", out, *words, *options, "--", "sh", "-c", script,
            env=cached(t), cwd=t.directory)
    return out


def functions(t, out, *options):
    report = t.report(*options, out, env=cached(t))
    return {row["function"]: row["samples"] for row in report["functions"]}


def is_named(t, out, name, least=100):
    """Checks that the report has samples of the function by name, and that annotate shows its
    code."""
    found = functions(t, out)
    t.true(found.get(name, 0) >= least, f"{name} has {least} samples at least: {found}")
    code = t.json(t.assay("annotate", "--json", name, out, env=cached(t)).out)
    t.equal(code["function"], name, "annotated")
    hit = sum(row["samples"] for row in code["instructions"])
    t.true(hit >= least and not code["inside_instruction"], f"instructions are hit: {hit}")
    t.true(any(row.get("line") for row in code["instructions"]), "lines are known")


# Waits until process $1 has used this CPU time (in hundredths of a second), as /proc reports it.
HAS_RUN = """
has_run() {
	while read -r _ _ _ _ _ _ _ _ _ _ _ _ _ user system _ <"/proc/$1/stat" &&
		[ $((user + system)) -lt "$2" ]; do sleep 0.05; done
}
"""


@test
def program_deleted_and_still_running_at_the_end(t):
    script = (HAS_RUN + "./gone 60 >/dev/null 2>&1 & echo $! >pid; has_run $! 30; rm gone; "
              "has_run $! 60; sleep 0.3")
    for options in ([], ["-g"]):
        compile(t, "gone", "gone")
        out = record(t, script, *options)
        os.kill(int(t.path("pid").read_text()), signal.SIGKILL)
        is_named(t, out, "gone_inner")


@test
def program_that_ended_and_was_deleted_within_a_second(t):
    for options in ([], ["-g"]):
        for machine_wide in (False, True):
            if machine_wide and os.geteuid() != 0:
                continue
            compile(t, "brief", "brief")
            out = record(t, "./brief 0.4; rm brief; sleep 2", *options, machine_wide=machine_wide)
            # A recorder of the whole machine with stacks that gets too little CPU time drops most
            # of them.
            is_named(t, out, "brief_inner", 20 if machine_wide and options else 100)


@test
def program_that_lived_for_long_before_it_was_deleted(t):
    compile(t, "long", "long")
    out = record(t, "./long 5.5; sleep 0.2; rm long; sleep 1")
    is_named(t, out, "long_inner")


# Runs its first argument from memory, with the others as arguments: the file has no path.
FROM_MEMORY = """
import os, sys
with open(sys.argv[1], "rb") as f:
    program = f.read()
fd = os.memfd_create("from-memory")
while program:
    program = program[os.write(fd, program):]
os.execve(fd, sys.argv[1:], os.environ)
"""


@test
def programs_that_run_from_memory_have_names(t):
    for i in range(3):
        compile(t, f"memory{i}", f"memory{i}")
    code = t.write("run.py", FROM_MEMORY)
    out = record(t, f"for i in 0 1 2; do python3 {code} ./memory$i 0.4; done", "-g")
    for i in range(3):
        is_named(t, out, f"memory{i}_inner")


@test
def program_rebuilt_while_recorded_has_the_names_of_both(t):
    for options in ([], ["-g"]):
        compile(t, "v1", "first")
        compile(t, "v2", "second")
        out = record(t, "cp v1 p; ./p 0.4; cp v2 p.new; mv p.new p; ./p 0.4; rm v1 v2", *options)
        is_named(t, out, "first_inner")
        is_named(t, out, "second_inner")


@test
def program_overwritten_in_place_is_reported(t):
    compile(t, "v1", "first")
    compile(t, "v2", "second")
    out = record(t, "cp v1 p; ./p 0.4; sleep 0.3; cat v2 >p; ./p 0.4")
    is_named(t, out, "second_inner")
    t.lacks(str(functions(t, out)), "first_inner", "names of what is lost")
    t.has(t.assay("report", "--full", out, env=cached(t)).out, "rewritten in its place", "the report")


@test
def shared_library_that_was_deleted(t):
    for options in ([], ["-g"]):
        lib = compile(t, "libgone.so", "library", "-shared", "-fPIC", main=LIBRARY)
        t.run("cc", "-o", t.path("user"), "-x", "c", t.write("user.c", USER), "-x", "none", lib,
              "-Wl,-rpath,$ORIGIN")
        out = record(t, HAS_RUN + "./user 0.8 & has_run $! 20; rm libgone.so; wait; sleep 0.3",
                     *options)
        is_named(t, out, "library_inner")


@test
def program_in_a_mount_namespace_of_its_own(t):
    t.need("unshare", "mount")
    t.path("inside").mkdir()
    probe = t.run("unshare", "-m", "mount", "-t", "tmpfs", "none", t.path("inside"), status=None)
    if probe.status:
        t.skip(f"no mount namespace: {probe.err.strip()}")
    for options in ([], ["-g"]):
        compile(t, "boxed", "boxed")
        out = record(t, "unshare -m sh -c 'mount -t tmpfs none inside && cp boxed inside/boxed "
                     "&& inside/boxed 0.5'; rm boxed; sleep 0.2", *options)
        is_named(t, out, "boxed_inner")


@test
def without_a_cache_the_reason_is_reported_once(t):
    compile(t, "brief", "brief")
    result = t.run("env", "-u", "HOME", "-u", "XDG_CACHE_HOME", ASSAY, "record", "-F", "1999", "-o", t.path("a.data"),
                   "--", "sh", "-c", "cp brief brief2; cp brief brief3; for p in brief2 brief3; do ./$p 0.3; rm $p; done",
                   cwd=t.directory)
    t.has(result.err, "2 recorded files that were deleted, replaced or in a container could not be kept for the "
          "report (no cache: neither XDG_CACHE_HOME nor HOME is set): ")
    t.equal(result.err.count("no cache"), 1, "how often it is said")


@test
def programs_without_samples_are_not_kept(t):
    t.need("readelf")
    compile(t, "busy", "busy")
    ids = {"busy": build_id(t, t.path("busy"))}
    for i in range(8):
        compile(t, f"p{i}", "idle", f"-Wl,--build-id=0x{'ab' * 19}{i:02x}")
        ids[f"p{i}"] = build_id(t, t.path(f"p{i}"))
    out = record(t, "for i in 0 1 2 3 4 5 6 7; do ./p$i 0; rm p$i; done; ./busy 1; rm busy; sleep 1",
                 "-F", "99", "--no-witness")  # its samples are only used for the time account
    is_named(t, out, "busy_inner", 20)
    rows = t.report("--sort", "image", "--percent-limit", "0", out, env=cached(t))["rows"]
    sampled = {ids[name] for name in ids
               if any(row["image"].endswith(f"/{name}") and row["samples"] for row in rows)}
    kept = {path.name for path in t.path("cache").glob("assay/image/[0-9a-f]*")}
    t.true(sampled <= kept, f"kept are {kept}, sampled {sampled}, of {ids}")
    # A program may run on a CPU whose ring has just been read: then the recorder does not know
    # whether it has samples.
    t.true(len(kept - sampled) <= 3, f"kept are {kept}, sampled {sampled}, of {ids}")


@test
def a_killed_recorder_leaves_its_kept_images(t):
    compile(t, "brief", "brief")
    out = t.path("a.data")
    recorder = t.start(ASSAY, "record", "-F", "1999", "-o", out, "--", "sh", "-c",
                       "./brief 1; rm brief; echo >gone; exec sleep 30",
                       env={**os.environ, **cached(t)}, cwd=t.directory)
    t.until(lambda: t.path("gone").exists(), "the program is gone")
    t.until(lambda: list(t.path("cache").glob("assay/image/[0-9a-f]*")), "a copy is kept")
    # A file that the recorder kept while it recorded exists after the recorder is killed.
    t.until(lambda: "brief_inner" in t.assay("report", "--full", out, env=cached(t), status=None).out,
            "its samples are in the file")
    recorder.kill()
    t.wait(recorder)
    t.true("brief_inner" in functions(t, out), "it is named")


def strip_to_mini_debug(t, program):
    """Removes the symbols, and restores those of local functions as distributions do."""
    t.need("objcopy", "strip", "xz", "nm")
    plain, mini = t.path("plain"), t.path("mini")
    t.run("objcopy", "--only-keep-debug", program, plain)
    t.run("objcopy", "-S", "--keep-symbol=packed_outer", "--keep-symbol=packed_inner", plain, mini)
    t.run("xz", "-f", "-k", mini)
    t.run("strip", "--strip-all", program)
    t.run("objcopy", "--add-section", f".gnu_debugdata={mini}.xz", program)


@test
def stripped_program_with_mini_debug_info_names_its_local_functions(t):
    program = compile(t, "packed", "packed")
    out = record(t, "./packed 0.1")
    t.true("packed_inner" in functions(t, out), "named with its symbols")
    stripped = t.path("packed")
    t.run("strip", "-o", t.path("bare"), stripped)
    strip_to_mini_debug(t, program)
    out = record(t, "./packed 0.5; ./bare 0.5", "-g")
    found = t.report("--children", out, env=cached(t))["functions"]
    names = {row["function"] for row in found if row["image"].endswith("/packed")}
    if "packed_inner" not in names and "[no symbol]" in str(names):
        t.skip("built without liblzma")
    t.true({"packed_inner", "packed_outer"} <= names, f"local functions: {names}")
    bare = {row["function"] for row in found if row["image"].endswith("/bare")}
    t.true("packed_inner" not in bare, f"without it they have no names: {bare}")


class Server:
    """Serves /buildid/ID/debuginfo on loopback, once `answers` is set, and counts the requests."""

    def __init__(self, files, endless=None):
        asked = self.asked = []
        answers = self.answers = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = files.get(self.path)
                answers.wait(limit(60))
                if endless:
                    self.send_response(200)
                    self.end_headers()
                    return endless(self.wfile)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def build_id(t, program):
    notes = t.run("readelf", "-n", program).out
    return notes.split("Build ID: ")[1].split()[0]


@test
def debuginfod_is_asked_in_the_background_and_only_on_request(t):
    t.need("objcopy", "strip", "readelf")
    program = compile(t, "far", "far")
    debug = t.path("far.debug")
    t.run("objcopy", "--only-keep-debug", program, debug)
    t.run("strip", "--strip-all", program)
    key = build_id(t, program)
    server = Server({f"/buildid/{key}/debuginfo": debug.read_bytes()})
    env = {**cached(t), "DEBUGINFOD_URLS": server.url,
           "DEBUGINFOD_CACHE_PATH": str(t.path("client"))}
    out = record(t, "./far 0.5")
    t.assay("report", out, env=env)
    t.equal(server.asked, [], "requests without --debuginfod")
    # assay exits before the server answers.
    first = t.assay("report", "--full", "--debuginfod", out, env=env, status=None, timeout=30)
    server.answers.set()
    if "libdebuginfod" in first.err:
        t.skip(first.err.strip())
    t.has(first.err, "being fetched", "the note")
    t.lacks(first.out, "far_inner", "the first report")
    t.until(lambda: list(pathlib.Path(env["XDG_CACHE_HOME"]).glob(f"assay/debuginfod/{key}")),
            "the file is there")
    t.has(t.assay("report", "--full", "--debuginfod", out, env=env).out, "far_inner", "the second report")
    t.has(t.assay("annotate", "--debuginfod", "far_inner", out, env=env).out, "far.c",
          "annotate's lines")
    t.equal([path for path in server.asked if key in path], [f"/buildid/{key}/debuginfo"],
            "questions about the program")
    server.server.shutdown()


def endless(out):
    with contextlib.suppress(OSError):
        while True:
            out.write(b"A" * 65536)


@test
def debuginfod_has_a_limit_on_the_disk(t):
    """Of a server without an end, on a disk of 32 MB, of which a tenth stays free."""
    if os.geteuid():
        t.skip("only root can mount")
    t.need("strip", "readelf")
    program = compile(t, "far", "far")
    t.run("strip", "--strip-all", program)
    out = record(t, "./far 0.3")
    disk = t.path("disk")
    disk.mkdir(mode=0o700)
    t.run("mount", "-t", "tmpfs", "-o", "size=32M,mode=700", "none", disk)
    try:
        server = Server({}, endless)
        server.answers.set()
        env = {"XDG_CACHE_HOME": str(disk), "DEBUGINFOD_URLS": server.url,
               "DEBUGINFOD_CACHE_PATH": str(t.path("client"))}
        first = t.assay("report", "--full", "--debuginfod", out, env=env, status=None)
        if "libdebuginfod" in first.err:
            t.skip(first.err.strip())
        kept = disk / "assay" / "debuginfod"
        most, asked = 0, f"/buildid/{build_id(t, program)}/debuginfo"

        def settled():
            nonlocal most
            most = max(most, sum(f.stat().st_size for f in disk.rglob("*") if f.is_file()))
            return list(kept.glob(build_id(t, program))) and not (kept / ".fetch").exists()

        t.until(settled, "the file is marked as too large")
        t.true(most < 20 << 20, f"{most} bytes were on the disk")
        t.equal(sum(f.stat().st_size for f in kept.rglob("*")), 0, "bytes that are kept")
        # It is not fetched again for some minutes.
        before = server.asked.count(asked)
        t.assay("report", "--full", "--debuginfod", out, env=env, status=None)
        t.equal(server.asked.count(asked), before, "requests")
        server.server.shutdown()
    finally:
        t.run("umount", "-l", disk)


main()
