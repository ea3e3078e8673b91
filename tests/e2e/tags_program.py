# SPDX-License-Identifier: GPL-2.0-or-later
"""tags_program: a program whose events follow from its arguments, built with triggers.

N rounds are N calls of branch and 2 N calls of leaf. The program also calls main and rounds. Its
arguments are steps, which run one after the other.
"""

from harness import BUILD, run

PROGRAM = r"""
#include <assay/tags.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) void leaf(void) { sum++; }
__attribute__((noinline)) void branch(void) { leaf(); leaf(); }
__attribute__((noinline)) void rounds(int n) { for (int i = 0; i < n; i++) branch(); }
__attribute__((noinline)) void waits(int ms) { usleep(ms * 1000); }
__attribute__((noinline)) void marks(int n) { for (int i = 0; i < n; i++) ASSAY_TAG("mark"); }

static __attribute__((no_instrument_function)) void *thread(void *n)
{
	rounds((int)(long)n);
	return NULL;
}

static __attribute__((no_instrument_function)) void threads(int n)
{
	pthread_t ids[64];

	for (int i = 0; i < n; i++)
		pthread_create(&ids[i], NULL, thread, (void *)(long)(i + 1));
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

/* Each line is a number of rounds; "ok" when they are done. */
static __attribute__((no_instrument_function)) void obey(void)
{
	char line[64];

	setvbuf(stdout, NULL, _IONBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		rounds((int)strtol(line, NULL, 10));
		puts("ok");
	}
}

static __attribute__((no_instrument_function)) void library(const char *path)
{
	void *l = dlopen(path, RTLD_NOW);
	void (*enter)(void) = l ? (void (*)(void))dlsym(l, "enter_library") : NULL;

	if (!enter)
		_exit(99);
	enter();
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *step = argv[i], *value = strchr(step, '=');
		int n = value ? (int)strtol(value + 1, NULL, 10) : 0;

		if (!strncmp(step, "rounds", 6))
			rounds(n);
		else if (!strncmp(step, "waits", 5))
			waits(n);
		else if (!strncmp(step, "marks", 5))
			marks(n);
		else if (!strncmp(step, "threads", 7))
			threads(n);
		else if (!strcmp(step, "start"))
			assay_tags_start();
		else if (!strcmp(step, "stop"))
			assay_tags_stop();
		else if (!strcmp(step, "say"))
			puts("said"), fflush(stdout);
		else if (!strcmp(step, "obey"))
			obey();
		else if (!strncmp(step, "library", 7))
			library(value + 1);
		else if (!strcmp(step, "kill"))
			kill(getpid(), SIGKILL);
		else if (!strcmp(step, "abort"))
			abort();
		else if (!strcmp(step, "forever"))
			for (;;)
				pause();
		else if (!strcmp(step, "fork")) {
			if (!fork())
				_exit((rounds(7), 0));
			wait(NULL);
		} else if (!strcmp(step, "split")) { /* both go on */
			if (fork())
				wait(NULL);
		} else if (!strcmp(step, "leave")) {
			int done[2]; /* closed when its rounds are */
			char end;

			if (pipe(done))
				abort();
			if (!fork()) {
				close(1); /* a reader waits for its end */
				close(2);
				close(done[0]);
				rounds(7);
				close(done[1]);
				sleep(60);
				_exit(0);
			}
			close(done[1]);
			if (read(done[0], &end, 1))
				abort();
		} else if (!strcmp(step, "exec"))
			execv(argv[0], argv + i);
		else if (!strncmp(step, "exit", 4))
			return n;
	}
	return 0;
}
"""


# Functions whose work is a few instructions: 160, 7 and 20 of 187 steps.
SHORT = r"""
#define BARE __attribute__((no_instrument_function, always_inline)) static inline
BARE unsigned long work(unsigned long x, int steps)
{
	for (int i = 0; i < steps; i++) {
		x = x * 6364136223846793005 + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}
__attribute__((noinline)) unsigned long leaf(unsigned long x) { return work(x, 40); }
__attribute__((noinline)) unsigned long middle(unsigned long x)
{
	x = work(x, 3);
	for (int i = 0; i < 4; i++)
		x = work(leaf(x), 1);
	return x;
}
__attribute__((noinline)) unsigned long other(unsigned long x) { return work(x, 20); }
__attribute__((no_instrument_function)) int main(void)
{
	unsigned long x = 1;

	for (int i = 0; i < 20000; i++)
		x = middle(other(x));
	return x == 3;
}
"""


def flags(t, names, *options):
    return t.assay("tags", "flags", "--names", names, *options).out.split()


def build(t, name="program", source=PROGRAM, names="p.names", extra=()):
    t.need("gcc")
    if not (BUILD / "plugin" / "gcc" / "assay_tags.so").exists():
        t.skip("the GCC plugin was not built")
    path = t.path(name)
    run("gcc", "-O1", "-g", "-o", path, t.write(name + ".c", source), "-pthread",
        *flags(t, t.path(names)), *extra)
    return path


def place(t):
    """An environment with its own directory for recordings of processes."""
    directory = t.path("recorded")
    directory.mkdir(mode=0o700, exist_ok=True)
    return {"ASSAY_TAGS_DIR": str(directory)}


def left_over(t):
    return sorted(str(path.relative_to(t.path("recorded")))
                  for path in t.path("recorded").rglob("*"))


def calls_of(report):
    """Calls by function; inline tags by their count."""
    counts = {}
    for function in report["functions"]:
        counts[function["function"]] = counts.get(function["function"], 0) + function["calls"]
    for tag in report.get("inline_tags", []):
        counts[tag["name"]] = counts.get(tag["name"], 0) + tag["count"]
    return {name: count for name, count in counts.items() if count and name != "(outside)"}


def of_rounds(*counts):
    """The calls of this number of rounds, each begun by a call of rounds()."""
    return {"rounds": len(counts), "branch": sum(counts), "leaf": 2 * sum(counts)}


def events_of(*counts):
    """The number of entries and exits."""
    return 2 * sum(of_rounds(*counts).values())
