# SPDX-License-Identifier: GPL-2.0-or-later
"""The same perf.data read by perf and by assay: equal sample counts for every (process, image,
address), and by symbol if the address is inside a symbol that has a size."""

import collections
import json
import os
import re
import shutil
import time

import perf_script
from harness import main, stolen_ns, test, test_of_shares
from programs import (BUILD, LONG, comment, number, record, report, rows, run, skip, workdir,
                      workload)
from source_package import SourceError, source_package

CACHE = os.environ.get("ASSAY_CACHE", os.path.join(BUILD, "cache"))
BUILDS = 16 if LONG else 1
# Each starts and ends about 400 processes; in the short form, the decompressor alone, 200.
PROGRAM, PROCESSES = ("zstd", 300) if LONG else ("zstd-decompress", 150)
BUILDS_BY_PERF = 7 if LONG else 1
RATE = 997 if LONG else 1999  # the short form has as many samples of fewer builds
LEAST_OF_BUILD = 700 if LONG else 1400

Place = collections.namedtuple("Place", "pid image address")

SYMBOL = re.compile(r"(?m)^\s*\d+: ([0-9a-f]+)\s+(\d+) I?FUNC\s+\S+\s+\S+\s+\d+ (\S+)")
KERNEL = ("[kernel.kallsyms]", "[kernel]", "[guest.kernel.kallsyms]")


def image_name(name):
    """Maps the names that the two programs use for the same place to one name."""
    if name in KERNEL or name.startswith("[kernel"):
        return "[kernel]"
    if name in ("[unknown]", "", "unknown"):
        return "[unknown]"
    # perf's name for an anonymous mapping of a process that has a perf map.
    if re.fullmatch(r"/tmp/perf-\d+\.map", name):
        return "//anon"
    return name


INTERRUPTS = -1  # assay's pid of interrupts, which are counted for no process


