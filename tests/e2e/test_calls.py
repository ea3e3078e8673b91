# SPDX-License-Identifier: GPL-2.0-or-later
"""calls: counts of a command equal those that follow from its source, for all ways in which it
ends; list, get and reset work on running processes; error messages say what to do."""
import errno
import os
import pathlib
import pty
import shutil
import signal
import stat
import subprocess
import sys
import time

from harness import ASSAY, BUILD, main, nested, run, test
from programs import Obeying

LIBRARY = BUILD / "runtime" / "libassay-calls.so"

# The arguments determine the counts: N branches with two leaves each; then the action of `end`.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); }
__attribute__((noinline)) void rounds(int n) { for (int i = 0; i < n; i++) branch(); }

/* Each line is a number of rounds; "ok" when they are done. */
__attribute__((noinline)) void obey(void)
{
	char line[64];
	size_t size = 0;

	/* Its call is counted when this is read. */
	if (write(1, "ready\n", 6) != 6)
		_exit(1);
	while (read(0, line + size, 1) == 1 && size < sizeof(line) - 2) {
		if (line[size++] != '\n')
			continue;
		line[size] = 0;
		size = 0;
		rounds(atoi(line));
		if (write(1, "ok\n", 3) != 3)
			_exit(1);
	}
}

__attribute__((no_instrument_function)) static void on_signal(int number)
{
	(void)number;
	_exit(7);
}

