# SPDX-License-Identifier: GPL-2.0-or-later
"""With fewer rights than wanted, assay measures what it may and says what is missing."""

import json
import os
import pathlib
import re
import shutil
import stat
import tempfile

from harness import main, test
from programs import ASSAY, assay, comment, need, record, report, run, skip, workload

OTHER_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all",
          "--bounding-set=-all"]
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def paranoid():
    with open(PARANOID, encoding="ascii") as f:
        return int(f.read())


class Everybody:
    """Copies of the programs that an ordinary user may run, and a directory to write to."""

    def __enter__(self):
        if os.geteuid():
            skip("needs root, to become another user")
        missing = need("setpriv", "unshare")
        if missing:
            skip(missing)
        self.work = tempfile.mkdtemp(prefix="assay-test-")
        os.chmod(self.work, 0o1777)
        for path in (ASSAY, workload("loop")):
            shutil.copy(path, self.work)
            os.chmod(os.path.join(self.work, os.path.basename(path)), 0o755)
        self.assay, self.loop = f"{self.work}/assay", f"{self.work}/loop"
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.work, ignore_errors=True)

    def run(self, *args, **kwargs):
        return run([*OTHER_USER, self.assay, *args], cwd=self.work, **kwargs)


class Paranoid:
    """Sets perf_event_paranoid, and restores it."""

    def __init__(self, level):
        self.level = level

    def __enter__(self):
        self.before = paranoid()
        if self.before == self.level:
            return
        try:
            self.write(self.level)
        except OSError as error:
            skip(f"{PARANOID} cannot be set to {self.level}: {error}")

    def __exit__(self, *_):
        if paranoid() != self.before:
            self.write(self.before)

    @staticmethod
    def write(level):
        with open(PARANOID, "w", encoding="ascii") as f:
            f.write(str(level))


def check_own_command(user):
    """An ordinary user's recording of a command: user samples, and a note on the kernel's."""
    path = f"{user.work}/perf.data"
    done = user.run("record", "-F", "997", "-o", path, "--", user.loop, "1000")
    assert done.status == 0, f"status {done.status}: {done.err}"
    assert re.search(r"(?i)kernel", done.err + done.out) and re.search(
        r"perf_event_paranoid|CAP_PERFMON", done.err + done.out), \
        f"record does not say what is missing, and why: {done.err!r}"
    shown = user.run("report", "--full", "-i", path)
    assert shown.status == 0, shown.err
    assert re.search(r"(?i)kernel.*(not|no|without|excluded|missing)", shown.out + shown.err), \
        f"report does not say that the kernel is missing: {shown.out[:1500]}"
    found = json.loads(user.run("report", "--full", "-i", path, "--json", check=True).out)
    body = [f for f in found["functions"] if f["function"] == "loop_body"]
    assert body and body[0]["samples"] > 200, found["functions"][:5]
    assert not any(f["mode"] == "kernel" and f["samples"] for f in found["functions"])
    comment(f"an ordinary user: {body[0]['samples']} samples of loop_body, "
            f"share {body[0]['share']:.3f}")


@test
def unprivileged_command(t):
    with Everybody() as user, Paranoid(2):
        check_own_command(user)


@test
def unprivileged_exit_status_passed_on(t):
    with Everybody() as user, Paranoid(2):
        done = user.run("record", "-o", f"{user.work}/x", "--", "sh", "-c", "exit 7")
        assert done.status == 7, f"status {done.status}: {done.err}"


@test
def unprivileged_machine_wide_says_what_it_did(t):
    """An unprivileged user may not sample the machine: the recording says what was recorded instead, and why."""
    with Everybody() as user, Paranoid(2):
        path = f"{user.work}/x"
        done = user.run("record", "-a", "-F", "997", "-o", path, "--", user.loop, "300")
        assert re.search(r"perf_event_paranoid|CAP_PERFMON", done.err), done.err
        assert re.search(r"(?i)whole machine", done.err), done.err
        if done.status:
            return
        assert "only your own" in done.err, done.err
        text = user.run("report", "--full", "-i", path, check=True).out
        assert "whole machine, " not in text.splitlines()[0], \
            f"the report claims the whole machine: {text.splitlines()[0]}"
        assert re.search(r"(?i)may not sample the whole machine", " ".join(text.split())), text