class Segments:
    """File offset to address, by an image's program headers (readelf)."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            found = []
            if os.path.isfile(path):
                text = run(["readelf", "-lW", path]).out
                for offset, address, size in re.findall(
                        r"LOAD\s+(0x[0-9a-f]+) (0x[0-9a-f]+) 0x[0-9a-f]+ (0x[0-9a-f]+)", text):
                    found.append((int(offset, 16), int(address, 16), int(size, 16)))
            self.known[path] = found
        return self.known[path]

    def address(self, path, offset):
        for start, address, size in self.of(path):
            if start <= offset < start + size:
                return offset - start + address
        return None


def perf_places(samples):
    """Samples by place as perf counts them, one Counter for each event; user addresses are offsets."""
    found = collections.defaultdict(collections.Counter)
    for s in samples:
        place = Place(s.pid, image_name(s.dso), s.ip if s.offset is None else s.offset)
        found[s.event][place] += 1
    return found


def our_places(path, event):
    found = collections.Counter()
    for row in rows(path, "instance,image,address", "--event", event):
        found[Place(row["pid"], image_name(row["image"]), number(row["offset"]))] += row["samples"]
    return found


def with_interrupts(ours, theirs):
    """perf's places, with interrupts counted for no process as assay does. At a kernel address in
    an interrupt handler or below it, what perf has more than assay for a process is in interrupts;
    the sums at each address must agree."""
    for place in [p for p in ours if p.pid == INTERRUPTS]:
        for other in [p for p in theirs if p.pid != INTERRUPTS and p.address == place.address and
                      p.image == place.image]:
            more = max(theirs[other] - ours[other], 0)
            theirs[other] -= more
            theirs[place] += more
    return +theirs


def explain(ours, theirs):
    lines = []
    for place in list(ours - theirs)[:6]:
        lines.append(f"assay {ours[place]}, perf {theirs[place]}: {place.pid} {place.image} "
                     f"{place.address:#x}")
    for place in list(theirs - ours)[:6]:
        lines.append(f"perf {theirs[place]}, assay {ours[place]}: {place.pid} {place.image} "
                     f"{place.address:#x}")
    return "\n".join(lines)


def by_process(places):
    counts = collections.Counter()
    for place, count in places.items():
        counts[Place(place.pid, "", 0)] += count
    return counts


def without_odd_names(places, odd):
    """Kernel addresses stay: some of them are counted as interrupts."""
    return collections.Counter({p: count for p, count in places.items()
                                if p.pid not in odd or p.image == "[kernel]"})


def compare_places(path, samples, what, least=50, waits=None):
    """`samples`: perf's. `waits`: the event whose samples assay assigns to the wait that they
    begin, at the function that waits; perf assigns them to the scheduler."""
    total = 0
    for event, theirs in perf_places(samples).items():
        ours = our_places(path, event)
        # perf prints "?" for a control character in the name of a program that another test runs.
        odd = {p.pid for p in ours if not p.image.isprintable()}
        ours, theirs = without_odd_names(ours, odd), without_odd_names(theirs, odd)
        if event == waits:
            ours, theirs = by_process(ours), by_process(theirs)
        else:
            theirs = with_interrupts(ours, theirs)
        comment(f"{what}, {event}: {sum(theirs.values())} samples at {len(theirs)} places of "
                f"{len({p.pid for p in theirs})} processes")
        total += sum(theirs.values())
        apart = sum((ours - theirs).values())
        assert ours == theirs, f"{event}: {apart} of {sum(ours.values())} " \
            f"samples are elsewhere:\n{explain(ours, theirs)}"
    assert total >= least, f"only {total} samples"


def compare_vaddrs(path):
    """assay's `address` is the one that the ELF file's program headers give for its `offset`."""
    segments, checked = Segments(), 0
    for row in rows(path, "instance,image,address"):
        if not row["image"].startswith("/") or number(row["offset"]) >= 1 << 63:
            continue
        want = segments.address(row["image"], number(row["offset"]))
        if want is not None:
            assert number(row["address"]) == want, \
                f"{row['image']} offset {row['offset']}: {row['address']}, not {want:#x}"
            checked += 1
    assert checked > 10, f"only {checked} addresses could be checked"


class Sized:
    """Function symbols with a size of an ELF file, by address: lists for each page, since there are
    many."""

    def __init__(self):
        self.known = {}

    def of(self, path):
        if path not in self.known:
            found = self.known[path] = collections.defaultdict(list)
            if os.path.isfile(path):
                for option in ("-s", "--dyn-syms"):
                    text = run(["readelf", "-W", option, path], timeout=120).out
                    for value, size, name in SYMBOL.findall(text):
                        low, high = int(value, 16), int(value, 16) + int(size)
                        for page in range(low >> 12, (high - 1 >> 12) + 1):
                            found[page].append((low, high, name))
        return self.known[path]

    def inside(self, path, address):
        return [name for low, high, name in self.of(path).get(address >> 12, ())
                if low <= address < high]


def base_name(name):
    """A symbol without its version and without suffixes of compilers for parts and clones."""
    return re.sub(r"@.*$", "", name or "")


def compare_symbols(path, samples, what, began, tree):
    """If an address is inside symbols that have a size, both programs name one of them; if these
    are not aliases of each other, the same one. A file that has been changed since the recording
    began is skipped, except for files below `tree`, which belong to the test."""
    segments, sized = Segments(), Sized()

    def written_since(image):
        return not image.startswith(tree) and os.path.isfile(image) and \
            os.stat(image).st_ctime >= began
    names = {}
    for s in samples:
        if s.offset is not None:
            names[Place(s.pid, image_name(s.dso), s.offset)] = s.symbol
    checked, kernel = 0, 0
    for row in rows(path, "instance,image,address,function", "--no-demangle"):
        place = Place(row["pid"], image_name(row["image"]), number(row["offset"]))
        if place not in names or written_since(row["image"]):
            continue
        address = segments.address(row["image"], place.address)
        inside = {base_name(n) for n in sized.inside(row["image"], address or 0)}
        if not inside:
            continue
        theirs, mine = base_name(names[place]), base_name(row["function"])
        assert mine in inside or theirs == mine, \
            f"{place}: assay says {row['function']}, perf {names[place]}, the file {sorted(inside)}"
        if len(inside) == 1:
            assert theirs == mine, f"{place}: assay says {mine}, perf {theirs}"
        checked += row["samples"]
    comment(f"{what}: {checked} samples inside sized symbols, named alike")
    assert checked > 50, f"only {checked} samples inside sized symbols"


def compare_kernel_symbols(path, samples):
    """Kernel functions by name: the same counts as perf's."""
    theirs, ours = collections.Counter(), collections.Counter()
    for s in samples:
        if image_name(s.dso) == "[kernel]":
            theirs[s.ip, s.symbol] += 1
    for row in rows(path, "image,address,function"):
        if image_name(row["image"]) == "[kernel]":
            ours[number(row["address"]), row["function"]] += row["samples"]
    # Symbols at one address are aliases: each of the names is right.
    aliases = kernel_aliases()
    for (address, name), count in (ours - theirs).items():
        other = [n for a, n in theirs if a == address]
        assert other and aliases.get(name, name) == aliases.get(other[0], other[0]), \
            f"{address:#x}: assay says {name}, perf {other}"


