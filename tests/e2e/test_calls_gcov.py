# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls per function equal gcov's: zstd, lua and, with --long, sqlite3's shell, from Debian's
source packages.

Each is built with both --coverage and -finstrument-functions, without optimisation, so that one run
gives both counts. lua is also built with event tags: its trace has the same calls. Functions are
matched by name: a function that a header defines in several files is one sum on both sides. gcov
writes its counts after all other destructors, and these programs call no function after that.
"""

import collections
import glob
import json
import os

from calls_truth import ADDED, NO_FUNCTION, plain_name
from harness import ASSAY, BUILD, long_test, main, run, test
from package_programs import (LUA_FLAGS, SQLITE3_FLAGS, compile_all, link, lua_files, source,
                              sqlite3_files)

COMPILE = ["gcc", "-O0", "-g1", "-w", "--coverage", "-finstrument-functions"]
LINK = ["gcc", "--coverage"]


def gcov_counts(t, directory):
    """Calls by function, as gcov has them; functions never called too."""
    counts = collections.Counter()
    data = sorted(os.path.basename(path) for path in glob.glob(f"{directory}/*.gcda"))
    t.true(data, "gcov wrote its counts")
    out = run("gcov", "--json-format", "--stdout", *data, cwd=directory, timeout=120).out
    for line in out.splitlines():
        if line.startswith("{"):
            for file in json.loads(line)["files"]:
                for function in file["functions"]:
                    counts[function["name"]] += function["execution_count"]
    return counts


def assay_counts(t, data):
    """The same counts by assay, of the only process."""
    counts = collections.Counter()
    processes = [p for p in t.report(data, timeout=120)["processes"] if p["paths"]]
    t.equal(len(processes), 1, "processes that called")
    t.equal([processes[0]["lost_events"], processes[0]["other_calls"]], [0, 0],
            "calls that are lost or have no path")
    for path in processes[0]["paths"]:
        name = plain_name(path["path"][-1])
        if name not in NO_FUNCTION and not ADDED.match(name):
            counts[name] += path["calls"]
    return counts


def check(t, directory, words, status=0, name="calls"):
    """Runs the program and compares; returns the result and gcov's counts."""
    for old in glob.glob(f"{directory}/*.gcda"):
        os.unlink(old)
    data = t.path(name + ".data")
    result = t.assay("calls", "-o", data, "--", *words, cwd=directory, status=status, timeout=120)
    want, got = gcov_counts(t, directory), assay_counts(t, data)
    wrong = [f"{name}: {got[name]} calls, {want[name]} by gcov"
             for name in sorted(set(want) | set(got))
             if got[name] != want[name]]
    called = sum(1 for count in want.values() if count)
    t.true(not wrong, f"{len(wrong)} of {called} functions differ:\n" + "\n".join(wrong[:40]))
    print(f"# {os.path.basename(words[0])}: {sum(want.values())} calls of {called} functions, "
          "all equal", flush=True)
    return result, want


def check_tags(t, directory, words):
    """Another run, counted by tags and by gcov: each run of lua differs, because its hashes have a
    random seed."""
    data = t.path("tags")
    for old in glob.glob(f"{directory}/*.gcda"):
        os.unlink(old)
    t.assay("tags", "-q", "-o", data, "--", *words, cwd=directory, timeout=120)
    report, got = t.report(data, timeout=120), collections.Counter()
    want = gcov_counts(t, directory)
    t.equal([report[key] for key in ("lost", "unknown_tags", "unmatched_exits", "backwards")],
            [0, 0, 0, 0], "lost, unknown, exits without an entry, times that go back")
    for row in report["functions"]:
        got[row["name"].split("@")[0]] += row["calls"]
    t.equal({name: (got[name], want[name]) for name in set(got) | set(want)
             if got[name] != want[name]}, {}, "functions with other calls by tags")
    print(f"# by tags: {sum(got.values())} calls, all equal", flush=True)


SCRIPT = """
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local words, seed = {}, 1
for i = 1, 3000 do
  seed = (seed * 1103515245 + 12345) % 2147483648
  words[i] = string.format("%08x", seed)
end
table.sort(words)
local text = table.concat(words, " ")
local _, spaces = text:gsub(" ", "")
local caught = 0
for i = 1, 200 do
  local ok = pcall(function() if i % 2 == 0 then error("even") end return words[i]:upper() end)
  if not ok then caught = caught + 1 end
end
local generator = coroutine.wrap(function() for i = 1, 500 do coroutine.yield(i * i) end end)
local sum = 0
for i = 1, 500 do sum = sum + generator() end
collectgarbage()
local class = setmetatable({}, {__index = function(_, key) return #key end})
for i = 1, 500 do sum = sum + class["key" .. i] end
print(fib(18), spaces, caught, sum, load("return 6 * 7")())
"""


