# SPDX-License-Identifier: GPL-2.0-or-later
"""source_package: downloads and unpacks a Debian source package, for recordings of its build.

apt gets its own configuration, lists and caches in the cache directory. The system's sources and
keys are copied there, with deb changed to deb-src. The system's files are not changed, and apt
checks the signatures.
"""

import fcntl
import glob
import os
import re
import shutil
import subprocess

from time_limit import limit

APT = "/etc/apt"


class SourceError(Exception):
    """The source cannot be downloaded; the text is the reason."""


def deb822_sources():
    """Stanzas of *.sources as deb-src, only those of Debian's archive (they have main)."""
    for path in sorted(glob.glob(f"{APT}/sources.list.d/*.sources")):
        with open(path, encoding="utf-8") as f:
            for stanza in re.split(r"\n\s*\n", f.read()):
                text = "\n".join(line for line in stanza.splitlines() if not line.startswith("#"))
                if (re.search(r"(?m)^Types:.*\bdeb\b", text)
                        and re.search(r"(?m)^Components:.*\bmain\b", text)):
                    yield re.sub(r"(?m)^Types:.*$", "Types: deb-src", text)


def one_line_sources():
    """Lines of *.list, as deb-src."""
    for path in [f"{APT}/sources.list"] + sorted(glob.glob(f"{APT}/sources.list.d/*.list")):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                for line in f:
                    if re.match(r"deb\s.*\smain\b", line) and "debian" in line:
                        yield "deb-src" + line[3:]


def configure(root):
    """A private apt root; returns the path of its apt.conf."""
    for name in ("sources.list.d", "lists/partial", "cache/archives/partial", "empty"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
    with open(f"{root}/sources.list", "w", encoding="utf-8") as f:
        f.writelines(one_line_sources())
    with open(f"{root}/sources.list.d/source.sources", "w", encoding="utf-8") as f:
        f.write("\n\n".join(deb822_sources()) + "\n")
    with open(f"{root}/apt.conf", "w", encoding="utf-8") as f:
        f.write(f'Dir::Etc::sourcelist "{root}/sources.list";\n'
                f'Dir::Etc::sourceparts "{root}/sources.list.d";\n'
                f'Dir::State::lists "{root}/lists";\n'
                f'Dir::Cache "{root}/cache";\n'
                'APT::Sandbox::User "root";\n'
                '#clear APT::Update::Post-Invoke-Success;\n#clear APT::Update::Post-Invoke;\n')
    return f"{root}/apt.conf"


def source_package(name, cache):
    """Path of the unpacked source; it is fetched once and kept in the cache."""
    target = os.path.join(os.path.abspath(cache), f"source-{name}")
    if os.path.isdir(target):
        return target
    for tool in ("apt-get", "dpkg-source"):
        if not shutil.which(tool):
            raise SourceError(f"{tool} is not installed")
    os.makedirs(cache, exist_ok=True)
    # A lock: tests that run at the same time may need the same source.
    with open(os.path.join(cache, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(target):
            fetch(name, os.path.join(os.path.abspath(cache), "apt"), target)
    return target


def fetch(name, root, target):
    """By apt with its current lists; if that fails, the lists are updated first."""
    work = target + ".new"
    environment = dict(os.environ, APT_CONFIG=configure(root))
    lists = f"{root}/updated"
    for update in (False, True) if os.path.exists(lists) else (True,):
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        try:
            if update:
                apt(["update"], work, environment)
                with open(lists, "w", encoding="ascii"):
                    pass
            apt_source(name, work, environment)
            break
        except SourceError:
            if update:
                raise
    directories = [d for d in glob.glob(f"{work}/*") if os.path.isdir(d)]
    if len(directories) != 1:
        raise SourceError(f"apt-get source {name}: no single directory in {work}")
    os.rename(directories[0], target)
    shutil.rmtree(work, ignore_errors=True)


def apt_source(name, work, environment):
    """The newest version that the mirror has: its index may list one before the files are there."""
    shown = subprocess.run(["apt-cache", "showsrc", name], env=environment, capture_output=True, text=True,
                           timeout=limit(60), check=False).stdout
    versions = dict.fromkeys(re.findall(r"(?m)^Version: (\S+)$", shown))
    reason = SourceError(f"apt-cache showsrc {name}: no version")
    for version in versions:
        try:
            return apt(["source", f"{name}={version}"], work, environment)
        except SourceError as error:
            reason = error
    raise reason


def apt(words, directory, environment):
    command = ["apt-get", "-q", *words]
    done = subprocess.run(command, cwd=directory, env=environment, timeout=limit(300),
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        text = done.stdout.decode(errors="replace").strip()
        raise SourceError(f"{' '.join(command)} failed: {text[-300:]}")
