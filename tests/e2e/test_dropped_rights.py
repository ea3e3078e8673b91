# SPDX-License-Identifier: GPL-2.0-or-later
"""calls and tags of daemons that give up rights: processes that changed their user, their root
directory and their environment get their file from the recorder, and no other process does."""

import os
import pathlib
import re
import shutil
import tempfile

import attacks
import calls_program
import tags_program
from harness import ASSAY, BUILD, main, run, test

DAEMON = r"""
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function))

static volatile int sum;

__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); }

static BARE void rounds(int n) { for (int i = 0; i < n; i++) branch(); }

static BARE void must(int good, const char *what)
{
	if (good)
		return;
	perror(what);
	_exit(3);
}

static BARE void drop(void)
{
	must(!setgroups(0, NULL) && !setgid(65534) && !setuid(65534), "setuid");
}

static BARE void workers(int n)
{
	for (int i = 0; i < n; i++)
		if (!fork()) {
			rounds(5);
			exit(0);
		}
	for (int i = 0, status; i < n; i++)
		must(wait(&status) > 0 && !status, "worker");
}

/* A grandchild whose parent has exited, in a session of its own. */
static BARE void orphan(int n)
{
	int done[2];
	char byte;

	must(!pipe(done), "pipe");
	if (!fork()) {
		if (!fork()) {
			setsid();
			usleep(50000);
			rounds(n);
			exit(0);
		}
		_exit(0);
	}
	close(done[1]);
	must(wait(NULL) > 0 && !read(done[0], &byte, 1), "orphan");
}

BARE int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *step = argv[i], *value = strchr(step, '=');
		int n = value ? (int)strtol(value + 1, NULL, 10) : 0;

		if (!strncmp(step, "rounds", 6))
			rounds(n);
		else if (!strcmp(step, "drop"))
			drop();
		else if (!strncmp(step, "chroot", 6))
			must(!chroot(value + 1) && !chdir("/"), "chroot");
		else if (!strcmp(step, "clear"))
			must(!clearenv(), "clearenv");
		else if (!strcmp(step, "close"))
			for (int fd = 3; fd < 1024; fd++)
				close(fd);
		else if (!strncmp(step, "workers", 7))
			workers(n);
		else if (!strncmp(step, "orphan", 6))
			orphan(n);
		else if (!strncmp(step, "wait", 4))
			usleep(n * 1000);
	}
	return 0;
}
"""


def of_branches(*counts):
    return {"branch": sum(counts), "leaf": 2 * sum(counts)}


class Open:
    """A directory that every user can search, for programs without rights."""

    def __init__(self, t):
        if os.geteuid():
            t.skip("needs root, to give up rights")
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="assay-open-"))
        self.path.chmod(0o755)
        self.t = t

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)

    def libraries(self):
        """Copies of the runtimes that every user can read."""
        for name in ("calls", "tags"):
            shutil.copy(BUILD / "runtime" / f"libassay-{name}.so", self.path)

    def calls(self):
        self.libraries()
        program = calls_program.build(self.t, "daemon", DAEMON)
        return shutil.copy(program, self.path / "daemon")

    def tags(self):
        self.libraries()
        program = tags_program.build(self.t, "daemon-tags", DAEMON)
        return shutil.copy(program, self.path / "daemon-tags")

    def env(self):
        return {"ASSAY_CALLS_LIBRARY": str(self.path / "libassay-calls.so"),
                "LD_LIBRARY_PATH": str(self.path)}


SETPRIV = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
# How rights are given up, the words of the daemon, and the rounds of its processes.
DAEMONS = [
    ("a launcher", SETPRIV, ["rounds=7"], [7]),
    ("a launcher, and workers", SETPRIV, ["rounds=7", "workers=3"], [7, 5, 5, 5]),
    ("by itself, before it calls", (), ["drop", "rounds=7"], [7]),
    ("by itself, while it runs", (), ["rounds=2", "drop", "rounds=7", "workers=2"], [9, 5, 5]),
    ("closed descriptors and no environment", (), ["close", "drop", "clear", "rounds=4", "workers=2"],
     [4, 5, 5]),
    ("an empty root directory", (), ["chroot=/var/empty", "drop", "workers=2"], [5, 5]),
    ("an empty root directory as root", (), ["chroot=/var/empty", "workers=2"], [5, 5]),
    ("an orphan in its own session", (), ["drop", "orphan=6"], [6]),
]


