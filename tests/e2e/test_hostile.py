# SPDX-License-Identifier: GPL-2.0-or-later
"""assay reads damaged and hostile files without a crash, a hang or unlimited memory. It prints an
error with the file and the offset, or a partial report with a warning.

Commands run in children of a server of commands; the first of each list starts the program itself.
ASSAY_LONG=1 runs all damages of each kind, all commands on each damaged program, and checks each run for
leaks; otherwise a seed chooses some of each kind (ASSAY_SEED)."""

import functools
import itertools
import os
import random
import re
import resource
import shutil
import struct
import subprocess

from command_server import CommandServer
from harness import main, test
from programs import ASSAY, LONG, Run, comment, environment, record, run, workdir, workload

ASSAY_ASAN = os.environ.get("ASSAY_ASAN")
SEED = int(os.environ.get("ASSAY_SEED", "1"))
ROUNDS = 400 if LONG else 25
SECONDS = 20
LEAKS_EVERY = 1 if LONG else 8  # a check for leaks takes as long as a run
MEMORY_BYTES = 1 << 30
OFFSET = re.compile(r"(?i)(offset|byte|after|at) (0x)?[0-9a-f]+")

SAYS_SO = re.compile(r"(?i)truncated|damaged|cut short|partial|ends|beyond|unreadable")


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@functools.lru_cache(None)
def server(program):
    return CommandServer(program, environment())


runs = itertools.count()


def some(kind, cases, count):
    """Cases of one kind: all in the long form, and otherwise a number of them."""
    cases = list(cases)
    if LONG or count >= len(cases):
        return cases
    chosen = random.Random(f"{SEED} {kind}").sample(range(len(cases)), count)
    return [cases[i] for i in sorted(chosen)]


def bounded(*args, started=False):
    """Runs assay with limits. If there is a build with sanitizers, runs it too, since it detects
    errors that do not crash. `started`: starts the program for it."""
    if ASSAY_ASAN:
        # Sanitizers reserve terabytes of address space, so that cannot be limited.
        watch(ASSAY_ASAN, 0, started, *args)
    return watch(ASSAY, MEMORY_BYTES, started, *args)


def watch(program, address_space, started, *args):
    """Fails on a signal, a hang or a sanitizer's report."""
    try:
        if started:
            done = run([program, *args], timeout=SECONDS, preexec_fn=limit if address_space else None)
        else:
            status, out, err = server(program).run(*args, timeout=SECONDS, address_space=address_space,
                                                   leaks=not address_space and next(runs) % LEAKS_EVERY == 0)
            done = Run(status, out.decode(errors="replace"), err.decode(errors="replace"))
    except subprocess.TimeoutExpired as error:
        raise AssertionError(f"assay {' '.join(args)} hangs") from error
    assert done.status >= 0, \
        f"assay {' '.join(args)} died of signal {-done.status}: {done.err[-500:]}"
    assert done.status < 128, f"assay {' '.join(args)}: status {done.status}: {done.err[-500:]}"
    assert "Sanitizer" not in done.err and "runtime error" not in done.err, done.err[-3000:]
    assert "out of memory" not in done.err.lower(), f"unbounded memory: {done.err}"
    return done


def keep(path, what):
    """Keeps a file that caused a failure, for debugging."""
    target = os.path.join(os.environ.get("TMPDIR", "/tmp"), "assay-hostile-" + what)
    shutil.copy(path, target)
    return target


class Recording:
    """A real recording, and the offsets of its parts."""

    def __init__(self, work, *options):
        self.path = f"{work}/perf.data"
        record(self.path, *options, "-F", "997", "--",
               "sh", "-c", f"{workload('call')} 20; {workload('short')}; {workload('threads')} 2 5")
        with open(self.path, "rb") as f:
            self.bytes = f.read()
        (self.magic, self.size, self.attr_size, self.attrs, self.attrs_size, self.data,
         self.data_size) = struct.unpack_from("<8sQQQQQQ", self.bytes, 0)

    def records(self):
        at = self.data
        while at + 8 <= self.data + self.data_size:
            kind, misc, size = struct.unpack_from("<IHH", self.bytes, at)
            yield at, kind, size
            at += size

    def of_kind(self, kind):
        return [at for at, k, _ in self.records() if k == kind]


def changed(original, at, replacement):
    return original[:at] + replacement + original[at + len(replacement):]


