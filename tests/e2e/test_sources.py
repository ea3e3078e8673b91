# SPDX-License-Identifier: GPL-2.0-or-later
"""Paths that another user wrote into a program, a recording or generated code: root's reports read
the files only if that user may read them, and name the files that are left out."""

import base64
import os
import re
import shutil
import signal
import subprocess
import zlib

import attacks
from attacks import LEAK_LINES, STRANGER, build_leak, need_root
from harness import ASSAY, main, names_of_kernel, run, test

SECRET = "SECRET-LINE"
REFUSED = "is not read, as the owner of the file that names it may not read it"
OTHER = 4242  # a third user


def secret(t, name, mode=0o600, directory=None, word=SECRET):
    """A text file of root."""
    path = (directory or t.path(".")) / name
    path.write_text("".join(f"{word}-{i}\n" for i in range(1, LEAK_LINES + 1)))
    path.chmod(mode)
    return path


def recorded(t, program, user=STRANGER, name="leak.data"):
    """Root's recording of the machine while the user runs the program."""
    data = t.path(name)
    process = t.start(program, user=user, group=user, extra_groups=[], cwd="/")
    run(ASSAY, "record", "-q", "-F", "997", "-p", str(process.pid), "-o", data,
        "--duration", "300ms", env=t.env)
    process.kill()
    t.wait(process)
    return data


def begin(t):
    need_root(t)
    t.env = {"XDG_CACHE_HOME": str(names_of_kernel(t.path("cache"))), "SUDO_UID": ""}


def page_text(path):
    """All text of a page, unpacked."""
    page = path.read_text()
    parts = [page.encode()]
    for match in re.finditer(r"[A-Za-z0-9+/=]{200,}", page):
        try:
            packed = base64.b64decode(match.group() + "==")
        except ValueError:
            continue
        for bits in (15, 31, -15):
            try:
                parts.append(zlib.decompressobj(bits).decompress(packed))
                break
            except zlib.error:
                continue
    return b"\n".join(parts).decode(errors="replace")


def shown(t, data, function="leak_lines"):
    """Everything that root's commands show of a recording."""
    page = t.path(f"{data.name}.html")
    run(ASSAY, "report", f"--html={page}", "-i", data, env=t.env)
    texts = [page_text(page)]
    for words in (("--full",), ("--json",), ("--markdown",)):
        texts.append(run(ASSAY, "annotate", *words, "-i", data, function, env=t.env).out)
    texts.append(run(ASSAY, "report", "--full", "-i", data, env=t.env).out)
    return "\n".join(texts)


def lacks_secret(t, text, what):
    found = re.findall(rf".{{0,80}}{SECRET}.{{0,20}}", text)
    t.equal(found[:3], [], what)


def annotated(t, data, function="leak_lines", user=None):
    env = t.env if user is None else {"XDG_CACHE_HOME": "/nonexistent"}
    return run(ASSAY, "annotate", "--json", "-i", data, function, env=env, user=user).out


def check_left_out(t, data, path):
    text = annotated(t, data)
    t.has(t.json(text)["left_out"], f"{path}: {REFUSED}", "what was left out")
    t.has(" ".join(run(ASSAY, "annotate", "-i", data, "leak_lines", env=t.env).out.split()), REFUSED)
    t.has(page_text(t.path(f"{data.name}.html")), "source file", "the page")


@test
def a_secret_of_root_is_not_in_pages(t):
    """By its path, by links of the attacker, and below a directory that the attacker may not
    search."""
    begin(t)
    home = attacks.directory_of_user(t, "home")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    plain, below = secret(t, "secret.txt"), secret(t, "below.txt", 0o644, closed)
    link, folder = home / "link.c", home / "folder"
    link.symlink_to(plain)
    folder.symlink_to(closed)
    program = build_leak(t, home, [plain, below, link, folder / "below.txt",
                              "/proc/self/environ", f"/proc/self/root{plain}"])
    t.env["WORD"] = f"{SECRET}-environment"
    data = recorded(t, program)
    lacks_secret(t, shown(t, data), "the output of root")
    check_left_out(t, data, plain)
    # The commands that read no source are the same, and the owner's own files are there.
    own = home / "own.c"
    own.write_text("OWN-LINE\n" * LEAK_LINES)
    os.chown(own, STRANGER, STRANGER)
    own.chmod(0o600)
    data = recorded(t, build_leak(t, home, [own], name="leak2"), name="own.data")
    text = annotated(t, data)
    t.has(text, "OWN-LINE", "a source that only the owner of the program may read")
    t.equal(t.json(text)["left_out"], None, "what was left out")