def empty_root(directory, words):
    root = directory.path / "root"
    root.mkdir(exist_ok=True)
    return [word.replace("/var/empty", str(root)) for word in words]


@test
def calls_of_daemons_that_give_up_rights_are_counted(t):
    with Open(t) as directory:
        program = directory.calls()
        for what, launcher, words, rounds in DAEMONS:
            t.assay("calls", "-q", "-o", t.path("c.calls"), "--", *launcher, program,
                    *empty_root(directory, words), env={**calls_program.place(t), **directory.env()})
            found = {}
            for process in calls_program.processes(t, t.path("c.calls")):
                for name, calls in calls_program.calls_of(process).items():
                    found[name] = found.get(name, 0) + calls
            t.equal(found, of_branches(*rounds), what)
            t.equal(calls_program.leftovers(t), [], f"{what}: what is left")
            t.equal(list((directory.path / "root").rglob("*")) if "root" in what else [], [],
                    f"{what}: files in the root directory")


@test
def tags_of_daemons_that_give_up_rights_are_recorded(t):
    with Open(t) as directory:
        program = directory.tags()
        for what, launcher, words, rounds in DAEMONS:
            t.assay("tags", "-q", "-o", t.path("x.tags"), "--", *launcher, program,
                    *empty_root(directory, words), env={**tags_program.place(t), **directory.env()})
            report = t.report(t.path("x.tags"))
            t.equal(tags_program.calls_of(report), of_branches(*rounds), what)
            t.equal(report["lost"], 0, f"{what}: lost")
            t.equal(tags_program.left_over(t), [], f"{what}: what is left")


@test
def the_reason_names_the_program_that_was_not_started(t):
    with Open(t) as directory:
        program = directory.calls()
        directory.path.chmod(0o700)
        # setpriv keeps the capabilities of root until the program runs; chroot does not.
        for launcher, reason in ((SETPRIV, "may not read libassay-calls.so"),
                                 (("chroot", "--userspec=65534:65534", "/"),
                                  "is built for it: chroot, which starts it, exited with status 126")):
            err = t.assay("calls", "-q", "-o", t.path("c.calls"), "--", *launcher, program, "rounds=1",
                          status=None, env={**calls_program.place(t), **directory.env()}).err
            err = " ".join(err.split())
            t.has(err, reason)
            t.lacks(err, "-finstrument-functions")


STRANGER = r"""
import os, socket, struct, sys
name = [line.split()[-1] for line in open("/proc/net/unix") if "@" in line and "/run-" in line]
assert name, "the recorder listens"
for name in name:
    for i in range(300):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(5)
        try:
            s.connect("\0" + name[1:])
            s.send(b"ASYHAND1" + struct.pack("<QQ", 1 << 20, 4096))
            data, fds, *_ = socket.recv_fds(s, 64, 4)
            assert not fds, "a stranger has got a table"
        except OSError:
            pass
        s.close()
print("refused")
"""


@test
def strangers_get_no_tables_and_do_not_stop_the_recorder(t):
    with Open(t) as directory:
        program = directory.calls()
        out = t.path("out")
        process = t.start(ASSAY, "calls", "-q", "-o", t.path("c.calls"), "--", "sh", "-c",
                          f"echo begun >{out}; sleep 2; exec {program} drop rounds=4 workers=2",
                          env={**os.environ, **calls_program.place(t), **directory.env()})
        t.until(out.exists, "the command runs")
        script = directory.path / "stranger.py"
        script.write_text(STRANGER)
        t.has(run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3", script).out,
              "refused")
        t.equal(t.wait(process), 0, "status")
        found = calls_program.processes(t, t.path("c.calls"))
        t.equal(sum(calls_program.calls_of(p)["branch"] for p in found), 14, "branch")


