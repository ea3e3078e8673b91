# SPDX-License-Identifier: GPL-2.0-or-later
"""calls: error messages say what to do."""
import os
import shutil
import signal
import sys

from calls_program import (LIBRARY, PROGRAM, Counted, build, calls_of, count, got, leftovers,
                           listed, place, processes, refused)
from harness import ASSAY, main, run, test


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
