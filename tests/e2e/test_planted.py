# SPDX-License-Identifier: GPL-2.0-or-later
"""What an unprivileged user plants for root's assay: journals beside stores, links, and directories
that are renamed. Root's commands leave other files alone, and say what they refuse."""

import os
import struct

from harness import ASSAY, main, run, test

NOBODY = 65534


def need_root(t):
    if os.getuid():
        t.skip("only root has a neighbour to act as")
    t.directory.chmod(0o755)


def directory_of_user(t, name):
    path = t.path(name)
    path.mkdir()
    os.chown(path, NOBODY, NOBODY)
    return path


def journal(store, victim):
    """A hot journal without a page, which names a super-journal: its next reader deletes that."""
    magic = bytes.fromhex("d9d505f920a163d7")
    name = str(victim).encode()
    head = magic + struct.pack(">5I", 0, 4711, store.stat().st_size // 4096, 512, 4096)
    return (head.ljust(512, b"\0") + struct.pack(">I", 0x40000000 // 4096 + 1) + name +
            struct.pack(">2I", len(name), sum(name)) + magic)


def write_as_user(path, bytes):
    path.write_bytes(bytes)
    os.chown(path, NOBODY, NOBODY)


@test
def root_deletes_no_file_by_a_planted_journal(t):
    need_root(t)
    env = t.runtime()
    victim = t.write("victim", "of root")
    store = directory_of_user(t, "home") / "day.db"
    own = t.path("day.db")
    run(ASSAY, "start", "--store", own, env=env)
    run(ASSAY, "stop", env=env)
    write_as_user(store, own.read_bytes())
    write_as_user(store.with_name("day.db-journal"), journal(store, victim))
    refused = run(ASSAY, "start", "--store", store, env=env, status=1)
    t.true(victim.exists(), "the file that the journal names is there")
    t.has(refused.err, f"{store} is not written as a store: the directory {store.parent} belongs to "
                       f"another user (uid {NOBODY})")
    t.has(refused.err, "root's stores are in /var/lib/assay: --store day.db")
    # A -wal beside a store of root is not read.
    write_as_user(t.path("day.db-wal"), b"x" * 5000)
    refused = run(ASSAY, "report", "--store", own, env=env, status=1)
    t.has(refused.err, f"{own}-wal belongs to another user (uid {NOBODY})")


@test
def a_bare_name_is_a_store_of_roots_directory(t):
    need_root(t)
    t.need("unshare", "mount")
    if run("unshare", "-m", "mount", "-t", "tmpfs", "none", "/var/lib", status=None).status:
        t.skip("no file system may be mounted here")
    script = t.write("bare.sh", """
        mount -t tmpfs none /var/lib && chmod 755 /var/lib && cd "$1" || exit 9
        $ASSAY start --store day.db || exit 8
        $ASSAY stop >&2 || exit 7
        $ASSAY report day.db >/dev/null || exit 6
        $ASSAY report --store day.db >/dev/null || exit 5
        $ASSAY sql day.db "select count(*) from sessions" --format csv || exit 4
        stat -c %a /var/lib/assay; ls /var/lib/assay/*.db
        """)
    where = t.path("where")
    where.mkdir()
    where.chmod(0o1777)
    done = run("unshare", "-m", "sh", script, where, env={**t.runtime(), "ASSAY": ASSAY})
    t.has(done.err, "into the store /var/lib/assay/day.db")
    t.equal(done.out.split(), ["count(*)", "1", "700", "/var/lib/assay/day.db"], "what is there")
    t.equal(list(where.iterdir()), [], "files in the working directory")


main()
