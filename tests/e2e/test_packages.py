# SPDX-License-Identifier: GPL-2.0-or-later
"""The systemd units, and (long form) the Debian packages: files, dependencies, lintian, and the program
from the package."""
import os
import pathlib
import re
import shutil

from harness import ASSAY, ROOT, long_test, main, run, test

PROGRAM = ["usr/bin/assay", "usr/include/assay/tags.h", "usr/include/assay/tags_wire.h",
           "usr/include/assay/wire.h", "usr/lib/systemd/system/assay-agent.service",
           "usr/lib/systemd/system/assay-push.service", "usr/lib/systemd/system/assay-keep.service",
           "usr/lib/systemd/system/assay-keep.timer",
           "usr/lib/systemd/system/assay.service", "usr/share/bash-completion/completions/assay.bash",
           "usr/share/doc/assay/changelog.gz", "usr/share/doc/assay/copyright",
           "usr/share/doc/assay/examples/clickhouse/config.d/assay.xml",
           "usr/share/doc/assay/examples/clickhouse/users.d/assay.xml",
           "usr/share/fish/vendor_completions.d/assay.fish", "usr/share/man/man1/assay.1.gz",
           "usr/share/man/man1/assay-start.1.gz", "usr/share/zsh/site-functions/_assay"]
LIBRARIES = ["libassay-calls.so", "libassay-tags.so", "libassay-tags.a", "libassay-tags-image.a",
             "pkgconfig/assay-calls.pc", "pkgconfig/assay-tags.pc"]


@test
def units_are_valid_and_have_few_rights(t):
    t.need("systemd-analyze")
    for unit in sorted((ROOT / "deploy").glob("*.service")):
        text = unit.read_text(encoding="ascii")
        # The program is installed elsewhere here.
        copy = t.write(unit.name, text.replace("/usr/bin/assay", str(os.path.realpath(ASSAY))))
        out = t.run("systemd-analyze", "verify", "--man=no", copy)
        t.lacks(out.err, unit.name, "complaints")
        out = t.run("systemd-analyze", "security", "--offline=yes", copy).out
        level = float(re.search(r"exposure level for \S+: ([\d.]+)", out)[1])
        t.true(level < 3.0, f"exposure of {unit.name}: {level}")
        for key in ("CapabilityBoundingSet", "AmbientCapabilities"):
            t.equal(re.search(rf"^{key}=(.*)$", text, re.M)[1],
                    "" if unit.name == "assay-keep.service" else "CAP_PERFMON CAP_SYS_PTRACE", key)


@test
def the_timer_starts_a_unit_that_is_there(t):
    t.need("systemd-analyze")
    for name in ("assay-keep.timer", "assay-keep.service"):
        text = (ROOT / "deploy" / name).read_text(encoding="ascii")
        t.write(name, text.replace("/usr/bin/assay", str(os.path.realpath(ASSAY))))
    out = t.run("systemd-analyze", "verify", "--man=no", t.path("assay-keep.timer"))
    t.lacks(out.err, "assay-keep", "complaints")
    # The command of the unit, as systemd expands it.
    command = re.search(r"^ExecStart=/usr/bin/assay (.*)$", (ROOT / "deploy/assay-keep.service").read_text(), re.M)[1]
    words = command.replace("$ASSAY_OPTIONS", "--keep 90d").replace("${ASSAY_STORE}", "clickhouse://127.0.0.1:1/x")
    t.has(t.assay(*words.split(), status=1).err, "127.0.0.1:1")


def files_of(t, package):
    listed = t.run("dpkg-deb", "-c", package).out.splitlines()
    for line in listed:
        t.equal(line.split()[1], "root/root", "owner")
    return {line.split()[5][2:] for line in listed if not line.startswith("d")}