def check(work, name, content, must_say=False, started=False):
    """One damaged file. `must_say`: the damage must be reported."""
    path = f"{work}/{name}"
    with open(path, "wb") as f:
        f.write(content)
    try:
        done = bounded("report", "--full", "-i", path, started=started)
        text = done.out + done.err
        if done.status:
            assert name in done.err, f"the error does not name the file: {done.err!r}"
            if content:
                assert OFFSET.search(done.err), f"the error names no offset: {done.err!r}"
        elif must_say:
            assert SAYS_SO.search(text), f"a partial report that does not say so:\n{text[:1500]}"
            assert OFFSET.search(text), f"the warning names no offset: {text[:1500]}"
    except AssertionError as error:
        raise AssertionError(f"{name} (kept as {keep(path, name)}): {error}") from error
    os.unlink(path)
    return done.status


def each(work, cases, must_say=False):
    """Runs all cases before it reports the first failure."""
    failures, refused = [], 0
    for name, content in cases:
        try:
            refused += check(work, name, content, must_say, name == cases[0][0]) != 0
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, f"{len(failures)} of {len(cases)} failed:\n" + "\n".join(failures[:5])
    comment(f"{len(cases)} files, {refused} refused, the others read in part or whole")


@test
def truncated(t):
    chance = random.Random(SEED)
    with workdir() as work:
        r = Recording(work, "-g")
        places = {0, 1, 7, 8, 16, 50, 103, 104, r.attrs + 8, r.data, r.data + 1, r.data + 7,
                  r.data + r.data_size // 2, r.data + r.data_size - 1}
        places |= {chance.randrange(r.data, r.data + r.data_size) for _ in range(ROUNDS // 4)}
        each(work, [(f"cut-{at}", r.bytes[:at]) for at in sorted(places)], must_say=True)


@test
def truncated_in_the_features(t):
    chance = random.Random(SEED)
    with workdir() as work:
        r = Recording(work)
        end = r.data + r.data_size
        assert end < len(r.bytes), "the recording has no features"
        each(work, [(f"features-{at}", r.bytes[:at]) for at in
                    sorted({chance.randrange(end, len(r.bytes)) for _ in range(10)} | {end + 4})])


@test
def wrong_endian(t):
    with workdir() as work:
        r = Recording(work)
        swapped = struct.pack(">13Q", *struct.unpack_from("<13Q", r.bytes)) + r.bytes[104:]
        for name, content in (("header", swapped), ("magic", r.bytes[:8][::-1] + r.bytes[8:])):
            path = f"{work}/big-endian-{name}"
            with open(path, "wb") as f:
                f.write(content)
            done = bounded("report", "--full", "-i", path)
            # The error is about the whole file: it has the file's name and the reason, but no
            # offset.
            assert done.status == 1 and path in done.err and "byte order" in done.err, done


def header_cases(r):
    big = (0, 1, 7, 1 << 31, 1 << 32, 1 << 62, (1 << 64) - 1, len(r.bytes), len(r.bytes) - 1)
    for at in range(8, 104, 8):
        for value in some(f"header {at}", big, 3):
            yield f"header-{at}-{value:x}", changed(r.bytes, at, struct.pack("<Q", value))


@test
def hostile_header(t):
    with workdir() as work:
        r = Recording(work)
        each(work, list(header_cases(r)))


@test
def hostile_attrs(t):
    with workdir() as work:
        r = Recording(work)
        cases = []
        for at in range(r.attrs, r.attrs + r.attrs_size, 4):
            cases.append((f"attr-{at}", changed(r.bytes, at, b"\xff\xff\xff\xff")))
        each(work, some("attrs", cases[:80], 32))


def record_cases(r):
    kinds = {}
    for at, kind, size in r.records():
        kinds.setdefault(kind, []).append((at, size))
    for kind, places in sorted(kinds.items()):
        at, size = places[len(places) // 2]
        for bad in some(f"size {kind}", (0, 1, 7, 8, 9, size - 8, size + 8, 0xffff), 3):
            yield f"size-{kind}-{bad}", changed(r.bytes, at + 6, struct.pack("<H", bad & 0xffff))
        yield f"kind-{kind}", changed(r.bytes, at, struct.pack("<I", 0xfffffff0))
        for word in range(at + 8, min(at + size, at + 8 + 64) - 7, 8):
            yield f"word-{kind}-{word - at}", changed(r.bytes, word, b"\xff" * 8)


@test
def hostile_records(t):
    with workdir() as work:
        r = Recording(work, "-g")
        each(work, list(record_cases(r)))


@test
def a_size_of_zero_is_reported(t):
    """A reader cannot go past a record of size 0: the report ends there and prints the offset."""
    with workdir() as work:
        r = Recording(work)
        at = r.of_kind(9)[3]
        each(work, [("zero", changed(r.bytes, at + 6, b"\0\0"))], must_say=True)


@test
def garbled(t):
    chance = random.Random(SEED + 1)
    with workdir() as work:
        r = Recording(work, "-g", "-a")
        cases = []
        for number in range(ROUNDS):
            low, high = ((0, r.data), (r.data, len(r.bytes)))[number % 2]
            cases.append((f"garbled-{SEED}-{number}", garble(chance, r.bytes, low, high)))
        each(work, cases)


def garble(chance, content, low, high):
    bad = bytearray(content)
    for _ in range(chance.choice((1, 4, 64))):
        bad[chance.randrange(low, high)] = chance.randrange(256)
    return bytes(bad)


@test
def garbled_recordings_of_perf(t):
    """Recordings of perf: compressed, with dwarf stacks, with all features, and as a pipe."""
    chance = random.Random(SEED + 3)
    with workdir() as work:
        cases = []
        for number, options in enumerate((["-z", "-g"], ["--call-graph", "dwarf"],
                                          ["-e", "page-faults", "-d"], ["-o-"])):
            path = f"{work}/by-perf-{number}"
            # -B (no build-ids): if another process (such as another test) records the machine with
            # build-ids, some kernels mark all mmap records as having one, and perf aborts when it
            # ends.
            command = ["perf", "record", "-q", "-B", "-F", "997", "-o", path, *options, "--",
                       workload("call"), "5"]
            if "-o-" in options:
                with open(path, "wb") as out:
                    subprocess.run([c for c in command if c not in ("-o", path)], stdout=out,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   timeout=60, check=True)
            else:
                run([c for c in command if "-e" not in options or c not in ("-F", "997")],
                    check=True)
            with open(path, "rb") as f:
                content = f.read()
            cases += [(f"perf-{number}-{i}", garble(chance, content, 0, len(content)))
                      for i in range(ROUNDS // 2)]
            cases += [(f"perf-{number}-cut-{i}", content[:chance.randrange(1, len(content))])
                      for i in range(ROUNDS // 8)]
        each(work, cases)


def records_of(content):
    data, size = struct.unpack_from("<QQ", content, 40)
    at = data
    while at + 8 <= data + size:
        kind, _, length = struct.unpack_from("<IHH", content, at)
        if length < 8:
            break
        yield at, kind, length
        at += length


def with_strange_words(chance, content, kinds, most):
    """Invalid registers, stack copies, sizes and outer stacks."""
    bad = bytearray(content)
    for at, kind, length in records_of(content):
        if kind not in kinds or length < 64 or chance.random() < 0.3:
            continue
        for _ in range(chance.randrange(1, most)):
            # Ranges of words to change: those before the stack, all, and the number of copied
            # bytes.
            low, high = chance.choice(((16, min(length, 400)), (16, length), (length - 8, length)))
            word = chance.choice((0, 1, 7, 8, length, 1 << 63, (1 << 64) - 1, at,
                                  chance.getrandbits(64), chance.getrandbits(47),
                                  0x7fff00000000 + chance.getrandbits(32),
                                  chance.getrandbits(3) << 32 | 0x61736100 | chance.getrandbits(4)))
            struct.pack_into("<Q", bad, at + chance.randrange(low, high) // 8 * 8, word)
    return bytes(bad)


@test
def strange_stacks(t):
    """perf's stack copies, and assay's chains with outer stacks that refer to each other."""
    chance = random.Random(SEED + 5)
    with workdir() as work:
        theirs, ours = f"{work}/theirs", f"{work}/ours"
        run(["perf", "record", "-q", "-B", "--buildid-mmap", "-F", "99", "--call-graph",
             "dwarf,4096", "-o", theirs, "--", workload("stacks"), "depths", "1", "300"],
            check=True)
        record(ours, "-g", "-F", "199", "--", workload("stacks"), "depths", "1", "20000")
        for path, kinds in ((theirs, {9}), (ours, {3, 9})):
            with open(path, "rb") as f:
                content = f.read()
            assert sum(k in kinds and size > 200 for _, k, size in records_of(content)) > 20, path
            for number in range(ROUNDS // 2):
                bad = f"{work}/strange-{number}"
                with open(bad, "wb") as f:
                    f.write(with_strange_words(chance, content, kinds, 60))
                try:
                    done = bounded("report", "-g", *["--json"] * (number % 2), "-i", bad)
                    assert done.status == 0, done.err
                except AssertionError as error:
                    raise AssertionError(f"{keep(bad, 'strange')}: {error}") from error


@test
def garbled_for_the_other_commands(t):
    chance = random.Random(SEED + 4)
    with workdir() as work:
        r = Recording(work, "-g")
        for number in range(ROUNDS // 2):
            path = f"{work}/other-{number}"
            with open(path, "wb") as f:
                f.write(garble(chance, r.bytes, 0, len(r.bytes)))
            commands = (["intervals", path], ["annotate", "-i", path, "call_inner"],
                        ["report", "-i", path, "-g", "--json"])
            for command in commands if LONG else [commands[number % 3]]:
                try:
                    bounded(*command, started=number < 3)
                except AssertionError as error:
                    raise AssertionError(f"{command} ({keep(path, 'other')}): {error}") from error


@test
def not_a_recording(t):
    with workdir() as work:
        cases = [("empty", b""), ("text", b"hello\n" * 100), ("zeros", bytes(4096)),
                 ("magic", b"PERFILE2"), ("old-magic", b"PERFFILE" + bytes(200)),
                 ("noise", random.Random(SEED).randbytes(100000))]
        for name, content in cases:
            assert check(work, name, content) > 0, f"{name} was taken for a recording"
        for path in (work, f"{work}/missing", "/dev/null"):
            done = bounded("report", "--full", "-i", path)
            assert done.status > 0 and path in done.err, f"{path}: {done}"


def elf_cases(content, chance):
    fields = struct.unpack_from("<16sHHIQQQIHHHHHH", content)
    program, section = fields[5], fields[6]
    count = fields[12]
    yield "cut-header", content[:40]
    yield "cut-sections", content[:section + 70]
    yield "cut-half", content[:len(content) // 2]
    yield "empty", b""
    for at, size in ((32, 8), (40, 8), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2)):
        for fill in (b"\xff", b"\0", b"\x7f"):
            yield f"head-{at}-{fill.hex()}", changed(content, at, fill * size)
    for number in range(count):
        at = section + 64 * number
        for field, size in ((4, 4), (24, 8), (32, 8), (40, 4), (44, 4), (56, 8)):
            if chance.random() < (1 if LONG else 0.15):
                fill = chance.choice((b"\xff", b"\0", b"\x7f"))
                yield f"section-{number}-{field}", changed(content, at + field, fill * size)
    yield "program", changed(content, program + 8, b"\xff" * 24)
    yield "big-endian", changed(content, 5, b"\x02")
    yield "32-bit", changed(content, 4, b"\x01")
    for number in range(ROUNDS):
        bad = bytearray(content)
        for _ in range(chance.choice((4, 64, 512))):
            bad[chance.randrange(64, len(bad))] = chance.randrange(256)
        yield f"garbled-{number}", bytes(bad)


@test
def hostile_elf(t):
    """Damaged copies replace the recorded program; then the recording is reported and annotated."""
    chance = random.Random(SEED + 2)
    with workdir() as work:
        program = f"{work}/call"
        shutil.copy(workload("call"), program)
        path = f"{work}/perf.data"
        record(path, "-F", "997", "--", program, "20")
        with open(program, "rb") as f:
            content = f.read()
        commands = (["report", "--full", "-i", path], ["annotate", "-i", path, "call_inner"],
                    ["report", "-i", path, "--sort", "line"])
        failures, count, chance_of_command = [], 0, random.Random(SEED)
        for name, bad in elf_cases(content, chance):
            os.unlink(program)
            with open(program, "wb") as f:
                f.write(bad)
            count += 1
            for command in commands if LONG else [chance_of_command.choice(commands)]:
                try:
                    done = bounded(*command, started=count < 4)
                    assert not done.status or command[0] == "annotate", \
                        f"one bad program stops the report: {done.err}"
                except AssertionError as error:
                    failures.append(f"{name} {command} (kept as {keep(program, 'elf-' + name)}): {error}")
        comment(f"{count} damaged programs")
        assert not failures, f"{len(failures)} of {count} failed:\n" + "\n".join(failures[:5])


if __name__ == "__main__":
    main()