@test
def a_program_of_root_has_its_sources(t):
    """A distribution's program, one that root builds below a closed directory, and a copy of an
    attacker's program that root installed."""
    begin(t)
    place = t.path("package")
    place.mkdir(mode=0o755)
    public = secret(t, "public.c", 0o644, place, "PUBLIC")
    hidden = secret(t, "hidden.c", 0o600, place)
    data = recorded(t, build_leak(t, place, [public, hidden], 0))
    text = shown(t, data)
    t.has(text, "PUBLIC-1", "a source of a program of root")
    lacks_secret(t, text, "a file that only root may read, named by a program that all may read")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    mine = secret(t, "mine.c", 0o600, closed, "MINE")
    program = build_leak(t, closed, [mine], 0)
    program.chmod(0o700)
    data = recorded(t, program, 0, "closed.data")
    t.has(annotated(t, data), "MINE-1", "a source of root's own program, both closed to others")


@test
def owners_that_are_not_known_see_public_files_only(t):
    """A program that all users may write to, and one that was deleted and of which the recorder
    kept a copy of its own."""
    begin(t)
    home = attacks.directory_of_user(t, "home")
    plain, public = secret(t, "secret.txt"), secret(t, "public.c", 0o644, word="PUBLIC")
    program = build_leak(t, home, [plain, public], flags=("-Wl,--build-id",))
    os.chown(program, 0, 0)
    program.chmod(0o777)
    text = shown(t, recorded(t, program))
    t.has(text, "PUBLIC-1", "a file that all users may read")
    lacks_secret(t, text, "the output of root")
    os.chown(program, STRANGER, STRANGER)
    program.chmod(0o755)
    data = t.path("kept.data")
    process = t.start(program, user=STRANGER, group=STRANGER, extra_groups=[], cwd="/")
    recorder = t.start(ASSAY, "record", "-q", "-F", "997", "-p", process.pid, "-o", data,
                       env={**os.environ, **t.env})
    t.until(lambda: data.exists() and data.stat().st_size > 16000, "a recording that grows")
    program.unlink()
    recorder.send_signal(signal.SIGINT)
    t.equal(t.wait(recorder), 0, "the recorder's status")
    process.kill()
    t.wait(process)
    kept = list(t.path("cache").glob("assay/image/*"))
    t.true(kept, "the recorder kept a copy")
    t.equal(kept[0].stat().st_uid, 0, "the owner of the copy")
    text = shown(t, data)
    t.has(text, "PUBLIC-1", "a file that all users may read")
    lacks_secret(t, text, "the output of root, of a program that was deleted")


@test
def a_recording_of_another_user_names_no_file_of_root(t):
    """The paths of images are those of the recording: root's report of it opens what its owner may
    read."""
    begin(t)
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    source = secret(t, "secret.c", 0o644, closed)
    data = recorded(t, build_leak(t, closed, [source], 0), 0)
    t.has(annotated(t, data), f"{SECRET}-1", "root's own recording")
    os.chown(data, STRANGER, STRANGER)
    page = t.path("other.html")
    run(ASSAY, "report", f"--html={page}", "-i", data, env=t.env)
    lacks_secret(t, page_text(page), "a recording that belongs to another user")
    report = " ".join(run(ASSAY, "report", "--full", "-i", data, env=t.env).out.split())
    t.has(report, f"{closed}/leak: {REFUSED}", "the report")
    t.lacks(report, "leak_lines", "the names of functions")