@long_test
def packages_are_complete(t):
    t.need("dpkg-deb", "dpkg-shlibdeps")
    run(ROOT / "script/package", t.path("deb"), timeout=1200)
    package, = t.path("deb").glob("assay_*.deb")
    plugin, = t.path("deb").glob("assay-gcc-plugin_*.deb")
    multiarch = t.run("gcc", "-print-multiarch").out.strip()
    files = files_of(t, package)
    for name in PROGRAM + [f"usr/lib/{multiarch}/{name}" for name in LIBRARIES]:
        t.true(name in files, f"{name} is in the package")
    t.equal({f for f in files if not f.startswith("usr/")}, set(), "files outside of /usr")
    t.true(f"usr/lib/{multiarch}/assay/assay_tags.so" in files_of(t, plugin), "the plugin")
    depends = t.run("dpkg-deb", "-f", package, "Depends").out
    for name in ("libc6", "libdw1", "libsqlite3-0"):
        t.has(depends, f"{name} (")
    # Debian 12 and 13 have different versions of it, and the program loads either.
    t.lacks(depends, "libcapstone")
    recommends = t.run("dpkg-deb", "-f", package, "Recommends").out
    for name in ("libcurl4", "libcapstone4 | libcapstone5"):
        t.has(recommends, name)
    # An upgrade of one package keeps the other, while they agree on the layout of tags.
    tags = t.run("dpkg-deb", "-f", package, "Provides").out.strip()
    t.has(t.run("dpkg-deb", "-f", plugin, "Depends").out, tags)
    t.lacks(t.run("dpkg-deb", "-f", plugin, "Depends").out, "assay (")
    t.run("dpkg-deb", "-x", package, t.path("root"))
    program = t.path("root") / "usr/bin/assay"
    t.equal(t.run(program, "--version").out, t.assay("--version").out, "version")
    t.run("sh", "-c", f"dpkg-deb -I {package} md5sums | (cd {t.path('root')} && md5sum -c --quiet)")


@test
def scripts_of_the_package_restart_and_purge(t):
    """The scripts with programs in the place of systemd's, and directories in the place of /."""
    log = t.write("log", "")
    for name in ("systemctl", "deb-systemd-invoke"):
        t.write(name, f'#!/bin/sh\necho "{name} $*" >>{log}\n').chmod(0o755)
    root = t.path("root")
    env = {"PATH": f"{t.directory}:{os.environ['PATH']}"}

    def script(name, *words):
        log.write_text("")
        text = (ROOT / "deploy/debian" / f"assay.{name}").read_text(encoding="ascii")
        for directory in ("/run/systemd", "/var/lib", "/etc/systemd"):
            text = text.replace(directory, f"{root}{directory}")
        run("sh", t.write(f"{name}.sh", text), *words, env=env)
        return log.read_text()

    keep = "assay-keep"  # its timer starts it
    units = [path.stem for path in (ROOT / "deploy").glob("*.service") if path.stem != keep]
    (root / "run/systemd/system").mkdir(parents=True)
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    timers = root / "etc/systemd/system/timers.target.wants"
    timers.mkdir()
    (timers / f"{keep}.timer").symlink_to("/absent")
    for unit in units:
        (wants / f"{unit}.service").symlink_to("/absent")
        (root / "var/lib/private" / unit).mkdir(parents=True)
        (root / "var/lib" / unit).symlink_to(f"private/{unit}")
    t.lacks(script("postinst", "configure", ""), "restart", "the first installation")
    upgraded = script("postinst", "configure", "0.0.9")
    for unit in units:
        t.has(upgraded, f"deb-systemd-invoke try-restart {unit}.service", "an upgrade")
    t.has(upgraded, f"deb-systemd-invoke try-restart {keep}.timer", "an upgrade")
    t.equal(script("prerm", "upgrade", "0.2.0"), "", "before an upgrade")
    removed = script("prerm", "remove")
    for unit in units:
        t.has(removed, f"{unit}.service")
    t.has(removed, f"{keep}.timer")
    t.has(script("postrm", "remove"), "daemon-reload")
    t.equal([*wants.iterdir(), *timers.iterdir()], [], "links of enabled units")
    t.equal(len(list((root / "var/lib/private").iterdir())), len(units), "data after a removal")
    script("postrm", "purge")
    t.equal([path.name for path in (root / "var/lib").rglob("*")], ["private"], "data after a purge")


