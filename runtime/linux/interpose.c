/* SPDX-License-Identifier: MIT */
/*
 * interpose: the few library functions after which the runtime must look again:
 * code that goes (dlclose), stacks that are made (makecontext), programs that end
 * without destructors (_exit) or give way to others (exec). Each does its deed and
 * calls the one it stands before.
 */
#include "calls/calls.h"
#include "calls/thread.h"
#include "linux/images.h"
#include "linux/process.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* The function of that name behind ours. */
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

EXPORT int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);

	if (port_began())
		images_check();
	return result;
}

/*
 * The ways to jump. They may be taken in signal handlers, where nothing is looked up: that
 * is done at the start.
 */
typedef void jump_fn(void *environment, int value);
static jump_fn *real_longjmp, *real__longjmp, *real_siglongjmp, *real___longjmp_chk;

__attribute__((constructor(101))) static void find_jumps(void)
{
	real_longjmp = (jump_fn *)dlsym(RTLD_NEXT, "longjmp");
	real__longjmp = (jump_fn *)dlsym(RTLD_NEXT, "_longjmp");
	real_siglongjmp = (jump_fn *)dlsym(RTLD_NEXT, "siglongjmp");
	real___longjmp_chk = (jump_fn *)dlsym(RTLD_NEXT, "__longjmp_chk");
}

#define JUMP(name)                                                                                 \
	EXPORT jump_fn assay_##name __asm__(#name);                                                \
	void assay_##name(void *environment, int value)                                            \
	{                                                                                          \
		calls_jumped();                                                                    \
		if (!real_##name)                                                                  \
			find_jumps();                                                              \
		real_##name(environment, value);                                                   \
	}

JUMP(longjmp)
JUMP(_longjmp)
JUMP(siglongjmp)
JUMP(__longjmp_chk)

/* Exceptions: calls end on the way to each place where one lands. Looked up where libgcc is. */
#define UNWIND(name, parameters, arguments)                                                        \
	EXPORT __attribute__((weak)) int assay_##name parameters __asm__(#name);                   \
	int assay_##name parameters                                                                \
	{                                                                                          \
		static int(*real) parameters;                                                      \
                                                                                                   \
		calls_jumped();                                                                    \
		if (!real)                                                                         \
			real = (int(*) parameters)dlsym(RTLD_NEXT, #name);                         \
		return real arguments;                                                             \
	}

UNWIND(_Unwind_RaiseException, (void *exception), (exception))
UNWIND(_Unwind_Resume, (void *exception), (exception))
UNWIND(_Unwind_Resume_or_Rethrow, (void *exception), (exception))
UNWIND(_Unwind_ForcedUnwind, (void *exception, void *stop, void *argument),
       (exception, stop, argument))

#define CONTEXT_ARGUMENTS 12

EXPORT void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
{
	void (*real)(ucontext_t *, void (*)(void), int, ...) = dlsym(RTLD_NEXT, "makecontext");
	long a[CONTEXT_ARGUMENTS] = {0};
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count && i < CONTEXT_ARGUMENTS; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	stacks_add((uintptr_t)context->uc_stack.ss_sp,
	           (uintptr_t)context->uc_stack.ss_sp + context->uc_stack.ss_size);
	real(context, function, count, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9],
	     a[10], a[11]);
}

EXPORT void _exit(int status)
{
	process_end(ASSAY_CALLS_EXITED);
	REAL(_exit)(status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	_exit(status);
}

/* Only failures come back. */
#define EXEC(call)                                                                                 \
	do {                                                                                       \
		process_end(ASSAY_CALLS_MOVED);                                                    \
		call;                                                                              \
		process_goes_on();                                                                 \
		return -1;                                                                         \
	} while (0)

EXPORT int execve(const char *path, char *const argv[], char *const environment[])
{
	EXEC(REAL(execve)(path, argv, environment));
}

EXPORT int execv(const char *path, char *const argv[])
{
	EXEC(REAL(execv)(path, argv));
}

EXPORT int execvp(const char *file, char *const argv[])
{
	EXEC(REAL(execvp)(file, argv));
}

EXPORT int execvpe(const char *file, char *const argv[], char *const environment[])
{
	EXEC(REAL(execvpe)(file, argv, environment));
}

EXPORT int fexecve(int fd, char *const argv[], char *const environment[])
{
	EXEC(REAL(fexecve)(fd, argv, environment));
}

EXPORT int execveat(int fd, const char *path, char *const argv[], char *const environment[],
                    int flags)
{
	EXEC(REAL(execveat)(fd, path, argv, environment, flags));
}

/* The listed arguments as an array; *environment: what follows their NULL. */
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
