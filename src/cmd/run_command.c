/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/run_command.h"
#include "cmd/cli/print.h"

#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "source/runtime/runtime_files.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <fcntl.h>

int run_memory(const char *command, const char *text, char memory[RUN_MEMORY_MAX])
{
	size_t digits = strspn(text, "0123456789");
	bool good = digits && digits <= 12 && strspn(text, "0") != digits;

	if (good && text[digits])
		good = strchr("kKmMgG", text[digits]) && !text[digits + 1];
	if (!good)
		return command_fail(2,
		                    "%s: --memory needs MB (such as 64), or bytes with k, M or G, "
		                    "not '%s'",
		                    command, text);
	snprintf(memory, RUN_MEMORY_MAX, "%.*s%c", (int)digits, text,
	         text[digits] ? text[digits] : 'M');
	return 0;
}

int run_exit_status(int status, int signal)
{
	if (status < 0) {
		print_message("the command did not exit after a signal, and continues");
		return 128 + signal;
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int run_cannot(const struct command *command, const char *name, const struct error *err)
{
	bool ours = command_find_sub(command, name) != NULL;
	char *hint = ours ? xasprintf("; if 'assay %s %s' was meant, its options come after it",
	                              command->name, name)
	                  : xstrdup("");

	command_fail(1, "%s: %s%s", command->name, err->text, hint);
	free(hint);
	return err->code == ENOENT ? 127 : 126;
}

void run_end_unread(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	signal(SIGPIPE, SIG_DFL);
	if (ferror(stdout) && poll(&out, 1, 0) == 1 && out.revents & POLLERR)
		raise(SIGPIPE);
}

static struct runtime_file *file_at(void *files, size_t index, size_t size)
{
	return (struct runtime_file *)((char *)files + index * size);
}

int run_choose(const char *command, const char *none, int argc, char **argv, void *files,
               size_t *count, size_t size)
{
	bool *wanted = xcalloc(*count + 1, sizeof(*wanted));
	size_t kept = 0;
	int status = 0;

	for (size_t f = 0; f < *count && !argc; f++)
		wanted[f] = true;
	for (int i = 0; i < argc && !status; i++) {
		char *end;
		long pid = strtol(argv[i], &end, 10);
		bool found = false;

		if (*end || end == argv[i] || pid <= 0 || pid > INT32_MAX) {
			status = command_fail(2, "%s: '%s' is not a process id", command, argv[i]);
			break;
		}
		for (size_t f = 0; f < *count; f++)
			if (file_at(files, f, size)->pid == pid)
				wanted[f] = found = true;
		if (!found)
			status = command_fail(1, "%s: process %ld %s", command, pid, none);
	}
	for (size_t f = 0; f < *count; f++) {
		if (wanted[f])
			memmove(file_at(files, kept++, size), file_at(files, f, size), size);
		else
			free(file_at(files, f, size)->path);
	}
	*count = kept;
	free(wanted);
	return status;
}

int run_output_hide(void)
{
	int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC), kept;

	fflush(stdout);
	kept = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (nothing >= 0 && kept >= 0)
		dup2(nothing, STDOUT_FILENO);
	if (nothing >= 0)
		close(nothing);
	return kept;
}

void run_output_show(int kept)
{
	if (kept < 0)
		return;
	dup2(kept, STDOUT_FILENO);
	close(kept);
}

void run_tell_refused(uint64_t processes)
{
	if (processes)
		print_message(
		        "%" PRIu64 " %s no file, and %s missing: a file is handed out to a "
		        "process that changed its user or root directory, up to 256 files and "
		        "4 GB or a quarter of the memory; --memory makes files smaller",
		        processes, plural(processes, "process got", "processes got"),
		        plural(processes, "is", "are"));
}