def root_of(t, suite):
    """A root of Debian: ASSAY_ROOTS/SUITE, or one that debootstrap makes."""
    kept = os.environ.get("ASSAY_ROOTS")
    root = pathlib.Path(kept) / suite if kept else t.path(suite)
    if not (root / "bin/sh").exists():
        t.need("debootstrap")
        run("debootstrap", "--variant=minbase", "--include=ca-certificates", suite, root, timeout=1200)
    return root


@long_test
def packages_are_installed_upgraded_and_purged(t):
    """In Debian 12 and 13. Nothing but the packages of the release is in the roots."""
    t.need("dpkg-deb", "chroot")
    if os.getuid():
        t.skip("needs root")
    run(ROOT / "script/package", t.path("deb"), timeout=1200)
    release = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.M)[1]
    for suite in ("bookworm", "trixie"):
        root = root_of(t, suite)
        debs = root / "debs"
        shutil.rmtree(debs, ignore_errors=True)
        shutil.copytree(t.path("deb"), debs)
        program, = debs.glob("assay_*.deb")
        plugin, = debs.glob("assay-gcc-plugin_*.deb")
        later = debs / "later.deb"
        run("dpkg-deb", "-R", program, t.path(f"later-{suite}"))
        control = t.path(f"later-{suite}") / "DEBIAN/control"
        control.write_text(re.sub(r"^Version: (.*)$", r"Version: \1+later", control.read_text(), flags=re.M))
        run("dpkg-deb", "--root-owner-group", "--build", t.path(f"later-{suite}"), later)

        def inside(*words, status=0):
            return run("chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", *words, status=status, timeout=600)

        def installs(file, status=0):
            return inside("apt-get", "install", "-y", "--no-install-recommends", f"/debs/{file.name}", status=status)

        def state(package):
            return inside("dpkg-query", "-W", "-f", "${db:Status-Abbrev}", package, status=None).out.strip()

        inside("apt-get", "update")
        installs(program)
        t.has(inside("assay", "--version").out, "assay ")
        inside("assay", "doctor", status=None)
        # The plugin is for the GCC of the release in which it was built.
        refused = installs(plugin, status=0 if suite == release else 100)
        if suite != release:
            t.has(refused.out + refused.err, "gcc-")
        before = state("assay-gcc-plugin")
        installs(later)
        t.has(inside("dpkg-query", "-W", "-f", "${Version}", "assay").out, "+later", suite)
        t.equal(state("assay-gcc-plugin"), before, f"{suite}: the plugin after an upgrade of the program alone")
        for name in ("assay", "private/assay-agent"):
            (root / "var/lib" / name).mkdir(parents=True, exist_ok=True)
        inside("apt-get", "remove", "-y", "assay")
        t.true((root / "var/lib/assay").exists(), "data after a removal")
        t.true(not (root / "usr/bin/assay").exists(), "the program after a removal")
        inside("apt-get", "purge", "-y", "assay", "assay-gcc-plugin")
        t.equal([str(path) for path in (root / "var/lib").rglob("assay*") if "dpkg" not in str(path)
                 and "apt" not in str(path)], [], f"{suite}: data after a purge")
        t.equal([str(path) for path in root.glob("usr/**/assay*")], [], f"{suite}: files after a purge")


@long_test
def packages_have_no_errors_for_lintian(t):
    t.need("lintian")
    run(ROOT / "script/package", t.path("deb"), timeout=1200)
    out = t.run("lintian", "--fail-on", "error", "--allow-root", *t.path("deb").glob("*.deb")).out
    t.lacks(out, "E: ")
    t.lacks(out, "W: ")


main()