@test
def a_hostile_descendant_gets_a_bounded_part_of_the_memory(t):
    with Open(t) as directory:
        directory.libraries()
        script = directory.path / "greedy.py"
        script.write_text(attacks.GREEDY)
        result = t.assay("calls", "-q", "-o", t.path("c.calls"), "--", "python3", script, status=None,
                         env={**calls_program.place(t), **directory.env()})
        t.true(re.search(r"files [1-9]\d*", result.out), f"{result.out} {result.err}")
        t.equal(calls_program.leftovers(t), [], "what is left")


LISTENER = r"""
import mmap, os, socket, struct, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\0" + sys.argv[1][-107:])
s.listen()
print("listens", flush=True)
s.settimeout(3)
try:
    client, _ = s.accept()
    client.settimeout(3)
    data = client.recv(64)
    assert not data, "a process of root asked a stranger"
except (TimeoutError, ConnectionError):
    pass
print("asked by none", flush=True)
"""


@test
def a_stranger_in_place_of_the_recorder_is_not_asked(t):
    with Open(t) as directory:
        program = directory.calls()
        root = directory.path / "root"
        root.mkdir()
        session = str(directory.path / "tables" / "run-1-abcdef")  # as after the recorder's exit
        script = directory.path / "listener.py"
        script.write_text(LISTENER)
        stranger = t.start(*SETPRIV, "python3", script, session, stdout=-1, text=True)
        t.equal(stranger.stdout.readline().strip(), "listens")
        run(program, f"chroot={root}", "workers=1", timeout=60,
            env={"LD_PRELOAD": str(directory.path / "libassay-calls.so"), "ASSAY_CALLS_DIR": session})
        t.equal(stranger.stdout.read().strip(), "asked by none")
        t.equal(list(root.iterdir()), [], "files in the root directory")


@test
def a_directory_of_another_user_stops_no_session(t):
    with Open(t) as directory:
        program = directory.calls()
        user = 61234  # of no other test
        taken = pathlib.Path(f"/tmp/assay-{user}")
        output = directory.path / "out"
        output.mkdir()
        os.chown(output, user, user)
        shutil.copy(ASSAY, directory.path / "assay")
        env = {**directory.env(), "HOME": str(output), "XDG_CACHE_HOME": str(output)}
        for name in ("XDG_RUNTIME_DIR", "ASSAY_CALLS_DIR"):
            env[name] = ""
        taken.mkdir(mode=0o755)

        def left():
            return [path for path in pathlib.Path("/tmp").glob("run-*-assay-*") if path.stat().st_uid == user]

        words = (directory.path / "assay", "calls", "-q", "-o", output / "c.calls", "--", program)
        try:
            killed = t.start(*words, "rounds=1", "wait=30000", env={**os.environ, **env}, user=user)
            t.until(lambda: [path for path in left() if list(path.iterdir())], "a session has a table")
            killed.kill()
            killed.wait()
            t.equal(len(left()), 1, "the directory of the killed session")
            run(*words, "rounds=3", env=env, user=user)
        finally:
            shutil.rmtree(taken)
        found = calls_program.processes(t, output / "c.calls")
        t.equal([calls_program.calls_of(p) for p in found], [of_branches(3)])
        t.equal(left(), [], "directories of sessions")


@test
def a_killed_recorder_leaves_no_links_behind(t):
    with Open(t) as directory:
        program = directory.calls()
        env = {**calls_program.place(t), **directory.env()}
        process = t.start(ASSAY, "calls", "-q", "-o", t.path("c.calls"), "--", program, "drop", "rounds=1",
                          "wait=30000", env={**os.environ, **env})

        def links():
            return [path for path in t.path("tables").glob("run-*/*.calls") if path.is_symlink()]

        t.until(links, "a table was handed out")
        name, = links()
        listed = t.json(t.assay("calls", "list", "--json", env=env).out)
        t.true(name.name.split("-")[0] in str(listed), "another command lists the process")
        got = t.json(t.assay("calls", "get", "--json", env=env).out)
        t.true("leaf" in str(got), "another command reads the table")
        daemon = int(name.name.split("-")[0])
        process.kill()
        process.wait()
        os.kill(daemon, 9)
        t.assay("calls", "list", env=env)
        t.equal(calls_program.leftovers(t), [], "what is left")


main()
