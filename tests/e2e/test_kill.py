# SPDX-License-Identifier: GPL-2.0-or-later
"""A recorder that is killed at a random moment leaves a file with all flushed data, which assay and
perf can read."""

import json
import os
import random
import struct
import subprocess
import time

import perf_script
from harness import main, test
from programs import ASSAY, LONG, comment, environment, report, run, sample_count, workdir, workload
from time_limit import limit

KILLS = 50 if LONG else 6
HEADER_BYTES = 104


def data_size(path):
    """data.size of the file's header; 0 if there is no file or no header."""
    try:
        with open(path, "rb") as f:
            header = f.read(HEADER_BYTES)
    except FileNotFoundError:
        return 0
    return struct.unpack_from("<Q", header, 48)[0] if len(header) == HEADER_BYTES else 0


def samples_now(path):
    """The samples in a report of a file that is being written."""
    if data_size(path) == 0:
        return 0
    done = run([ASSAY, "report", "-i", path, "--json"])
    return sample_count(json.loads(done.out)) if done.out else 0


def kill_at(seconds, path, least):
    """Records the machine under load, and kills the recorder this time after this number of samples
    can be read."""
    load = subprocess.Popen([workload("btree"), "100000"], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL)
    try:
        recorder = subprocess.Popen([ASSAY, "record", "-a", "-g", "-F", "997", "-o", path],
                                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL, env=environment())
        end = time.monotonic() + limit(60)
        while samples_now(path) < least and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(seconds)
        assert recorder.poll() is None, f"the recorder ended by itself: {recorder.returncode}"
        recorder.kill()
        recorder.wait()
    finally:
        load.kill()
        load.wait()


def check_readable(path, seconds):
    perf = run(["perf", "report", "--stdio", "-i", path], timeout=120)
    if data_size(path) == 0:
        # No data was flushed. assay must print an error or an empty report, and not crash.
        ours = run([ASSAY, "report", "--full", "-i", path])
        assert ours.status in (0, 1) and (ours.err or ours.out), f"status {ours.status}"
        return 0
    assert perf.status == 0, f"after {seconds:.3f} s perf report says: {perf.err[-500:]}"
    found = report(path)
    # The recorder may be killed after it wrote records and before it counted them in the header:
    # assay reads them too.
    tell_all(path)
    samples = sum(1 for _ in perf_script.samples(path))
    assert sample_count(found) == samples, \
        f"after {seconds:.3f} s assay sees {sample_count(found)} samples, perf {samples}"
    return samples


def tell_all(path):
    """Changes the header so that it counts every complete record; these are at least as many as
    before."""
    told = data_size(path)
    with open(path, "r+b") as f:
        data = f.read()
        begin = end = struct.unpack_from("<Q", data, 40)[0]
        while end + 8 <= len(data):
            size = struct.unpack_from("<H", data, end + 6)[0]
            if size < 8 or end + size > len(data):
                break
            end += size
        assert end - begin >= told, \
            f"the header counts {told} bytes, complete records have {end - begin}"
        f.seek(48)
        f.write(struct.pack("<Q", end - begin))


@test
def killed_at_random_moments(t):
    seed = int(os.environ.get("ASSAY_SEED", "1"))
    chance = random.Random(seed)
    flushed = 0
    with workdir() as work:
        for number in range(KILLS):
            # Every second recorder is killed early, while it creates the file.
            early = number % 2 == 1
            seconds = chance.uniform(0.02, 0.4) if early else chance.uniform(0, 2)
            least = 0 if early else 100
            path = f"{work}/killed-{number}"
            kill_at(seconds, path, least)
            samples = check_readable(path, seconds)
            comment(f"killed after {seconds:.3f} s: {samples} samples, "
                    f"{os.path.getsize(path) if os.path.exists(path) else 0} bytes")
            assert samples >= least, f"only {samples} samples, and {least} could be read before"
            flushed += samples > 0
    assert flushed >= KILLS // 3, f"only {flushed} of {KILLS} recordings hold samples"


if __name__ == "__main__":
    main()
