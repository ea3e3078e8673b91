# SPDX-License-Identifier: GPL-2.0-or-later
"""The inputs of the fuzzers, and changed copies of them and of real files, through the commands that
read them, with 500 MB of address space and 20 s: no crash, no hang, no output without an end.

ASSAY_LONG=1 runs all inputs and 10,000 changed files; ASSAY_MUTATED is another number, ASSAY_SEED
another seed. A file that fails is kept in $TMPDIR."""

import concurrent.futures
import os
import pathlib
import queue
import random
import shutil
import subprocess

from command_server import CommandServer
from harness import ASSAY, LONG, ROOT, main, names_of_kernel, test

CORPUS = ROOT / "tests" / "fuzz" / "corpus"
MEMORY_BYTES = 512000 << 10  # ulimit -v 512000
OUTPUT_BYTES = 64 << 20
SECONDS = 20
SEED = int(os.environ.get("ASSAY_SEED", "1"))
COUNT = int(os.environ.get("ASSAY_MUTATED", "10000" if LONG else "150"))
EVERY = 1 if LONG else 8  # of the inputs of the fuzzers
NUMBERS = (0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, 1 << 40,
           (1 << 63) - 1, (1 << 64) - 1)

# Commands by the kind of the input: FILE is the input, DATA a recording of PROGRAM, ROOT a directory
# in which the input has the path of PROGRAM, WORK a directory.
REPORT = ["report", "--full", "-i", "FILE"]
COMMANDS = {
    "perf_data": [REPORT, ["report", "--json", "--sort", "line,cpu", "-i", "FILE"],
                  ["export", "--to", "folded", "-o", "WORK/out", "-i", "FILE"],
                  ["waits", "-i", "FILE"], ["intervals", "-i", "FILE"],
                  ["sql", "FILE", "SELECT count(*) FROM samples"]],
    "calls": [REPORT, ["report", "-g", "-i", "FILE"],
              ["export", "--to", "pprof", "-o", "WORK/out", "-i", "FILE"]],
    "ctf": [["report", "-i", "ROOT"], ["tags", "trace", "ROOT"]],
    "tag_dump": [["tags", "import", "-q", "-o", "WORK/trace", "FILE"],
                 ["tags", "import", "-q", "--layout", "csv", "-o", "WORK/trace", "FILE"]],
    "names_file": [["tags", "names", "FILE"]],
    "plugin_names": [["tags", "names", "FILE"]],
    "rules_file": [["report", "-i", "DATA", "--groups", "FILE"]],
    "kallsyms": [["report", "-i", "DATA", "--kallsyms", "FILE"]],
    "elf": [["report", "--sort", "line", "-i", "DATA", "--symfs", "ROOT"],
            ["report", "-g", "--inline", "-i", "DATA", "--symfs", "ROOT"],
            ["annotate", "-i", "DATA", "--symfs", "ROOT", "main"],
            ["report", "-i", "DATA", "--vmlinux", "FILE"], ["tags", "names", "FILE"]],
    "agent_config": [["agent", "--check", "--config", "FILE"]],
    "store_file": [["report", "--store", "FILE"], ["sql", "FILE", "SELECT * FROM samples LIMIT 9"]],
}
for same in ("cfi", "debuginfod", "debuglink", "dwarf"):
    COMMANDS[same] = COMMANDS["elf"]


def changed(chance, content, others):
    """A copy with one to eight changes."""
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 3, 8))):
        at = chance.randrange(len(content) + 1)
        how = chance.randrange(7)
        if how == 0:
            content[at:at + 1] = bytes([chance.randrange(256)])
        elif how == 1:
            size = chance.choice((1, 2, 4, 8))
            content[at:at + size] = (chance.choice(NUMBERS) & ((1 << 8 * size) - 1)) \
                .to_bytes(size, chance.choice(("little", "big")))
        elif how == 2:
            del content[at:]
        elif how == 3:
            del content[at:at + chance.randrange(1, 64)]
        elif how == 4:
            content[at:at] = content[at:at + chance.randrange(1, 4096)] * chance.choice((1, 2, 50))
        elif how == 5:
            other = chance.choice(others)
            begin = chance.randrange(len(other) + 1)
            content[at:at] = other[begin:begin + chance.randrange(1, 512)]
        else:
            for i in range(at, min(at + 16, len(content))):
                content[i] ^= 1 << chance.randrange(8)
    return bytes(content)