def kernel_aliases():
    """Name -> address of kernel symbols, so that aliases compare equal."""
    with open("/proc/kallsyms", encoding="utf-8") as f:
        return {name: address for address, _, name in
                (line.split()[:3] for line in f)}


def built_source(work, builds):
    """A new copy of zstd's source: (directory, command that builds it repeatedly)."""
    if not shutil.which("make") or not shutil.which("cc"):
        skip("make or cc is not installed")
    try:
        source = source_package("libzstd", CACHE)
    except (SourceError, OSError) as error:
        skip(f"no source to build: {error}")
    tree = f"{work}/zstd"
    shutil.copytree(source, tree)
    script = (f"for i in $(seq {builds}); do make -s -C {tree}/programs clean; "
              f"make -s -j2 -C {tree}/programs CFLAGS=-O0 {PROGRAM}; done >/dev/null 2>&1")
    return ["sh", "-c", script]


def count_exits(path):
    text = perf_script.perf("script", "-i", path, "--show-task-events", "-F", "pid,time")
    exits = re.findall(r"PERF_RECORD_EXIT\((\d+):(\d+)\)", text)
    return sum(1 for pid, tid in exits if pid == tid)


def check_build(path, what, builds, began):
    processes = count_exits(path)
    comment(f"{what}: {processes} processes ended in it")
    assert processes >= PROCESSES * builds, f"only {processes} processes"
    samples = list(perf_script.samples(path, symbols=True))
    compare_places(path, samples, what, least=LEAST_OF_BUILD * builds)
    compare_vaddrs(path)
    compare_symbols(path, samples, what, began, os.path.dirname(path))
    compare_kernel_symbols(path, samples)


@test
def build_recorded_by_assay(t):
    with workdir() as work:
        path, began = f"{work}/perf.data", time.time()
        record(path, "-a", "-F", str(RATE), "--", *built_source(work, BUILDS), timeout=300)
        check_build(path, "build by assay", BUILDS, began)


@test
def build_recorded_by_perf(t):
    with workdir() as work:
        path, began = f"{work}/perf.data", time.time()
        # perf reads every recorded program for its build-id, and fails on unusual ones. With
        # build-ids from the kernel it does not read them.
        run(["perf", "record", "-q", "--buildid-mmap", "-a", "-g", "-F", str(RATE), "-o", path, "--",
             *built_source(work, BUILDS_BY_PERF)], timeout=300, check=True)
        check_build(path, "build by perf", BUILDS_BY_PERF, began)


