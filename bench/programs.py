# SPDX-License-Identifier: GPL-2.0-or-later
"""programs: real programs for the benches, built from Debian's sources with flags of the bench.

bash runs a script, bzip2 compresses a file, leveldb (compiled with a small client) writes and reads
keys, redis-server answers redis-benchmark. Each source is fetched once, into ~/.cache/assay-bench; each
build is in the directory of the bench. run() returns CPU and wall seconds as calls_peers.run() does.
"""

import glob
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from calls_peers import ROOT, fail, need, run

sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
from source_package import SourceError, source_package  # noqa: E402

CACHE = os.path.expanduser("~/.cache/assay-bench")

SCRIPT = """
fib() { if (( $1 < 2 )); then r=$1; else fib $(($1 - 1)); local a=$r; fib $(($1 - 2)); r=$((r + a)); fi; }
fib 10
declare -A words
for (( i = 0; i < 90000; i++ )); do
	key="k$((i % 97))"
	words[$key]=$(( ${words[$key]:-0} + i ))
	text="${text:0:40}${key^^}"
	[[ $text == *K9* ]] && hits=$((hits + 1))
done
echo "$r ${#words[@]} $hits"
"""

LEVELDB = """
#include "leveldb/db.h"
#include <cstdio>
#include <cstdlib>
#include <string>
static std::string key_of(unsigned i) { char text[32]; snprintf(text, sizeof(text), "key%010u", i); return text; }
int main(int argc, char **argv)
{
	leveldb::DB *db;
	leveldb::Options options;
	unsigned n = strtoul(argv[2], NULL, 10), found = 0;
	std::string value(100, 'v');

	options.create_if_missing = true;
	leveldb::DestroyDB(argv[1], options);
	if (!leveldb::DB::Open(options, argv[1], &db).ok())
		return 1;
	for (unsigned i = 0; i < n; i++)
		db->Put(leveldb::WriteOptions(), key_of(i * 2654435761u % n), value);
	for (unsigned i = 0; i < n; i++)
		found += db->Get(leveldb::ReadOptions(), key_of(i * 40503u % n), &value).ok();
	leveldb::Iterator *at = db->NewIterator(leveldb::ReadOptions());
	for (at->SeekToFirst(); at->Valid(); at->Next())
		found += at->value().size() == 100;
	delete at;
	delete db;
	printf("%u\\n", found);
	return 0;
}
"""


def make(words, directory):
    done = subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    if done.returncode:
        fail(f"{' '.join(words)}: {done.stdout.decode(errors='replace')[-1500:]}")


class Program:
    """One program; build(variant, flags) returns the words of a run."""

    def __init__(self, work):
        self.work = work
        try:
            self.source = source_package(type(self).__name__.lower(), CACHE)
        except SourceError as error:
            fail(str(error))

    def tree(self, variant):
        path = os.path.join(self.work, f"{type(self).__name__.lower()}-{variant}")
        shutil.copytree(self.source, path, symlinks=True)
        return path

    def write(self, name, text):
        path = os.path.join(self.work, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def run(self, words, **environment):
        return run(words, cwd=self.work, **environment)


class Bash(Program):
    def build(self, variant, flags):
        tree = self.tree(variant)
        make(["./configure", "--without-bash-malloc", "--disable-nls", f"CFLAGS=-O2 -w {' '.join(flags)}",
              "CFLAGS_FOR_BUILD=-O2 -w"], tree)
        make(["make", f"-j{os.cpu_count()}", "bash"], tree)
        return [f"{tree}/bash", self.write("script.sh", SCRIPT)]


class Bzip2(Program):
    def build(self, variant, flags):
        tree = self.tree(variant)
        files = [f"{tree}/{name}.c" for name in ("blocksort", "huffman", "crctable", "randtable",
                                                 "compress", "decompress", "bzlib", "bzip2")]
        make([need("gcc"), "-O2", "-w", "-D_FILE_OFFSET_BITS=64", *flags, *files, "-o", f"{tree}/bzip2"],
             tree)
        data = os.path.join(self.work, "data")
        if not os.path.exists(data):
            with open(data, "wb") as out:
                for path in sorted(glob.glob(f"{self.source}/*.[ch]")) * 60:
                    with open(path, "rb") as f:
                        out.write(f.read())
        return [f"{tree}/bzip2", "-k", "-f", data]


class Leveldb(Program):
    def build(self, variant, flags):
        tree = self.tree(variant)
        files = [path for name in ("db", "table", "util") for path in glob.glob(f"{tree}/{name}/*.cc")
                 if "test" not in os.path.basename(path) and "bench" not in os.path.basename(path)
                 and os.path.basename(path) not in ("leveldbutil.cc", "env_windows.cc")]
        words = [need("g++"), "-std=c++14", "-O2", "-w", "-DLEVELDB_PLATFORM_POSIX=1", f"-I{tree}",
                 f"-I{tree}/include", "-pthread", *flags]
        files += [f"{tree}/helpers/memenv/memenv.cc", self.write("client.cc", LEVELDB)]
        objects = [f"{tree}/object{i}.o" for i in range(len(files))]
        waiting = [(*words, "-c", path, "-o", out) for path, out in zip(files, objects)]
        while waiting:
            running = [subprocess.Popen(waiting.pop()) for _ in range(min(len(waiting),
                                                                          os.cpu_count()))]
            if any([process.wait() for process in running]):
                fail("leveldb does not compile")
        make([*words, *objects, "-o", f"{tree}/client"], tree)
        return [f"{tree}/client", f"{tree}/database", "200000"]


class Redis(Program):
    REQUESTS, KINDS = 60000, "set,get,incr,lpush,sadd,hset"

    def build(self, variant, flags):
        tree = self.tree(variant)
        make(["make", f"-j{os.cpu_count()}", "-C", f"{tree}/src", "MALLOC=libc", "OPTIMIZATION=-O2",
              f"REDIS_CFLAGS=-w {' '.join(flags)}", "redis-server"], tree)
        return [f"{tree}/src/redis-server"]

    def run(self, words, **environment):
        """The CPU time of the server alone, between its start and its end."""
        with tempfile.TemporaryDirectory(prefix="redis-", dir=self.work) as place:
            path = f"{place}/socket"
            preload = environment.pop("preload", None)
            env = dict(os.environ, **environment, **({"LD_PRELOAD": preload} if preload else {}))
            start = time.monotonic()
            server = subprocess.Popen([*words, "--port", "0", "--unixsocket", path, "--save", "",
                                       "--daemonize", "no", "--dir", place], env=env, cwd=place,
                                      stdout=subprocess.DEVNULL)
            wait_for(path)
            make([need("redis-benchmark"), "-s", path, "-q", "-n", str(self.REQUESTS), "-t", self.KINDS], place)
            server.send_signal(signal.SIGTERM)
            _, status, usage = os.wait4(server.pid, 0)
            server.returncode = os.waitstatus_to_exitcode(status)
            if server.returncode:
                fail(f"redis-server ended with status {server.returncode}")
            return {"wall": time.monotonic() - start, "cpu": usage.ru_utime + usage.ru_stime,
                    "out": ""}


def wait_for(path):
    end = time.monotonic() + 60
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(path)
                return
            except OSError:
                if time.monotonic() > end:
                    fail(f"nothing listens at {path}")
        time.sleep(0.05)


PROGRAMS = {"bash": Bash, "bzip2": Bzip2, "leveldb": Leveldb, "redis": Redis}