class Campaign:
    """Seeds by kind, and one run of the command line for each file."""

    def __init__(self, t):
        self.t = t
        self.program, self.data = t.path("program"), t.path("recording")
        source = t.write("program.c", "volatile unsigned long v;\nstatic inline void add(void) { "
                         "for (int i = 0; i < 40000000; i++) v += i; }\n"
                         "int main(void) { add(); return 0; }\n")
        t.run("gcc", "-O2", "-g", "-o", self.program, source)
        t.assay("record", "-q", "-g", "-o", self.data, "--", self.program)
        self.seeds = {}
        for folder in sorted(CORPUS.iterdir()):
            self.seeds[folder.name] = [f.read_bytes() for f in sorted(folder.iterdir())]
        self.corpus = {kind: list(files) for kind, files in self.seeds.items()}
        self.add_real("perf_data", self.data)
        self.add_real("elf", self.program)
        for form, kind in (("pprof", "pprof"), ("folded", "profiles"), ("chrome", "profiles"),
                           ("callgrind", "profiles"), ("otlp", "profiles")):
            out = t.path(f"real.{form}")
            t.assay("export", "--to", form, "-o", out, "-i", self.data)
            self.add_real(kind, out)
        t.assay("start", "--foreground", "--store", t.path("real.db"), "--duration", "1s", status=None,
                env=t.runtime())
        if t.path("real.db").exists():
            self.add_real("store_file", t.path("real.db"))
        self.servers = queue.SimpleQueue()
        for i in range(os.cpu_count()):
            cache = names_of_kernel(t.path(f"cache-{i}"))
            env = dict(os.environ, XDG_CACHE_HOME=str(cache), LC_ALL="C.UTF-8")
            self.servers.put((CommandServer(ASSAY, env), cache / "assay"))

    def add_real(self, kind, path):
        self.seeds.setdefault(kind, []).append(path.read_bytes())

    def prepared(self, place, kind, content):
        """Writes the files of one input; the words that stand for them."""
        file, root = place / "input", place / "root"
        file.write_bytes(content)
        if kind == "ctf":
            metadata, _, stream = content.partition(b"%%")
            root.mkdir()
            (root / "metadata").write_bytes(metadata)
            (root / "stream").write_bytes(stream)
        elif COMMANDS.get(kind) is COMMANDS["elf"]:
            copy = root / str(self.program).lstrip("/")
            copy.parent.mkdir(parents=True)
            copy.write_bytes(content)
        return {"FILE": file, "ROOT": root, "DATA": self.data, "WORK": place}

    def run(self, words):
        """None, or a sentence about the failure. The cache is empty except for the kernel's names."""
        server, cache = self.servers.get()
        try:
            status, *outputs = server.run(*words, timeout=SECONDS, address_space=MEMORY_BYTES)
        except subprocess.TimeoutExpired:
            return f"no end within {SECONDS} s"
        finally:
            for folder in cache.glob("*"):
                if folder.name != "kallsyms":
                    shutil.rmtree(folder)
            self.servers.put((server, cache))
        if not 0 <= status < 124:
            return f"status {status}: {outputs[1][-500:].decode(errors='replace')}"
        size = sum(map(len, outputs))
        return f"{size} bytes of output" if size > OUTPUT_BYTES else None

    def check(self, number, kind, content, words):
        """None, or a sentence about the failure of a command with one input."""
        place = self.t.path(f"run-{number}")
        place.mkdir()
        names = self.prepared(place, kind, content)
        command = []
        for word in words:
            head, slash, tail = word.partition("/")
            command.append(str(names[head]) + slash + tail if head in names else word)
        why = self.run(command)
        if why:
            kept = pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / f"assay-mutated-{kind}-{number}"
            shutil.copy(place / "input", kept)
            why = f"{' '.join(command)} (kept as {kept}): {why}"
        shutil.rmtree(place)
        return why

    def all(self, jobs):
        """Runs them; all failures."""
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = pool.map(lambda job: self.check(*job), jobs)
            return [why for why in found if why]


def commands_of(kind):
    return COMMANDS.get(kind, [REPORT])


@test
def inputs_of_the_fuzzers_and_changed_files_are_read_within_limits(t):
    t.need("gcc")
    campaign = Campaign(t)
    chance = random.Random(SEED)

    def jobs():
        number = 0
        for kind, files in campaign.corpus.items():
            for content in files[SEED % EVERY::EVERY]:
                number += 1
                for i, words in enumerate(commands_of(kind) if LONG else
                                          [chance.choice(commands_of(kind))]):
                    yield f"{number}-{i}", kind, content, words
        # Files are read in one way each; kinds with several commands have more files.
        kinds = [kind for kind in campaign.seeds for _ in commands_of(kind)]
        for number in range(COUNT):
            kind = chance.choice(kinds)
            content = changed(chance, chance.choice(campaign.seeds[kind]), campaign.seeds[kind])
            yield f"c{number}", kind, content, chance.choice(commands_of(kind))

    listed = list(jobs()) if not LONG else None
    failures = campaign.all(listed if listed is not None else jobs())
    t.equal(failures, [], f"failures of {COUNT} changed files")


main()
