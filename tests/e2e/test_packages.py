# SPDX-License-Identifier: GPL-2.0-or-later
"""The systemd units, and (long form) the Debian packages: files, dependencies, lintian, and the program
from the package."""
import os
import re

from harness import ASSAY, ROOT, long_test, main, run, test

PROGRAM = ["usr/bin/assay", "usr/include/assay/tags.h", "usr/include/assay/tags_wire.h",
           "usr/include/assay/wire.h", "usr/lib/systemd/system/assay-agent.service",
           "usr/lib/systemd/system/assay-push.service",
           "usr/lib/systemd/system/assay.service", "usr/share/bash-completion/completions/assay.bash",
           "usr/share/doc/assay/changelog.gz", "usr/share/doc/assay/copyright",
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
            t.equal(re.search(rf"^{key}=(.*)$", text, re.M)[1], "CAP_PERFMON CAP_SYS_PTRACE", key)


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
    t.has(depends, "libcapstone4")  # no tool finds it in the program
    t.has(t.run("dpkg-deb", "-f", package, "Recommends").out, "libcurl4")
    t.run("dpkg-deb", "-x", package, t.path("root"))
    program = t.path("root") / "usr/bin/assay"
    t.equal(t.run(program, "--version").out, t.assay("--version").out, "version")
    t.run("sh", "-c", f"dpkg-deb -I {package} md5sums | (cd {t.path('root')} && md5sum -c --quiet)")


@long_test
def packages_have_no_errors_for_lintian(t):
    t.need("lintian")
    run(ROOT / "script/package", t.path("deb"), timeout=1200)
    out = t.run("lintian", "--fail-on", "error", "--allow-root", *t.path("deb").glob("*.deb")).out
    t.lacks(out, "E: ")


main()