int main(int argc, char **argv)
{
	const char *end = argc > 2 ? argv[2] : "";

	if (!strcmp(end, "handle"))
		signal(SIGINT, on_signal);
	rounds(argc > 1 ? atoi(argv[1]) : 0);
	if (!strcmp(end, "obey")) {
		obey();
		return 0;
	}
	if (!strcmp(end, "forever") || !strcmp(end, "handle")) {
		if (write(1, "ready\n", 6) != 6)
			return 1;
		for (;;)
			pause();
	}
	if (!strcmp(end, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(end, "abort"))
		abort();
	return atoi(end);
}
"""


def build(t, name="program", source=PROGRAM, flags=("-finstrument-functions",)):
    t.need("gcc")
    run("gcc", "-O1", "-g", *flags, "-o", t.path(name), t.write(name + ".c", source))
    return t.path(name)


def place(t):
    """An environment with its own directory for tables."""
    directory = t.path("tables")
    directory.mkdir(mode=0o700, exist_ok=True)
    return {"ASSAY_CALLS_DIR": str(directory)}


def calls_of(process):
    """Calls by function, summed over all its paths."""
    counts = {}
    for path in process["paths"]:
        counts[path["path"][-1]] = counts.get(path["path"][-1], 0) + path["calls"]
    return {name: count for name, count in counts.items() if count}


def processes(t, file):
    return t.report(file)["processes"]


def count(t, program, *words, status=0, options=(), env=None):
    """Runs the program under assay calls; returns the contents of the file."""
    t.assay("calls", "-q", "-o", t.path("c.calls"), *options, "--", program, *words,
            status=status, env={**place(t), **(env or {})})
    return processes(t, t.path("c.calls"))


def leftovers(t):
    return sorted(str(path.relative_to(t.path("tables"))) for path in t.path("tables").rglob("*"))


class Counted(Obeying):
    """A program that counts its calls by itself."""

    def __init__(self, t, program, rounds, inside=()):
        super().__init__(t, *inside, program, rounds,
                         env={**place(t), "LD_PRELOAD": str(LIBRARY)})


def listed(t, *words, **options):
    found = t.json(t.assay("calls", "list", "--json", *words, env=place(t), **options).out)
    found.pop("assay")  # the version
    return found


def got(t, *words):
    return nested(t.json(t.assay("calls", "get", "--json", *words, env=place(t)).out))["processes"]


def refused(t, *words, status=1, **options):
    """The error message of a wrong command line."""
    result = t.assay("calls", *words, status=status, **{"env": place(t), **options})
    t.true(result.err.startswith("assay: "), f"not assay's own sentence: {result.err}")
    return result.err


# A command

@test
def counts_are_exact_and_the_status_is_passed_on(t):
    program = build(t)
    result = t.assay("calls", "-o", t.path("c.calls"), "--", program, 7, 3, status=3, env=place(t))
    for word in ("program", "leaf", "branch", "rounds", "main"):
        t.has(result.out, word, "the report")
    t.has(result.err, str(t.path("c.calls")))
    process, = processes(t, t.path("c.calls"))
    t.equal(process["name"], "program")
    t.equal(calls_of(process), {"main": 1, "rounds": 1, "branch": 7, "leaf": 14})
    t.equal(leftovers(t), [], "what is left of the session")


@test
def words_after_the_command_are_its_own(t):
    program = build(t)
    t.assay("calls", "-q", "-o", t.path("c.calls"), program, "5", "-q", "--json", env=place(t))
    t.equal(calls_of(processes(t, t.path("c.calls"))[0])["leaf"], 10)


@test
def the_report_as_json_is_that_of_the_file(t):
    program = build(t)
    result = t.assay("calls", "--json", "-o", t.path("c.calls"), "--", program, 4, env=place(t))
    direct, later = nested(t.json(result.out))["processes"], processes(t, t.path("c.calls"))
    t.equal([calls_of(p) for p in direct], [calls_of(p) for p in later])
    t.equal([p["pid"] for p in direct], [p["pid"] for p in later])


@test
def the_file_is_private_and_an_older_one_is_kept(t):
    program = build(t)
    for n in (1, 2):
        t.assay("calls", "-q", "--", program, n, env=place(t), cwd=t.directory)
    for name, n in (("assay.calls", 2), ("assay.calls.old", 1)):
        t.equal(stat.S_IMODE(t.path(name).stat().st_mode), 0o600, f"the mode of {name}")
        t.equal(calls_of(processes(t, t.path(name))[0])["branch"], n)


@test
def children_are_followed(t):
    program = build(t)
    found = count(t, "sh", "-c", f"'{program}' 3; '{program}' 4 & wait; exec '{program}' 5 6",
                  status=6)
    t.equal(sorted(calls_of(p)["branch"] for p in found), [3, 4, 5])
    t.equal({p["name"] for p in found}, {"program"})
    t.equal(len({p["pid"] for p in found}), 3, "processes")


@test
def killed_and_crashed_programs_are_reported(t):
    program = build(t)
    for end, status in (("kill", 128 + signal.SIGKILL), ("abort", 128 + signal.SIGABRT)):
        process, = count(t, program, 1000, end, status=status)
        t.equal(calls_of(process)["leaf"], 2000)
        t.true("killed" in process["flags"], f"flags after {end}: {process['flags']}")
        t.equal([p["open"] for p in process["paths"] if p["path"][-1] == "main"], [1])


@test
def options_reach_the_command_by_its_environment(t):
    t.need("env")
    result = t.assay("calls", "--memory", "64", "--filter", "a*,!ab", "--libraries", "--", "env",
                     env={**place(t), "LD_PRELOAD": "libm.so.6"}, status=1)
    found = dict(line.split("=", 1) for line in result.out.splitlines() if "=" in line)
    t.equal(found["LD_PRELOAD"], f"{LIBRARY}:libm.so.6")
    for name, value in (("MEM", "64M"), ("FILTER", "a*,!ab"), ("LIBRARIES", "1")):
        t.equal(found["ASSAY_CALLS_" + name], value)
    t.equal(found["LD_BIND_NOW"], "1")
    directory = pathlib.Path(found["ASSAY_CALLS_DIR"])
    t.equal(directory.parent, t.path("tables"))
    t.true(not directory.exists(), "the session's directory is still there")


@test
def a_filter_leaves_functions_out(t):
    process, = count(t, build(t), 6, options=("--filter", "leaf"))
    t.equal(calls_of(process), {"leaf": 12})
    t.true("filtered" in process["flags"], f"flags: {process['flags']}")


@test
def a_filter_without_matches_is_reported(t):
    result = t.assay("calls", "--filter", "leaf(void)", "-o", t.path("c.calls"), "--", build(t), 6,
                     env=place(t))
    t.has(result.err, "no function that was called matches --filter 'leaf(void)'")
    result = t.assay("calls", "--filter", "leaf", "-o", t.path("c.calls"), "--", build(t), 6,
                     env=place(t))
    t.true("fits" not in result.err, f"a filter that fits: {result.err}")


ENDS = r"""
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

static void end(const char *how)
{
	leaf();
	if (!strcmp(how, "quick"))
		quick_exit(3);
	syscall(SYS_exit_group, 3);
}

int main(int argc, char **argv)
{
	if (argc > 2 && fork() == 0)
		end(argv[1]);
	if (argc > 2)
		return wait(NULL) < 0;
	end(argv[1]);
}
"""


@test
def how_a_program_ended_is_said_as_far_as_it_is_known(t):
    program = build(t, "ends", ENDS)
    for how in ("quick", "group"):
        process, = count(t, program, how, status=3)
        t.equal(calls_of(process)["leaf"], 1, f"calls before {how}")
        ends = ("killed", "end_unknown", "running")
        t.equal([flag for flag in process["flags"] if flag in ends], [], how)
        child = next(p for p in count(t, program, how, "child") if p["parent"])
        t.equal([flag for flag in child["flags"] if flag in ends],
                ["end_unknown"] if how == "group" else [], f"flags of a child, {how}")
    result = t.assay("calls", "-o", t.path("c.calls"), "--", program, "group", "child", env=place(t))
    t.has(" ".join(result.out.split()), "by a signal or by the exit_group system call")


CHILDREN = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

static void exec(const char *how, char *self, char **argv, char **own)
{
	if (!strcmp(how, "execve"))
		execve(self, argv, own);
	if (!strcmp(how, "execle"))
		execle(self, argv[0], argv[1], NULL, own);
	if (!strcmp(how, "execvpe"))
		execvpe(self, argv, own);
	if (!strcmp(how, "fexecve"))
		fexecve(open(self, O_RDONLY), argv, own);
	environ = own;
	if (!strcmp(how, "execv"))
		execv(self, argv);
	_exit(9);
}

/* HOW, then the environment that the child gets. */
int main(int argc, char **argv)
{
	char *words[] = {argv[0], argc > 1 && !strcmp(argv[1], "show") ? "shown" : "leaf", NULL};
	pid_t child = 0;
	int status = -1;

	leaf();
	if (argc > 1 && !strcmp(argv[1], "shown"))
		for (char **word = environ; *word; word++)
			puts(*word);
	if (argc < 2 || !strcmp(argv[1], "leaf") || !strcmp(argv[1], "shown"))
		return 0;
	if (!strcmp(argv[1], "spawn") || !strcmp(argv[1], "show"))
		posix_spawn(&child, argv[0], NULL, NULL, words, argv + 2);
	else if (!strcmp(argv[1], "spawnp"))
		posix_spawnp(&child, argv[0], NULL, NULL, words, argv + 2);
	else if ((child = fork()) == 0)
		exec(argv[1], argv[0], words, argv + 2);
	waitpid(child, &status, 0);
	return status != 0;
}
"""


@test
def children_with_an_environment_of_their_own_are_counted(t):
    program = build(t, "children", CHILDREN)
    for how in ("spawn", "spawnp", "execve", "execle", "execvpe", "fexecve", "execv"):
        more = ((), ("LD_PRELOAD=libm.so.6",), [f"V{i}=" + "x" * 20 for i in range(600)])
        for own in (("PATH=/bin", "A=b"), *(more if how in ("spawn", "execve") else ())):
            found = count(t, program, how, *own)
            t.equal([calls_of(p)["leaf"] for p in found if calls_of(p).get("leaf")], [1, 1],
                    f"calls of the program and of its child, by {how} with {own[:2]}")
    # An empty LD_PRELOAD excludes the child from counting.
    t.equal(len(count(t, program, "spawn", "LD_PRELOAD=")), 1, "processes")
    result = t.assay("calls", "-q", "--memory", "64", "-o", t.path("c.calls"), "--", program, "show",
                     "A=b", "LD_PRELOAD=libm.so.6", env=place(t))
    found = dict(line.split("=", 1) for line in result.out.splitlines())
    t.equal(set(found), {"A", "LD_PRELOAD", "ASSAY_CALLS_DIR", "ASSAY_CALLS_MEM"}, "variables")
    t.equal((found["A"], found["LD_PRELOAD"]), ("b", f"{LIBRARY}:libm.so.6"), "values")


FULL = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t turn;

void b(int n);
__attribute__((noinline)) void a(int n) { if (n) { a(n - 1); b(n - 1); } __asm__ volatile(""); }
__attribute__((noinline)) void b(int n) { if (n) { a(n - 1); b(n - 1); } __asm__ volatile(""); }

/* Its record and some nodes are there before the table is full. */
static void *load(void *names)
{
	pthread_barrier_wait(&turn);
	pthread_barrier_wait(&turn);
	for (char **name = names; *name; name++) {
		void *library = dlopen(*name, RTLD_NOW);

		((void (*)(void))dlsym(library, "loaded"))();
		dlclose(library);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	pthread_barrier_init(&turn, NULL, 2);
	pthread_create(&thread, NULL, load, argv + 1);
	pthread_barrier_wait(&turn);
	a(14);
	pthread_barrier_wait(&turn);
	pthread_join(thread, NULL);
	return argc < 0;
}
"""


@test
def libraries_loaded_after_the_table_is_full_have_names_or_a_flag(t):
    program = build(t, "full", FULL, ("-finstrument-functions", "-pthread"))
    source = t.write("library.c", "void inside_%d(void) { }\n".replace("%d", "LIBRARY") +
                     "void loaded(void) { INSIDE(); }\n")
    for n in range(30):
        run("gcc", "-O0", "-finstrument-functions", "-shared", "-fPIC", f"-DLIBRARY={n}",
            f"-Dinside_LIBRARY=inside_{n}", f"-DINSIDE=inside_{n}", "-o", t.path(f"l{n}.so"), source)
    for libraries, flagged in ((2, False), (30, True)):
        process, = count(t, program, *(t.path(f"l{n}.so") for n in range(libraries)),
                         options=("--memory", "64k"))
        calls = calls_of(process)
        t.true("full" in process["flags"], f"flags: {process['flags']}")
        t.equal("images" in process["flags"], flagged, f"the flag, of {libraries} libraries")
        t.true("damaged" not in process["flags"], "a damaged table")
        named = {name: n for name, n in calls.items() if name.startswith("inside_")}
        t.equal(set(named.values()), {1}, "calls of functions that have a name")
        unnamed = sum(n for name, n in calls.items() if name.startswith("//anon") or "anon+" in name)
        if not flagged:
            t.equal((len(named), unnamed), (libraries, 0), "functions with and without a name")


MANY_IMAGES = r"""
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* The runtime takes each mapping of a page of code for an image of its own. */
int main(int argc, char **argv)
{
	int fd = open(argv[0], O_RDONLY);
	char *page = NULL;

	for (int i = 0; i < atoi(argv[1]); i++)
		page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	__cyg_profile_func_enter(page + 64, main);
	__cyg_profile_func_exit(page + 64, main);
	return argc < 2;
}
"""


@test
def more_images_than_a_table_can_name_are_flagged(t):
    program = build(t, "images", MANY_IMAGES, (f"-L{LIBRARY.parent}", "-Wl,--no-as-needed", "-lassay-calls"))
    for images, flagged in ((100, False), (4200, True)):
        process, = count(t, program, images)
        t.equal("images" in process["flags"], flagged, f"the flag, of {images} images")
        t.equal(sum(calls_of(process).values()), 1, "calls")


LIBRARY_CALLS = r"""
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <pthread.h>

static void *nothing(void *p) { return p; }

int main(int argc, char **argv)
{
	char *copy = strdup(argv[0]);
	pthread_t thread;

	free(copy);
	pthread_create(&thread, NULL, nothing, NULL);
	pthread_join(thread, NULL);
	waitpid(-1, NULL, 0);
	return 0;
}
"""


@test
def functions_of_libraries_bear_the_names_that_programs_use(t):
    program = build(t, source=LIBRARY_CALLS, flags=("-finstrument-functions", "-fno-builtin",
                                                    "-pthread"))
    process, = count(t, program, options=("--libraries",))
    names = {path["path"][-1] for path in process["paths"] if path["library"] == "libc.so.6"}
    t.equal(names, {"strdup", "free", "pthread_create", "pthread_join", "waitpid"})


@test
def missing_space_for_tables_is_reported(t):
    t.need("mount")
    if os.geteuid() != 0:
        t.skip("mounting a small file system needs root")
    full = t.path("full")
    full.mkdir(mode=0o700)
    if run("mount", "-t", "tmpfs", "-o", "size=8k,mode=700", "none", full, status=None).status:
        t.skip("nothing can be mounted here")
    try:
        err = refused(t, "--", build(t), 5, env={"ASSAY_CALLS_DIR": str(full)})
        t.has(err, f"the disk of {full}/run-")
        t.has(err, "name a directory with free space in $ASSAY_CALLS_DIR")
    finally:
        run("umount", full)


# Ways in which a program ends

@test
def a_reader_that_stops_early_leaves_no_table_behind(t):
    program = build(t)
    reader, writer = os.pipe()
    os.close(reader)
    process = t.start(ASSAY, "calls", "-o", t.path("c.calls"), "--", program, 3, stdout=writer,
                      stderr=subprocess.PIPE, env={**os.environ, **place(t)})
    os.close(writer)
    err = process.stderr.read().decode()
    t.equal(t.wait(process), -signal.SIGPIPE, err)
    t.true("could not be written" not in err, err)
    t.equal(calls_of(processes(t, t.path("c.calls"))[0])["leaf"], 6)
    t.equal(leftovers(t), [])


def in_terminal(t, key, *words):
    """Runs assay in a terminal, presses a key when the program is ready; status and output."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(place(t))
        os.execv(ASSAY, [ASSAY, *map(str, words)])
    seen, pressed = b"", False
    try:
        while True:
            try:
                piece = os.read(terminal, 65536)
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                break
            if not piece:
                break
            seen += piece
            if b"ready" in seen and not pressed:
                pressed = True
                os.write(terminal, key)
        _, status = os.waitpid(pid, 0)
    finally:
        os.close(terminal)
    return os.waitstatus_to_exitcode(status), seen.decode()


@test
def ctrl_c_ends_the_command_and_the_report_is_printed(t):
    program = build(t)
    for end, wanted in (("forever", 128 + signal.SIGINT), ("handle", 7)):
        status, out = in_terminal(t, b"\x03", "calls", "-o", t.path("c.calls"), "--", program, 9,
                                  end)
        t.equal(status, wanted, f"status: {out}")
        t.has(out, "branch", "the report")
        t.equal(calls_of(processes(t, t.path("c.calls"))[0])["branch"], 9)
        t.equal(leftovers(t), [])


@test
def a_signal_to_assay_is_passed_on(t):
    program = build(t)
    for end, number, wanted in (("forever", signal.SIGTERM, 128 + signal.SIGTERM),
                                ("handle", signal.SIGINT, 7)):
        process = t.start(ASSAY, "calls", "-q", "-o", t.path("c.calls"), "--", program, 3, end,
                          stdout=subprocess.PIPE, env={**os.environ, **place(t)})
        t.equal(process.stdout.readline(), b"ready\n")
        process.send_signal(number)
        t.equal(t.wait(process), wanted)
        t.equal(calls_of(processes(t, t.path("c.calls"))[0])["leaf"], 6)


@test
def what_goes_on_is_reported_as_it_is_and_stays(t):
    program = build(t)
    os.mkfifo(t.path("fifo"))
    hold = os.open(t.path("fifo"), os.O_RDWR)
    try:
        result = t.assay("calls", "-o", t.path("c.calls"), "--", "sh", "-c",
                         f"'{program}' 8 obey <'{t.path('fifo')}' >'{t.path('out')}' 2>&1 & "
                         f"echo $!; for i in $(seq 1000); do grep -q ready '{t.path('out')}' && "
                         "break; sleep 0.01; done",
                         env=place(t))
        pid = int(result.out.split()[0])
        t.has(result.err, "1 process is still running")
        t.has(result.err, str(t.path("tables")))
        process, = processes(t, t.path("c.calls"))
        t.equal(calls_of(process)["leaf"], 16)
        t.true("running" in process["flags"], f"flags: {process['flags']}")
        t.equal([p["pid"] for p in listed(t)["processes"]], [pid])
        os.kill(pid, signal.SIGKILL)
        t.until(lambda: not listed(t)["processes"], "it is listed no more")
        process, = got(t, pid)
        t.equal(calls_of(process)["leaf"], 16)
        t.assay("calls", "reset", env=place(t))
        t.equal(leftovers(t), [], "what is left after reset")
    finally:
        os.close(hold)


DAEMON = r"""
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((noinline)) void leaf(void) { __asm__ volatile(""); }

#ifdef QUIET
__attribute__((no_instrument_function))
#endif
/* As daemon(3): the parent ends at once, and the child goes on. */
int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDWR), raw = argc > 2 && !strcmp(argv[2], "raw");
	char byte;

	if (raw ? syscall(SYS_fork) : fork())
		_exit(0);
	close(0);
	close(1);
	close(2);
	if (read(fd, &byte, 1) == 1)
		leaf();
	return 0;
}
"""


@test
def children_that_run_on_and_counted_nothing_are_named(t):
    program = build(t, "background", DAEMON)
    quiet = build(t, "quiet", DAEMON, ("-finstrument-functions", "-DQUIET"))
    counting = build(t)
    os.mkfifo(t.path("fifo"))
    hold = os.open(t.path("fifo"), os.O_RDWR)
    try:
        for how, command in (("fork", (program, t.path("fifo"))),
                             ("raw", (program, t.path("fifo"), "raw")),
                             ("exec", ("sh", "-c", f"'{quiet}' '{t.path('fifo')}'; '{counting}' 3"))):
            result = t.assay("calls", "-o", t.path("c.calls"), "--", *command, env=place(t))
            t.has(result.err, "1 child is still running and had called no counted function: ")
            t.has(result.err, "quiet (process " if how == "exec" else "background (process ")
            t.has(" ".join(result.out.split()), "had called no counted function: 1;")
            found = processes(t, t.path("c.calls"))
            t.equal([p["uncounted_children"] for p in found if "uncounted" in p["flags"]], [1],
                    f"children in the file, {how}")
            child = int(result.err.split("(process ")[1].split(")")[0])
            os.write(hold, b"x")
            t.until(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the child ends")
            if how == "raw":  # no fork handler ran, so the child's calls go to its parent's table
                continue
            process, = got(t, child)
            t.equal(calls_of(process)["leaf"], 1, "what it counted later")
    finally:
        os.write(hold, b"x")
        os.close(hold)


@test
def children_that_count_or_cannot_count_are_not_named_so(t):
    program = build(t)
    result = t.assay("calls", "-o", t.path("c.calls"), "--", "sh", "-c",
                     f"sleep 30 <&- >&- 2>&- & echo $!; exec '{program}' 3", env=place(t))
    os.kill(int(result.out.split()[0]), signal.SIGKILL)
    t.true("runs on" not in result.err, result.err)
    process, = processes(t, t.path("c.calls"))
    t.equal(process["uncounted_children"], 0, "children")


@test
def a_killed_assay_leaves_the_tables_to_get(t):
    program = build(t)
    process = t.start(ASSAY, "calls", "--", program, 3, "forever", stdout=subprocess.PIPE,
                      env={**os.environ, **place(t)})
    t.equal(process.stdout.readline(), b"ready\n")
    process.kill()
    t.wait(process)
    running, = listed(t)["processes"]
    t.equal(calls_of(got(t)[0])["leaf"], 6)
    os.kill(running["pid"], signal.SIGKILL)
    t.until(lambda: not listed(t)["processes"], "it is listed no more")
    t.equal(calls_of(got(t)[0])["leaf"], 6)
    t.assay("calls", "reset", env=place(t))
    t.assay("calls", "list", env=place(t))
    t.equal(leftovers(t), [], "what is left after reset")


# list, get, reset

@test
def list_names_running_processes(t):
    program = build(t)
    t.has(t.assay("calls", "list", env=place(t)).err, "no process of yours counts calls")
    t.equal(listed(t), {"processes": [], "ended": 0})
    begun = time.time()
    one, two = Counted(t, program, 2), Counted(t, program, 5)
    found = {p["pid"]: p for p in listed(t)["processes"]}
    t.equal(set(found), {one.pid, two.pid})
    for counted, n in ((one, 2), (two, 5)):
        entry = found[counted.pid]
        t.equal(entry["name"], "program")
        t.has(entry["command"], f"program {n} obey")
        # main, rounds, obey; branch once, leaf twice a round
        t.equal(entry["calls"], 3 + 3 * n, "calls so far")
        t.true(entry["table_bytes"] >= 4096, f"table: {entry}")
        t.between(entry["start_ns"] / 1e9, begun, time.time(), f"since when: {entry}")
    text = t.assay("calls", "list", env=place(t)).out
    for words in (str(one.pid), str(two.pid), "program 5 obey"):
        t.has(text, words, "the list")
    t.equal([p["pid"] for p in listed(t, two.pid)["processes"]], [two.pid])
    one.end()
    after = listed(t)
    t.equal([p["pid"] for p in after["processes"]], [two.pid])
    t.equal(after["ended"], 1)
    t.has(t.assay("calls", "list", env=place(t)).err, "1 table of exited processes")


@test
def get_reads_running_and_exited_processes(t):
    program = build(t)
    t.has(refused(t, "get"), "'assay calls -- COMMAND' runs one")
    one, two = Counted(t, program, 2), Counted(t, program, 5)
    t.equal({p["pid"]: calls_of(p)["leaf"] for p in got(t)}, {one.pid: 4, two.pid: 10})
    one.rounds(100)
    t.equal([calls_of(p)["leaf"] for p in got(t, one.pid)], [204])
    two.end()
    t.equal({p["pid"]: ("running" in p["flags"], calls_of(p)["leaf"]) for p in got(t)},
            {one.pid: (True, 204), two.pid: (False, 10)})
    t.equal([calls_of(p)["leaf"] for p in got(t, two.pid)], [10])
    t.equal(t.assay("calls", "get", "-o", t.path("c.calls"), env=place(t)).out, "",
            "the report where a file is wanted")
    t.equal({p["pid"]: calls_of(p)["leaf"] for p in processes(t, t.path("c.calls"))},
            {one.pid: 204, two.pid: 10})
    t.has(t.assay("calls", "get", "-o", t.path("c.calls"), env=place(t)).err, "read it with",
          "the closing line")
    t.equal(t.assay("calls", "get", "-q", "-o", t.path("c.calls"), env=place(t)).err, "",
            "the closing line with -q")
    t.has(t.assay("calls", "get", one.pid, env=place(t)).out, "leaf", "the report")


@test
def reset_acts_on_all_and_on_blocked_ones(t):
    program = build(t)
    # Both block in read(2) until they receive a byte.
    one, two, ended = Counted(t, program, 20), Counted(t, program, 30), Counted(t, program, 1)
    ended.end()
    out = t.assay("calls", "reset", env=place(t)).out
    t.has(out, "2 processes start again at zero")
    for pid in (one.pid, two.pid):
        t.has(out, f"{pid} program", "what was reset")
    t.has(out, "1 table of an exited process is removed")
    t.has(out, f"{ended.pid} program")
    found = {p["pid"]: p for p in got(t)}
    t.equal(set(found), {one.pid, two.pid})
    for process in found.values():
        t.equal(calls_of(process), {}, "calls after the reset")
    one.rounds(6)
    found = {p["pid"]: calls_of(p) for p in got(t)}
    t.equal(found[one.pid], {"rounds": 1, "branch": 6, "leaf": 12})
    t.equal(found[two.pid], {})
    # Calls that began before the reset are not counted when they end.
    one.end()
    two.end()
    found = {p["pid"]: calls_of(p) for p in got(t)}
    t.equal(found, {one.pid: {"rounds": 1, "branch": 6, "leaf": 12}, two.pid: {}})


@test
def reset_of_one_leaves_the_other(t):
    program = build(t)
    one, two = Counted(t, program, 20), Counted(t, program, 30)
    t.has(t.assay("calls", "reset", two.pid, env=place(t)).out, f"1 process starts again at zero: {two.pid}")
    t.equal({p["pid"]: calls_of(p).get("leaf", 0) for p in got(t)}, {one.pid: 40, two.pid: 0})
    for n in (1, 2, 3):
        two.rounds(n)
        t.equal([calls_of(p)["leaf"] for p in got(t, two.pid)], [2 * n])
        t.assay("calls", "reset", "-q", two.pid, env=place(t))


@test
def a_command_under_way_is_listed_and_reset(t):
    program = build(t)
    process = t.start(ASSAY, "calls", "-q", "-o", t.path("c.calls"), "--", program, 50, "obey",
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                      env={**os.environ, **place(t)})
    t.equal(process.stdout.readline(), b"ready\n")
    entry, = listed(t)["processes"]
    t.equal(calls_of(got(t, entry["pid"])[0])["leaf"], 100)
    t.assay("calls", "reset", env=place(t))
    process.stdin.write(b"4\n")
    process.stdin.close()
    t.equal(t.wait(process), 0)
    process, = processes(t, t.path("c.calls"))
    t.equal(calls_of(process), {"rounds": 1, "branch": 4, "leaf": 8})
    t.true("reset" in process["flags"], f"flags: {process['flags']}")
    t.equal(leftovers(t), [])


@test
def unknown_processes_are_refused(t):
    t.has(refused(t, "get", "1"), "process 1 is not a process of yours that counts calls; 'assay calls list'")
    for word in ("list", "reset"):
        t.has(refused(t, word, os.getpid()), f"process {os.getpid()} is not a process of yours that counts calls")
        t.has(refused(t, word, "none", status=2), "'none' is not a process id")
    counted = Counted(t, build(t), 3)
    refused(t, "reset", counted.pid, 1)
    t.equal([calls_of(p)["leaf"] for p in got(t)], [6], "calls after a reset that was refused")
    t.equal(t.assay("calls", "reset", "-q", env=place(t)).out, "")


@test
def other_words_and_dashes_are_commands(t):
    script = t.write("bin/list", "#!/bin/sh\nexit 44\n")
    script.chmod(0o755)
    env = {**place(t), "PATH": f"{t.path('bin')}:{os.environ['PATH']}"}
    t.assay("calls", "--", "list", status=44, env=env)
    t.has(t.assay("calls", "list", env=env).err, "no process of yours")
    t.has(refused(t, "-q", "get", status=127), "if 'assay calls get' was meant")
    for word in ("list", "get", "reset"):
        t.equal(t.assay("help", "calls", word).out, t.assay("calls", word, "--help").out)
        t.has(t.assay("calls", "--help").out, f"assay calls {word}")
        t.has(t.assay("help", "--man", "calls").out, f".SS assay calls {word}")


@test
def bash_offers_the_words_and_their_options(t):
    script = t.write("completion", t.assay("help", "--completion", "bash").out)
    for words, offers in ((["calls", "li"], ["list"]), (["calls", "list", "--js"], ["--json"]),
                          (["calls", "get", "--out"], ["--output"]),
                          (["calls", "list", "--out"], []), (["calls", "--libr"], ["--libraries"])):
        quoted = " ".join(f"'{word}'" for word in ["assay", *words])
        out = run("bash", "-c", f"source {script}; COMP_WORDS=({quoted}); "
                  f"COMP_CWORD={len(words)}; _assay; printf '%s\n' \"${{COMPREPLY[@]}}\"",
                  cwd=t.directory).out
        t.equal(out.split(), offers, f"what is offered for {words}")


@test
def an_ignored_sigchld_does_not_matter(t):
    program = build(t)
    run(sys.executable, "-c", "import os, signal, sys\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nos.execv(sys.argv[1], sys.argv[1:])",
        ASSAY, "calls", "-q", "-o", "/dev/null", "--", program, 2, 3, env=place(t), status=3)


@test
def an_exec_begins_another_process_of_the_report(t):
    program = build(t)
    again = build(t, "again", '#include <unistd.h>\nint main(int c, char **v)\n{\n'
                  '(void)c;\n\texecv(v[1], v + 1);\n\treturn 1;\n}\n')
    found = {p["name"]: p for p in count(t, again, program, 4)}
    t.equal(set(found), {"again", "program"})
    t.equal(found["again"]["pid"], found["program"]["pid"])
    t.equal(calls_of(found["again"]), {"main": 1})
    t.equal(calls_of(found["program"])["leaf"], 8)


# Wrong command lines

@test
def wrong_arguments_are_refused_before_the_command_runs(t):
    mark, touch = t.path("mark"), ("--", "touch", t.path("mark"))
    t.has(refused(t, status=2), "list, get, reset")
    for memory in ("much", "0", "-1", "3X", "000k"):
        t.has(refused(t, "--memory", memory, *touch, status=2), f"'{memory}'")
    t.has(refused(t, "-a", "-c", *touch, status=2), "one order at a time")
    t.has(refused(t, "--sort", "cpu", *touch, status=2), "--sort cpu needs the CPU of each row")
    t.has(refused(t, "--kernel", "--libraries", *touch, status=2), "--kernel counts calls in the kernel")
    t.has(refused(t, "--kernel", "vfs_read", "--", status=2), "--kernel -- COMMAND")
    t.has(refused(t, "-o", t.directory, *touch), "is a directory")
    t.has(refused(t, "-o", t.path("none/c.calls"), *touch), "none")
    t.has(refused(t, *touch, env={**place(t), "ASSAY_CALLS_LIBRARY": str(t.path("no.so"))}),
          "$ASSAY_CALLS_LIBRARY is " + str(t.path("no.so")))
    t.has(refused(t, "get", "-o", t.directory), "is a directory")
    t.true(not mark.exists(), "the command was run")


@test
def a_missing_library_is_reported_with_the_searched_paths(t):
    run("cp", ASSAY, t.path("assay"))
    result = run(t.path("assay"), "calls", "--", "true", env=place(t), cwd=t.directory, status=1)
    if "was not found" not in result.err:
        t.skip("libassay-calls.so is installed on this machine")
    for path in ("runtime/libassay-calls.so", "libassay-calls.so"):
        t.has(result.err, str(t.path(path)))
    found = {check["name"]: check for check in
             t.json(run(t.path("assay"), "doctor", "--json").out)["checks"]}
    t.equal(found["runtime library"]["state"], "missing")


@test
def doctor_tells_whether_calls_can_be_counted(t):
    found = {check["name"]: check for check in
             t.json(t.assay("doctor", "--json", env=place(t)).out)["checks"]}
    t.equal(found["runtime library"]["state"], "ok")
    t.equal(found["runtime library"]["what"], str(LIBRARY))
    t.has(found["tables"]["what"], str(t.path("tables")))
    t.true(found["waiting"]["state"] in ("ok", "limited"), f"waiting: {found['waiting']}")


@test
def commands_that_cannot_be_run_leave_nothing(t):
    t.has(refused(t, "--", t.path("none"), status=127), "No such file")
    t.has(refused(t, "--", t.write("plain", "x"), status=126), "Permission denied")
    t.equal(leftovers(t), [])


@test
def programs_without_counts_get_the_reason(t):
    plain = build(t, "plain", flags=())
    sentence = refused(t, "--", plain, 1)
    t.has(sentence, "plain nor a program that it started is built with -finstrument-functions")
    t.has(sentence, "pkg-config --cflags --libs assay-calls")
    t.has(refused(t, "--", plain, 1, "5", status=5), "-finstrument-functions")
    script = t.write("script", f"#!/bin/sh\n'{plain}' 1\n")
    script.chmod(0o755)
    t.has(refused(t, "--", script), "is a script, for /bin/sh")
    unused = build(t, "unused", "void hooked(void) {}\n"
                   "__attribute__((no_instrument_function)) int main(void) { return 0; }\n")
    t.has(refused(t, "--", unused), "no instrumented function was entered")
    t.equal(leftovers(t), [])


@test
def static_programs_are_reported(t):
    hooks = """
void __cyg_profile_func_enter(void *a, void *b) __attribute__((no_instrument_function));
void __cyg_profile_func_exit(void *a, void *b) __attribute__((no_instrument_function));
void __cyg_profile_func_enter(void *a, void *b) { (void)a; (void)b; }
void __cyg_profile_func_exit(void *a, void *b) { (void)a; (void)b; }
"""
    program = build(t, "still", PROGRAM + hooks, ("-finstrument-functions", "-static"))
    t.has(refused(t, "--", program, 1), "is linked statically")


@test
def set_user_id_programs_are_reported(t):
    if os.geteuid() != 0:
        t.skip("only root can make a program another user's")
    os.chmod(t.directory, 0o755)
    program = build(t)
    program.chmod(0o4755)
    for path in (ASSAY, LIBRARY):
        run("cp", path, t.directory)
    run("cp", shutil.which("id"), t.path("id"))
    t.path("id").chmod(0o4755)
    if run(t.path("id"), "-u", user=65534, cwd="/").out != "0\n":
        t.skip("programs have no rights of their own here (nosuid, or no new privileges)")
    mine = t.path("mine")
    mine.mkdir(mode=0o700)
    os.chown(mine, 65534, 65534)
    result = run(t.path("assay"), "calls", "-o", "/dev/null", "--", program, 1, user=65534, cwd="/",
                 env={"ASSAY_CALLS_DIR": str(mine), "HOME": "/nonexistent"}, status=1)
    t.has(result.err, "runs with other rights than yours")
    program.chmod(0o755)
    run(t.path("assay"), "calls", "-o", mine / "c.calls", "--", program, 1, user=65534, cwd="/",
        env={"ASSAY_CALLS_DIR": str(mine), "HOME": "/nonexistent"})
    t.equal(calls_of(processes(t, mine / "c.calls")[0])["leaf"], 2)


@test
def what_runs_in_a_pid_namespace_is_known(t):
    t.need("unshare")
    inside = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    if run(*inside, "true", status=None).status:
        t.skip("PID namespaces may not be made here")
    program = Counted(t, build(t), 3, inside)  # unshare makes no counted calls
    for rounds in (5, 6):
        t.equal([p["name"] for p in listed(t)["processes"]], ["program"], "what runs")
        program.rounds(rounds)
        process, = got(t)
        t.equal(calls_of(process)["branch"], rounds + (3 if rounds == 5 else 0), "branches")
        t.true("running" in process["flags"], "it runs")
        t.assay("calls", "reset", env=place(t))
    program.end()


@test
def directories_of_others_are_refused(t):
    touch = ("-o", t.path("c.calls"), "--", "touch", t.path("mark"))
    place(t)
    t.path("link").symlink_to(t.path("tables"))
    t.path("open").mkdir()
    t.path("open").chmod(0o777)
    names = ["link", "open"]
    if os.geteuid() == 0:
        t.path("theirs").mkdir(mode=0o700)
        os.chown(t.path("theirs"), 65534, 65534)
        names.append("theirs")
    for name in names:
        env = {"ASSAY_CALLS_DIR": str(t.path(name))}
        t.has(refused(t, *touch, env=env), str(t.path(name)))
        for word in ("list", "get", "reset"):
            t.has(refused(t, word, env=env), str(t.path(name)))
    t.true(not t.path("mark").exists(), "the command was run")


main()