@test
def a_mount_over_a_directory_of_root_shows_no_file_below_it(t):
    """A process runs a file of its own at the path of a program that only root may read."""
    begin(t)
    t.need("unshare", "mount")
    if run("unshare", "-Urm", "true", status=None, user=STRANGER, cwd="/").status:
        t.skip("a user may not make namespaces here")
    home = attacks.directory_of_user(t, "home")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    secret_program = build_leak(t, closed, [], 0, flags=("-Wl,--build-id=none", "-DROOT"))
    secret_program.chmod(0o700)
    build_leak(t, home, [home / "x.c"], flags=("-Wl,--build-id=none", "-s"))
    process = t.start("unshare", "-Urm", "sh", "-c",
                      f"mount -t tmpfs none {closed} && for i in 1 2 3 4 5; do >{closed}/$i; done; "
                      f"cp {home}/leak {closed}/leak && echo ready && exec {closed}/leak",
                      user=STRANGER, group=STRANGER, extra_groups=[], cwd="/",
                      stdout=subprocess.PIPE)
    t.equal(process.stdout.readline(), b"ready\n", "what the program prints")
    data = t.path("mounted.data")
    run(ASSAY, "record", "-q", "-F", "997", "-p", str(process.pid), "-o", data, "--duration", "300ms",
        env=t.env)
    process.kill()
    t.wait(process)
    report = " ".join(run(ASSAY, "report", "--full", "-i", data, env=t.env).out.split())
    t.has(report, f"{closed}/leak: is not read: it is not on the device of the recorded file",
          "the report")
    t.lacks(report, "leak_lines", "a name in the program of root")


@test
def debug_files_are_those_that_the_owner_may_read(t):
    """A debug link, a file of dwz and a unit of split DWARF that lead to files of root."""
    begin(t)
    t.need("objcopy", "cc")
    home = attacks.directory_of_user(t, "home")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    source = home / "x.c"
    # A debug link: root's file has the build-id that the attacker knows.
    program = build_leak(t, home, [source], flags=("-Wl,--build-id=0x1234567890",))
    shutil.copy(program, closed / "leak.debug")
    os.chown(closed / "leak.debug", 0, 0)
    run("objcopy", "--strip-all", program, user=STRANGER)
    (home / "leak.debug").symlink_to(closed / "leak.debug")
    run("objcopy", f"--add-gnu-debuglink={closed}/leak.debug", program)
    os.chown(program, STRANGER, STRANGER)
    data = recorded(t, program)
    report = " ".join(run(ASSAY, "report", "--full", "-i", data, env=t.env).out.split())
    t.has(report, f"leak.debug: {REFUSED}", "the report")
    t.lacks(report, "leak_lines", "names of functions from root's debug file")
    # The debug file of the owner is read.
    (home / "leak.debug").unlink()
    shutil.copy(closed / "leak.debug", home / "leak.debug")
    os.chown(home / "leak.debug", STRANGER, STRANGER)
    (home / "leak.debug").chmod(0o600)
    t.has(run(ASSAY, "report", "--full", "-i", data, env=t.env).out, "leak_lines", "the names")


@test
def split_units_are_those_that_the_owner_may_read(t):
    begin(t)
    home = attacks.directory_of_user(t, "home")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    text = ("static inline __attribute__((always_inline)) int inner(int x) {\n"
            "for (int i = 0; i < 1000; i++) x ^= x * i; return x; }\n"
            "volatile int v; __attribute__((noinline)) void leak_lines(void) { v = inner(v); }\n"
            "int main(void) { for (;;) leak_lines(); }\n")
    (home / "s.c").write_text(text)
    os.chown(home / "s.c", STRANGER, STRANGER)
    run("cc", "-O1", "-g", "-gsplit-dwarf", "-o", "split", "s.c", user=STRANGER, cwd=home)
    data = recorded(t, home / "split")
    t.has(annotated(t, data), "inner", "the inlined function")
    unit = next(home.glob("*.dwo"))
    moved = closed / unit.name
    shutil.move(unit, moved)
    os.chown(moved, 0, 0)
    unit.symlink_to(moved)
    shutil.rmtree(t.path("cache"))
    text = annotated(t, data)
    t.has(t.json(text)["left_out"], f"{unit}: {REFUSED}", "what was left out")
    t.lacks(text, '"inner"', "inlined functions from a unit of root")
    warning = " ".join(run(ASSAY, "report", "--full", "--inline", "-i", data, env=t.env).out.split())
    t.has(warning, f"debug information is left out: {unit}: {REFUSED}", "the report")


