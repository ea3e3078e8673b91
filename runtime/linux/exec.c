/* SPDX-License-Identifier: MIT */
/*
 * exec: wrappers of the library functions that start programs. Before an exec, the process marks
 * its table as moved. The wrappers complete the environment of the new program (environment.h), so
 * that it is counted too. system() and popen() use the program's environment without a change.
 */
#include "calls/calls.h"
#include "calls/port.h"
#include "linux/environment.h"
#include "linux/interpose.h"
#include "linux/process.h"

#include <errno.h>
#include <spawn.h>
#include <stdarg.h>
#include <unistd.h>

/* The real function returns only if it fails. */
#define EXEC(given, call)                                                                          \
	do {                                                                                       \
		struct environment_room room;                                                      \
		char *const *all = environment_complete(given, &room);                             \
                                                                                                   \
		process_end(ASSAY_CALLS_MOVED);                                                    \
		call;                                                                              \
		process_goes_on();                                                                 \
		environment_done(&room);                                                           \
		return -1;                                                                         \
	} while (0)

EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
	EXEC(environment, REAL(execve)(path, argv, all));
}

EXPORT int execv(const char *path, char *const argv[])
{
	EXEC(environ, REAL(execve)(path, argv, all));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	EXEC(environ, REAL(execvpe)(file, argv, all));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	EXEC(environment, REAL(execvpe)(file, argv, all));
}

EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
	EXEC(environment, REAL(fexecve)(fd, argv, all));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const environment[],
                    int flags)
{
	EXEC(environment, REAL(execveat)(fd, path, argv, all, flags));
}

/* Copies the listed arguments into an array. *environment: the argument after their NULL. */
static char **gather(const char *first, va_list list, char ***environment, size_t *bytes)
{
	va_list again;
	size_t count = 1;
	char **argv;

	va_copy(again, list);
	while (va_arg(again, char *))
		count++;
	va_end(again);
	*bytes = (count + 1) * sizeof(*argv);
	argv = port_memory(*bytes);
	if (!argv) {
		errno = ENOMEM;
		return NULL;
	}
	argv[0] = (char *)first;
	for (size_t i = 1; i <= count; i++)
		argv[i] = va_arg(list, char *);
	if (environment)
		*environment = va_arg(list, char **);
	return argv;
}

#define GATHER(first, environment)                                                                 \
	va_list list;                                                                              \
	size_t bytes;                                                                              \
	char **argv;                                                                               \
                                                                                                   \
	va_start(list, first);                                                                     \
	argv = gather(first, list, environment, &bytes);                                           \
	va_end(list);                                                                              \
	if (!argv)                                                                                 \
	return -1

EXPORT int execl(const char *path, const char *first, ...)
{
	GATHER(first, NULL);
	execv(path, argv);
	port_memory_free(argv, bytes);
	return -1;
}

EXPORT int execlp(const char *file, const char *first, ...)
{
	GATHER(first, NULL);
	execvp(file, argv);
	port_memory_free(argv, bytes);
	return -1;
}

EXPORT int execle(const char *path, const char *first, ...)
{
	char **environment = NULL;

	GATHER(first, &environment);
	execve(path, argv, environment);
	port_memory_free(argv, bytes);
	return -1;
}

#define SPAWN(name)                                                                                \
	EXPORT int name(pid_t *pid, const char *program,                                           \
	                const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *with,  \
	                char *const argv[], char *const environment[])                             \
	{                                                                                          \
		struct environment_room room;                                                      \
		char *const *all = environment_complete(environment, &room);                       \
		int result = REAL(name)(pid, program, actions, with, argv, all);                   \
                                                                                                   \
		environment_done(&room);                                                           \
		return result;                                                                     \
	}

SPAWN(posix_spawn)
SPAWN(posix_spawnp)