def event_kind(*options, command=None, least=50, waits=None):
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, *options, "--", *(command or ["sh", "-c", f"{workload('threads')} 2 100; "
                                                   f"{workload('faults')} {work}/f; "
                                                   f"{workload('waits')} 50"]))
        compare_places(path, perf_script.samples(path), " ".join(options), least, waits)


@test
def cpu_clock(t):
    event_kind("-e", "cpu-clock", "-F", "997")


@test
def chains(t):
    event_kind("-g", "-F", "997")


@test
def page_faults(t):
    event_kind("-e", "page-faults")


@test
def context_switches(t):
    event_kind("-e", "context-switches", "-a", least=10)


@test
def data_addresses(t):
    event_kind("-e", "page-faults", "-d")


@test
def data_addresses_by_region(t):
    """Pages of two mappings, each touched once: the counts of the regions are the numbers of pages."""
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, "-e", "page-faults", "-d", "--",
               workload("faults"), f"{work}/touched", "3000", "7000")
        found = collections.Counter()
        for row in rows(path, "function,region"):
            found[row["function"], row["region"]] += row["samples"]
        comment(found.most_common(6))
        by_file = sum(n for (f, r), n in found.items()
                      if f == "faults_touch_file" and r.startswith(f"{work}/touched"))
        anonymous = sum(n for (f, r), n in found.items()
                        if f == "faults_touch_anonymous" and "anon" in r)
        sampled = sum(found.values())
        assert sampled > 100
        if sampled > 9000:  # every fault was sampled
            assert by_file == 3000, f"{by_file} faults in the file's mapping"
            assert anonymous == 7000, f"{anonymous} faults in the anonymous mapping"
        else:  # one in n
            share = by_file / (by_file + anonymous)
            assert abs(share - 0.3) < 0.1, f"{share} of the faults in the file's mapping"


@test
def off_cpu(t):
    event_kind("--off-cpu", "-F", "997", "-g", waits="context-switches")


def add_waits(node, found):
    """The tree's nodes by name: the sum of the topmost nodes of each name."""
    if node["name"].startswith("wait_"):
        sums = found.setdefault(node["name"], collections.Counter())
        sums["blocked_ns"] += node["blocked_ns"]
        sums["runnable_ns"] += node["runnable_ns"]
        return
    for child in node["children"]:
        add_waits(child, found)


@test_of_shares
def off_cpu_times(t):
    """The report finds the waiting time that the program `waits` reports: blocked and runnable, per
    function."""
    with workdir() as work:
        path = f"{work}/perf.data"
        before = stolen_ns()
        done = record(path, "--off-cpu", "-g", "-F", "997", "--", workload("waits"), "200")
        stolen = stolen_ns() - before
        truth = json.loads(done.out.strip().splitlines()[-1])
        found = {}
        add_waits(report(path, "-g", "--tid", str(truth["pid"]))["tree"], found)
        for name in ("wait_sleep", "wait_pipe"):
            want = truth[name]["wall_ns"] - truth[name]["cpu_ns"]
            blocked = found[name]["blocked_ns"]
            comment(f"{name}: blocked {blocked / 1e6:.1f} ms, by its own clock {want / 1e6:.1f}")
            # The program's clock cannot distinguish late wake-ups on a busy machine from waiting.
            late = found[name]["runnable_ns"]
            assert -0.02 * want - 2e6 - stolen < blocked + late - want < 0.02 * want + 2e6, \
                f"{name}: {blocked + late}, not {want}"
            assert blocked >= (0.4e9 if name == "wait_sleep" else 0.19e9), f"{name}: {blocked}"
        want = truth["wait_contend"]["wall_ns"] - truth["wait_contend"]["cpu_ns"]
        runnable = found["wait_contend"]["runnable_ns"]
        comment(f"wait_contend: runnable {runnable / 1e6:.1f} ms, "
                f"by its own clock {want / 1e6:.1f}")
        assert -0.05 * want - 5e6 - stolen < runnable - want < 0.05 * want + 5e6, \
            f"wait_contend: {runnable}, not {want}"


if __name__ == "__main__":
    main()