# Generated code that names a line of the source for each of its bytes, and runs. It needs python3.
JIT = """
import ctypes, mmap, os, struct, sys, time
directory, sources, lines = sys.argv[1], sys.argv[2].split(","), int(sys.argv[3])
code = bytes.fromhex("48ffcf") * lines + bytes.fromhex("4885ff7f") + \
    struct.pack("b", -3 * lines - 5 if 3 * lines < 120 else 0) + b"\\xc3"
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
memory.write(code)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
pid = os.getpid()
entries = b"".join(struct.pack("<QiI", address + 3 * i, i + 1, 0) +
                   sources[i % len(sources)].encode() + b"\\0" for i in range(lines))
head = struct.pack("<IIIIIIQQ", 0x4A695444, 1, 40, 62, 0, pid, 1, 0)
info = struct.pack("<IIQQQ", 2, 32 + len(entries), 1, address, lines) + entries
load = b"jit_leak\\0" + code
load = struct.pack("<IIQIIQQQQ", 0, 56 + len(load), 1, pid, pid, address, address, len(code),
                   1) + load
path = f"{directory}/jit-{pid}.dump"
with open(path, "wb") as f:
    f.write(head + info + load)
dump = open(path, "rb")
mark = mmap.mmap(dump.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
print("ready", flush=True)
call = ctypes.CFUNCTYPE(None, ctypes.c_long)(address)
while True:
    call(10000000)
"""


@test
def generated_code_names_no_file_of_root(t):
    """The source files in a jitdump, and in the copy of it that the recorder keeps."""
    begin(t)
    home = attacks.directory_of_user(t, "home")
    plain, public = secret(t, "secret.txt"), secret(t, "public.c", 0o644, word="PUBLIC")
    script = t.write("jit.py", JIT)
    process = t.start("python3", script, home, f"{plain},{public}", "30", user=STRANGER,
                      group=STRANGER, extra_groups=[], cwd="/", stdout=subprocess.PIPE)
    t.equal(process.stdout.readline(), b"ready\n", "what the program prints")
    data = t.path("jit.data")
    run(ASSAY, "record", "-q", "-F", "997", "-p", str(process.pid), "-o", data, "--duration", "300ms",
        env=t.env)
    for what in ("a dump in its place", "a dump that only the cache has"):
        text = shown(t, data, "jit_leak")
        t.has(text, "PUBLIC-2", f"{what}: a file that all users may read")
        lacks_secret(t, text, what)
        process.kill()
        t.wait(process)
        for dump in home.glob("jit-*.dump"):
            dump.unlink()


@test
def a_file_of_dwz_is_one_that_the_owner_may_read(t):
    begin(t)
    t.need("objcopy")
    home = attacks.directory_of_user(t, "home")
    closed = t.path("closed")
    closed.mkdir(mode=0o700)
    program = build_leak(t, home, [home / "x.c"], flags=("-Wl,--build-id=0x1234567890",))
    common = closed / "common"
    shutil.copy(program, common)
    os.chown(common, 0, 0)
    link = home / "altlink"
    link.write_bytes(str(common).encode() + b"\0" + bytes.fromhex("1234567890"))
    run("objcopy", f"--add-section=.gnu_debugaltlink={link}", program)
    os.chown(program, STRANGER, STRANGER)
    data = recorded(t, program)
    t.has(t.json(annotated(t, data))["left_out"], f"{common}: {REFUSED}", "what was left out")
    closed.chmod(0o755)
    shutil.rmtree(t.path("cache"))
    t.lacks(annotated(t, data), REFUSED, "a file that its owner may read")


@test
def developers_see_their_own_sources(t):
    """A developer's closed home directory, by the developer, by root (sudo), and with a umask of
    002; and the directory of another user, which the developer names."""
    begin(t)
    home = t.path("developer")
    home.mkdir(mode=0o700)
    os.chown(home, OTHER, OTHER)
    mine = secret(t, "mine.c", 0o600, home, "MINE")
    os.chown(mine, OTHER, OTHER)
    program = build_leak(t, home, [mine], OTHER)
    program.chmod(0o775)
    data = recorded(t, program, OTHER)
    t.has(shown(t, data), "MINE-1", "root")
    data.chmod(0o644)
    own = attacks.copy_for_user(t, ASSAY, "assay")
    by_owner = run(own, "annotate", "--json", "-i", data, "leak_lines", user=OTHER, cwd="/",
                   env={"XDG_CACHE_HOME": "/nonexistent"}).out
    t.has(by_owner, "MINE-1", "the developer")
    # A third user may not even read the program.
    data.chmod(0o600)
    os.chown(data, STRANGER, STRANGER)
    third = run(own, "report", "--full", "-i", data, user=STRANGER, cwd="/",
                env={"XDG_CACHE_HOME": "/nonexistent"}).out
    t.lacks(third, "leak_lines", "another user")


main()
