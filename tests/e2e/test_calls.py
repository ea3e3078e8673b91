# SPDX-License-Identifier: GPL-2.0-or-later
"""calls: counts of a command equal those that follow from its source, for all ways in which it
ends."""
import errno
import os
import pathlib
import pty
import signal
import stat
import subprocess

from calls_program import (LIBRARY, build, calls_of, count, got, leftovers, listed, place,
                           processes, refused)
from harness import ASSAY, main, nested, run, test


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


main()