@test
def lua_by_its_own_errors_and_coroutines(t):
    t.need("gcc", "gcov")
    directory = str(t.path("lua"))
    os.mkdir(directory)
    # gcov counts jumps, not entries, in a function with computed gotos. There is none here.
    flags = [ASSAY, "tags", "flags", "--names", t.path("names")]
    plugin = (BUILD / "plugin" / "gcc" / "assay_tags.so").exists()
    tags, libraries = ([run(*flags, kind).out.split() for kind in ("--cflags", "--libs")]
                       if plugin else ([], []))
    compile_all(t, directory, lua_files(directory),
                [*COMPILE, *LUA_FLAGS, "-DLUA_USE_JUMPTABLE=0", "-I.", *tags])
    program = link(t, directory, "lua", LINK, "-lm", *libraries)
    script = t.write("script.lua", SCRIPT)
    result, want = check(t, directory, [program, script])
    t.equal(result.out.split("\n")[0], "2584\t2999\t100\t41794642\t42", "the script's answer")
    t.true(want["luaV_execute"] > 1000 and want["luaD_throw"] > 100, "the script did its work")
    if plugin:
        check_tags(t, directory, [program, script])


@test
def zstd_compressing_and_decompressing(t):
    t.need("gcc", "gcov")
    src = source("libzstd")
    directory = str(t.path("zstd"))
    os.mkdir(directory)
    files = [path for part in ("lib/common", "lib/compress", "lib/decompress", "lib/dictBuilder",
                               "programs") for path in glob.glob(f"{src}/{part}/*.c")]
    # gcov does not count calls of functions that are always inlined. There are none here.
    flags = ["-DZSTD_DISABLE_ASM", "-DZSTD_NO_INLINE", "-DXXH_NO_INLINE_HINTS=1",
             "-DZSTD_LEGACY_SUPPORT=0", "-DBACKTRACE_ENABLE=0",
             f"-I{src}/lib", f"-I{src}/lib/common", f"-I{src}/programs"]
    compile_all(t, directory, files, [*COMPILE, *flags])
    program = link(t, directory, "zstd", LINK)
    with open(f"{src}/lib/compress/zstd_compress.c", "rb") as f:
        text = f.read()[:150000]
    plain = t.write("plain", text)
    for level in ("-1", "-6", "-13"):
        check(t, directory, [program, "--single-thread", "-q", "-f", level, plain, "-o",
                             t.path("packed")], name="calls" + level)
    check(t, directory, [program, "-q", "-f", "-d", t.path("packed"), "-o", t.path("again")])
    t.equal(t.path("again").read_bytes(), text, "what came back")


QUERIES = """
create table t(id integer primary key, word text, n real);
create index t_word on t(word);
with recursive c(i) as (select 1 union all select i + 1 from c where i < 3000)
insert into t select i, printf('%08x', (i * 1103515245 + 12345) % 2147483648), i / 7.0 from c;
select count(*), sum(id) from t where word like '%a%';
select substr(word, 1, 2) w, count(*), avg(n) from t group by w order by 2 desc limit 5;
select a.id from t a join t b on a.word = b.word where a.id % 500 = 0 order by a.id desc;
begin; update t set n = n * 2 where id < 500; rollback;
delete from t where id % 3 = 0;
select json_extract('{"a": [1, 2, {"b": 9}]}', '$.a[2].b');
select nothing from nowhere;
.schema
vacuum;
"""


@long_test
def sqlite3_by_its_shell(t):
    t.need("gcc", "gcov", "make", "tclsh")
    directory = str(t.path("sqlite3"))
    os.mkdir(directory)
    tree = directory + "/tree"
    compile_all(t, directory, sqlite3_files(t, tree), [*COMPILE, *SQLITE3_FLAGS, f"-I{tree}"])
    program = link(t, directory, "sqlite3", LINK, "-lm")
    # No configuration file of the user is read. One query is wrong, so the shell's exit status is
    # not 0.
    script = t.write("script.sql", QUERIES)
    result, want = check(t, directory, [program, "-init", "/dev/null", ":memory:",
                                        f".read {script}"], status=1)
    t.has(result.out, "\n9\n", "the answers")
    t.true(want["sqlite3VdbeExec"] > 5 and want["sqlite3BtreeInsert"] > 3000,
           "the script did its work")


main()
