# SPDX-License-Identifier: GPL-2.0-or-later
"""The installed files work from their directory, without the sources and the build."""
import os
import pathlib

from harness import BUILD, ROOT, main, run, test

PROGRAM = """
__attribute__((noinline)) int leaf(int a) { __asm__ volatile(""); return a + 1; }
int main(void) { int s = 0; for (int i = 0; i < 10; i++) s = leaf(s); return s != 10; }
"""


def options(t):
    return {option["name"]: option["value"] for option in
            t.json(run("meson", "introspect", "--buildoptions", BUILD).out)}


def install(t):
    """Installs below the test's directory; returns the prefix there."""
    t.need("meson")
    run("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", t.path("root"))
    return t.path("root") / options(t)["prefix"].lstrip("/")


@test
def every_command_has_its_page_and_every_shell_its_completions(t):
    prefix = install(t)
    overview = run(prefix / "bin" / "assay", "--help").out.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in overview.splitlines() if line[2:3].isalpha()]
    pages = {page.name for page in prefix.glob("share/man/man1/*")}
    t.equal(pages, {"assay.1", *(f"assay-{name}.1" for name in names)}, "man pages")
    for shell in ("bash-completion/completions/assay.bash", "zsh/site-functions/_assay",
                  "fish/vendor_completions.d/assay.fish"):
        t.has((prefix / "share" / shell).read_text(), "snapshot", shell)


@test
def programs_are_counted_and_tagged_with_what_is_installed(t):
    """Installed in the prefix that it was built for, where pkg-config and assay look by default."""
    t.need("unshare", "mount", "gcc", "pkg-config")
    if os.geteuid() != 0 or run("unshare", "-m", "true", status=None).status:
        t.skip("mount namespaces are not allowed")
    prefix, chosen = install(t), options(t)
    here, lib = chosen["prefix"], f'{chosen["prefix"]}/{chosen["libdir"]}'
    t.write("p.c", PROGRAM)
    # The build directory is not visible either.
    script = """
        set -e
        mount --bind "$1" "$2" && mount -t tmpfs none "$3" && cd "$0"
        gcc -O2 p.c -o counted $(pkg-config --cflags --libs assay-calls)
        "$2/bin/assay" calls -o c.calls -- ./counted >calls.text
        gcc -O2 $("$2/bin/assay" tags flags --names "$0/names") p.c -o tagged
        "$2/bin/assay" tags -o t.tags -- ./tagged >tags.text
    """
    run("unshare", "-m", "sh", "-c", script, t.directory, prefix, here, BUILD, cwd="/",
        env={"LD_LIBRARY_PATH": lib, "XDG_RUNTIME_DIR": str(t.directory)})
    t.has(t.path("calls.text").read_text(), "main > leaf")
    t.has(t.path("tags.text").read_text(), "leaf")


@test
def the_scripts_install_where_debian_looks(t):
    """With or without dpkg-architecture, from which meson takes the directory of libraries."""
    t.need("gcc")
    if not pathlib.Path("/etc/debian_version").exists():
        t.skip("this is not Debian")
    script = """
        . "$0/script/lib.sh"
        meson() { echo "meson: $*"; }
        ninja() { :; }
        build made -Dwerror=true
    """
    run("bash", "-c", script, ROOT, cwd=t.directory)
    machine = run("gcc", "-print-multiarch").out.strip()
    t.equal((t.directory / "build-logs" / "made.log").read_text(),
            f"meson: setup made -Dlibdir=lib/{machine} -Dwerror=true\n")


main()
