# SPDX-License-Identifier: GPL-2.0-or-later
"""A program whose counted calls follow from its arguments, and `assay calls` with a directory of its
own for tables."""
from harness import BUILD, nested, run
from programs import Obeying

LIBRARY = BUILD / "runtime" / "libassay-calls.so"

# The arguments determine the counts: N branches with two leaves each; then the action of `end`.
PROGRAM = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); }
__attribute__((noinline)) void rounds(int n) { for (int i = 0; i < n; i++) branch(); }

/* Each line is a number of rounds; "ok" when they are done. */
__attribute__((noinline)) void obey(void)
{
	char line[64];
	size_t size = 0;

	/* Its call is counted when this is read. */
	if (write(1, "ready\n", 6) != 6)
		_exit(1);
	while (read(0, line + size, 1) == 1 && size < sizeof(line) - 2) {
		if (line[size++] != '\n')
			continue;
		line[size] = 0;
		size = 0;
		rounds(atoi(line));
		if (write(1, "ok\n", 3) != 3)
			_exit(1);
	}
}

__attribute__((no_instrument_function)) static void on_signal(int number)
{
	(void)number;
	_exit(7);
}

int main(int argc, char **argv)
{
	const char *end = argc > 2 ? argv[2] : "";

	if (!strcmp(end, "handle"))
		signal(SIGINT, on_signal);
	rounds(argc > 1 ? atoi(argv[1]) : 0);
	if (!strcmp(end, "obey")) {
		obey();
		return 0;
	}
	if (!strcmp(end, "forever") || !strcmp(end, "handle")) {
		if (write(1, "ready\n", 6) != 6)
			return 1;
		for (;;)
			pause();
	}
	if (!strcmp(end, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(end, "abort"))
		abort();
	return atoi(end);
}
"""


def build(t, name="program", source=PROGRAM, flags=("-finstrument-functions",)):
    t.need("gcc")
    run("gcc", "-O1", "-g", *flags, "-o", t.path(name), t.write(name + ".c", source))
    return t.path(name)


def place(t):
    """An environment with its own directory for tables."""
    directory = t.path("tables")
    directory.mkdir(mode=0o700, exist_ok=True)
    return {"ASSAY_CALLS_DIR": str(directory)}


def calls_of(process):
    """Calls by function, summed over all its paths."""
    counts = {}
    for path in process["paths"]:
        counts[path["path"][-1]] = counts.get(path["path"][-1], 0) + path["calls"]
    return {name: count for name, count in counts.items() if count}


def processes(t, file):
    return t.report(file)["processes"]


def count(t, program, *words, status=0, options=(), env=None):
    """Runs the program under assay calls; returns the contents of the file."""
    t.assay("calls", "-q", "-o", t.path("c.calls"), *options, "--", program, *words,
            status=status, env={**place(t), **(env or {})})
    return processes(t, t.path("c.calls"))


def leftovers(t):
    return sorted(str(path.relative_to(t.path("tables"))) for path in t.path("tables").rglob("*"))


class Counted(Obeying):
    """A program that counts its calls by itself."""

    def __init__(self, t, program, rounds, inside=()):
        super().__init__(t, *inside, program, rounds,
                         env={**place(t), "LD_PRELOAD": str(LIBRARY)})


def listed(t, *words, **options):
    found = t.json(t.assay("calls", "list", "--json", *words, env=place(t), **options).out)
    found.pop("assay")  # the version
    return found


def got(t, *words):
    return nested(t.json(t.assay("calls", "get", "--json", *words, env=place(t)).out))["processes"]


def refused(t, *words, status=1, **options):
    """The error message of a wrong command line."""
    result = t.assay("calls", *words, status=status, **{"env": place(t), **options})
    t.true(result.err.startswith("assay: "), f"not assay's own sentence: {result.err}")
    return result.err
