# SPDX-License-Identifier: GPL-2.0-or-later
"""package_programs: the sources of lua and of sqlite3's shell from Debian, for tests that build
them."""

import glob
import os
import shutil
import subprocess

from harness import BUILD, Failure, Skip
from source_package import SourceError, source_package
from time_limit import limit

CACHE = os.environ.get("ASSAY_CACHE", os.path.join(BUILD, "cache"))
JOBS = len(os.sched_getaffinity(0))
SQLITE3_FLAGS = ["-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_THREADSAFE=0"]
LUA_FLAGS = ["-DLUA_USE_POSIX", "-DLUA_COMPAT_5_3"]


def source(name):
    try:
        return source_package(name, CACHE)
    except SourceError as error:
        raise Skip(f"no source of {name}: {error}") from None


def run_all(t, commands, cwd=None):
    """Runs commands, several at a time; the first that fails ends the test."""
    waiting, running = list(commands), []
    while waiting or running:
        while waiting and len(running) < JOBS:
            running.append(t.start(*waiting.pop(), cwd=cwd, stderr=subprocess.PIPE))
        done = running.pop(0)
        error = done.communicate(timeout=limit(400))[1].decode(errors="replace")
        if done.returncode:
            raise Failure(f"{' '.join(map(str, done.args))}: {error[-2000:]}")


def compile_all(t, directory, files, command):
    """Compiles files in `directory`; the objects are written there."""
    run_all(t, [[*command, "-c", path, "-o", os.path.basename(path)[:-2] + ".o"]
                for path in files], cwd=directory)


def link(t, directory, program, command, *libraries):
    objects = sorted(os.path.basename(path) for path in glob.glob(f"{directory}/*.o"))
    t.run(*command, *objects, "-o", program, *libraries, cwd=directory)
    return os.path.join(directory, program)


def lua_files(directory):
    """Files of the interpreter. A header is written to `directory`, a directory for -I."""
    src = source("lua5.4") + "/src"
    # Debian's own header, which the package's build creates.
    with open(f"{directory}/lua5.4-deb-multiarch.h", "w", encoding="ascii") as f:
        f.write('#define DEB_HOST_MULTIARCH "none"\n')
    return [path for path in sorted(glob.glob(f"{src}/*.c")) if not path.endswith("/luac.c")]


def sqlite3_files(t, tree):
    """Files of the shell, made in `tree`, a new directory for -I."""
    shutil.copytree(source("sqlite3"), tree, symlinks=True)
    t.run("./configure", "--disable-tcl", "--disable-readline", cwd=tree, timeout=120)
    t.run("make", "sqlite3.c", "shell.c", cwd=tree, timeout=120)
    return [f"{tree}/sqlite3.c", f"{tree}/shell.c"]
