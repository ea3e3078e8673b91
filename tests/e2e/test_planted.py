# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that an unprivileged user prepares for root's assay: journals beside stores, links, and
directories that are renamed. Root's commands leave other files unchanged, and report what they
refuse."""

import os

import stores
from attacks import STRANGER, directory_of_user, journal, need_root, write_as_user
from harness import ASSAY, main, run, test


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
    write_as_user(store.with_name("day.db-journal"), journal(store.stat().st_size, victim))
    refused = run(ASSAY, "start", "--store", store, env=env, status=1)
    t.true(victim.exists(), "the file that the journal names is there")
    t.has(refused.err, f"{store} is not written as a store: the directory {store.parent} belongs to "
                       f"another user (uid {STRANGER})")
    t.has(refused.err, "root's stores are in /var/lib/assay: --store day.db")
    # A -wal beside a store of root is not read.
    write_as_user(t.path("day.db-wal"), b"x" * 5000)
    refused = run(ASSAY, "report", "--store", own, env=env, status=1)
    t.has(refused.err, f"{own}-wal belongs to another user (uid {STRANGER})")


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


@test
def root_records_over_no_link_of_another_user(t):
    need_root(t)
    env = {**t.runtime(), "SUDO_UID": ""}
    target = t.path("target")
    target.mkdir()
    home = directory_of_user(t, "home")
    (home / "out").symlink_to(target)
    os.lchown(home / "out", STRANGER, STRANGER)
    words = (f"the symbolic link {home}/out belongs to another user (uid {STRANGER}), and is not "
             "followed")
    for command in (("record", "-o"), ("start", "-o"), ("start", "--ring", "-o"), ("calls", "-o")):
        program = () if command[0] == "start" else ("--", "true")
        refused = run(ASSAY, *command, home / "out" / "a", *program, env=env, status=1)
        t.has(refused.err, words, " ".join(command))
    t.equal(os.listdir(target), [], "files behind the link")
    # A user may record as root into the user's own home directory, and through the user's own
    # links.
    run(ASSAY, "record", "-q", "-o", home / "perf.data", "--", "true", env=env)
    run(ASSAY, "record", "-q", "-o", home / "out" / "a", "--", "true",
        env={**env, "SUDO_UID": str(STRANGER)})
    t.equal(os.listdir(target), ["a"], "files behind the link of the user who ran sudo")


@test
def a_renamed_directory_leads_a_session_nowhere_else(t):
    need_root(t)
    env = t.runtime()
    target = t.path("target")
    target.mkdir()
    (target / "flight.data").write_text("of root")
    out = directory_of_user(t, "home") / "out"
    for words in (("--ring",), ()):
        out.mkdir()
        os.chown(out, STRANGER, STRANGER)
        run(ASSAY, "start", *words, "-o", out / "flight.data", env=env)
        moved = out.with_name("moved" + "".join(words))
        out.rename(moved)
        out.symlink_to(target)
        os.lchown(out, STRANGER, STRANGER)
        refused = run(ASSAY, "snapshot", env=env, status=1)
        t.has(refused.err, f"the symbolic link {out} belongs to another user", "snapshot")
        ended = run(ASSAY, "stop", env=env, status=1)
        t.has(ended.err, "was moved, deleted or replaced while", "stop")
        if words:
            t.has(ended.err, f"the records in memory were written to {moved}/flight.data", "stop of a ring")
        t.true(t.report(moved / "flight.data")["samples"] >= 0, "the recording is whole")
        t.equal([p.name for p in target.iterdir()], ["flight.data"], "files behind the link")
        t.equal((target / "flight.data").read_text(), "of root", "the file behind the link")
        out.unlink()


@test
def root_exports_a_database_into_the_directory_of_a_user(t):
    need_root(t)
    home = directory_of_user(t, "home")
    data = t.path("perf.data")
    t.assay("record", "-q", "-o", data, "--", "true")
    before = set(os.listdir("/var/tmp"))
    t.assay("export", "--to", "sqlite", "-o", home / "a.db", data)
    with stores.reading(home / "a.db") as db:
        t.equal(stores.number(db, "PRAGMA integrity_check"), "ok", "the database")
    t.equal(os.listdir(home), ["a.db"], "files in the directory")
    left = [name for name in set(os.listdir("/var/tmp")) - before if name.startswith("assay-")]
    t.equal(left, [], "what is left in /var/tmp")


@test
def a_kept_program_is_not_replaced_by_one_that_claims_its_build_id(t):
    need_root(t)
    t.need("gcc")
    env = {"XDG_CACHE_HOME": str(t.path("cache"))}

    def record_deleted(program, function, owner):
        t.write("spin.c", f"void __attribute__((noinline)) {function}(void)"
                          "{ for (volatile long i = 0; i < 500000000; i++); }"
                          f"int main(void) {{ {function}(); }}")
        t.run("gcc", "-O1", "-Wl,--build-id=0x" + "ab" * 20, "-o", program, t.path("spin.c"))
        os.chown(program, owner, owner)
        t.assay("record", "-q", "-o", t.path("data"), "--", "sh", "-c",
                f"{program} & pid=$!; sleep 0.8; rm {program}; wait $pid", env=env)
        return [f["function"] for f in t.report(t.path("data"), env=env)["functions"]]

    t.true("planted" in record_deleted(directory_of_user(t, "home") / "spin", "planted", STRANGER),
           "the copy of another user's program is used for it")
    functions = record_deleted(t.path("spin"), "real", 0)
    t.true("real" in functions and "planted" not in functions, f"functions of root's: {functions}")


main()