@test
def unprivileged_machine_wide_samples_what_runs_already(t):
    with Everybody() as user, Paranoid(2):
        path = f"{user.work}/x"
        other = t.start(*OTHER_USER, user.loop, "1000000")
        t.until(lambda: b"loop" in pathlib.Path(f"/proc/{other.pid}/cmdline").read_bytes()
                .split(b"\0")[0], "the loop runs, as another user")
        user.run("record", "-q", "-a", "-o", path, "--", "sleep", "1", check=True)
        found = json.loads(user.run("report", "--full", "-i", path, "--json", check=True).out)
        samples = {p["pid"]: p["user_samples"] for p in found["processes"]}
        # A thousand in that second, or fewer if other programs take CPU time from it.
        assert samples.get(other.pid, 0) > 20, samples


@test
def unprivileged_doctor(t):
    with Everybody() as user, Paranoid(2):
        done = user.run("doctor")
        assert done.status >= 0 and "perf_event_paranoid" in done.out, done.out + done.err
        assert re.search(r"sysctl|setcap|/proc/sys", done.out), "no command that mends it"


@test
def paranoid_more_than_two(t):
    """Kernels that have levels above 2 deny ordinary users everything; others treat them as 2."""
    with Everybody() as user, Paranoid(4):
        done = user.run("record", "-F", "997", "-o", f"{user.work}/x", "--", user.loop, "300")
        if done.status == 0:
            return
        assert done.status > 0 and re.search(r"perf_event_paranoid|CAP_PERFMON", done.err), done.err


def without_kallsyms(*command):
    """A command in a mount namespace of its own where /proc/kallsyms is empty."""
    script = 'mount --bind /dev/null /proc/kallsyms && exec "$@"'
    return ["unshare", "-m", "sh", "-c", script, "sh", *command]


def kernel_command():
    return ["sh", "-c", f"dd if=/dev/urandom of=/dev/null bs=64k count=2000 2>/dev/null; "
            f"{workload('loop')} 300"]


def check_kallsyms(user, record_with, report_with):
    if run(["unshare", "-m", "true"]).status:
        skip("mount namespaces are not allowed")
    path = f"{user.work}/perf.data"
    run(record_with(ASSAY, "record", "-a", "-g", "-F", "997", "-o", path, "--",
                    *kernel_command()), check=True)
    shown = run(report_with(ASSAY, "report", "--full", "-i", path), check=True)
    found = json.loads(run(report_with(ASSAY, "report", "-i", path, "--json"), check=True).out)
    kernel = sum(p["kernel_samples"] for p in found["processes"])
    named = [f["function"] for f in found["functions"]
             if f["mode"] == "kernel" and f["samples"] > 5]
    assert kernel > 50, f"only {kernel} kernel samples"
    assert any(f["function"] == "loop_body" for f in found["functions"])
    return shown.out + shown.err, named


@test
def report_without_kallsyms(t):
    with Everybody() as user:
        text, named = check_kallsyms(user, lambda *c: list(c), without_kallsyms)
        assert not any("urandom" in name or "chacha" in name for name in named), named
        assert re.search(r"(?i)kallsyms", text), f"the missing kallsyms is not named: {text[:1500]}"


@test
def record_without_kallsyms(t):
    with Everybody() as user:
        text, named = check_kallsyms(user, without_kallsyms, without_kallsyms)
        assert not any("urandom" in name or "chacha" in name for name in named), named
        assert re.search(r"(?i)kallsyms", text), f"the missing kallsyms is not named: {text[:1500]}"


@test
def a_file_of_another_user_is_refused(t):
    with Everybody() as user:
        path = f"{user.work}/secret"
        record(path, "--", workload("short"))
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, "a recording is its owner's alone"
        done = user.run("report", "--full", "-i", path)
        assert done.status > 0 and path in done.err, done.err
        assert report(path)["recordings"] and assay("report", "-i", path).out


@test
def an_agent_of_another_user_says_what_it_may_not_sample(t):
    with Everybody() as user, Paranoid(2):
        place, log = f"{user.work}/run", t.path("log")
        os.mkdir(place, 0o700)
        os.chown(place, 65534, 65534)
        with open(log, "w", encoding="utf-8") as file:
            agent = t.start(*OTHER_USER, user.assay, "agent", "--to", f"pprof-dir:{place}/out", "--spool",
                            f"{place}/spool", stderr=file,
                            env={**os.environ, "XDG_RUNTIME_DIR": place, "HOME": place})
        t.until(lambda: "samples go to" in log.read_text() or agent.poll() is not None, "the agent samples")
        if "an agent runs on this machine" in log.read_text():
            t.skip("another agent runs on this machine")
        t.has(log.read_text(), "may not sample the whole machine, only processes of its own")
        agent.terminate()
        t.equal(agent.wait(), 0, "exit status")


if __name__ == "__main__":
    main()
