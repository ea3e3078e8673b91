/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/pager.h"

#include "base/memory/vec.h"
#include "base/memory/xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

typedef VEC(char *) pager_words;

static struct {
	pid_t pid;    /* 0: none */
	int terminal; /* the standard output before */
	struct sigaction interrupt, quit, pipe;
} pager;

/*
 * The text contains names that other users chose, and a pager can start a shell or write files. A
 * privileged pager of a user who came by sudo may do neither.
 */
static bool is_privileged(void)
{
	return getauxval(AT_SECURE) ||
	       (geteuid() == 0 &&
	        (getenv("SUDO_UID") || getenv("PKEXEC_UID") || getenv("DOAS_USER")));
}

static const char *chosen(void)
{
	const char *command = secure_getenv("ASSAY_PAGER");

	if (!command)
		command = secure_getenv("PAGER");
	return command ? command : "less";
}

static bool is_wanted(const char *command)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
	       command[strspn(command, " \t")] && strcmp(command, "cat") != 0;
}

/* The words of the command; a shell runs a command that is more than words. */
static void split(const char *command, pager_words *words)
{
	if (strpbrk(command, "|&;<>()$`\\\"'*?[]#~=%{}\n")) {
		vec_push(words, xstrdup("sh"));
		vec_push(words, xstrdup("-c"));
		vec_push(words, xstrdup(command));
	} else {
		char *copy = xstrdup(command), *rest = copy, *word;

		while ((word = strsep(&rest, " \t")))
			if (*word)
				vec_push(words, xstrdup(word));
		free(copy);
	}
	vec_push(words, NULL);
}

static bool is_variable(const char *entry, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(entry, name, length) && entry[length] == '=';
}

/* LESS and LV as git sets them; a privileged pager opens no files and starts no programs. */
static void environment(pager_words *entries)
{
	static const char *const preset[][2] = {{"LESS", "FRX"}, {"LV", "-c"}};
	bool privileged = is_privileged();

	for (size_t i = 0; i < sizeof(preset) / sizeof(*preset); i++)
		if (!getenv(preset[i][0]))
			vec_push(entries, xasprintf("%s=%s", preset[i][0], preset[i][1]));
	if (privileged)
		vec_push(entries, xstrdup("LESSSECURE=1"));
	for (char **entry = environ; *entry; entry++)
		if (!privileged ||
		    !(is_variable(*entry, "LESSSECURE") || is_variable(*entry, "LESSOPEN") ||
		      is_variable(*entry, "LESSCLOSE") || is_variable(*entry, "LESSKEY") ||
		      is_variable(*entry, "LESSKEYIN") || is_variable(*entry, "LESSEDIT")))
			vec_push(entries, xstrdup(*entry));
	vec_push(entries, NULL);
}

static void free_words(pager_words *words)
{
	vec_each (word, words)
		free(*word);
	vec_done(words);
}

/* Starts the pager with `input` as its standard input; 0, or an errno. */
static int start(const char *command, int input)
{
	pager_words words = {0}, entries = {0};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	sigset_t standard;
	int error;

	split(command, &words);
	environment(&entries);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
	posix_spawnattr_init(&attributes);
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE);
	sigaddset(&standard, SIGXFSZ);
	posix_spawnattr_setsigdefault(&attributes, &standard);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
	error = posix_spawnp(&pager.pid, words.items[0], &files, &attributes, words.items,
	                     entries.items);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	free_words(&words);
	free_words(&entries);
	if (error)
		pager.pid = 0;
	return error;
}

/* Ctrl-C is the pager's, and a reader who leaves early is no error. */
static void ignore_signals(void)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};

	sigaction(SIGINT, &ignore, &pager.interrupt);
	sigaction(SIGQUIT, &ignore, &pager.quit);
	sigaction(SIGPIPE, &ignore, &pager.pipe);
}

void pager_begin(void)
{
	const char *command = chosen();
	int ends[2];

	if (pager.pid || !is_wanted(command))
		return;
	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC))
		return;
	pager.terminal = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (pager.terminal >= 0 && !start(command, ends[0])) {
		ignore_signals();
		dup2(ends[1], STDOUT_FILENO);
	} else if (pager.terminal >= 0) {
		close(pager.terminal);
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_end(void)
{
	int status;

	if (!pager.pid)
		return;
	if (fflush(stdout))
		__fpurge(stdout);
	clearerr(stdout);
	dup2(pager.terminal, STDOUT_FILENO);
	close(pager.terminal);
	while (waitpid(pager.pid, &status, 0) < 0 && errno == EINTR)
		;
	sigaction(SIGINT, &pager.interrupt, NULL);
	sigaction(SIGQUIT, &pager.quit, NULL);
	sigaction(SIGPIPE, &pager.pipe, NULL);
	pager.pid = 0;
}
