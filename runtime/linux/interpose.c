/* SPDX-License-Identifier: MIT */
/*
 * interpose: wrappers of the library functions that the runtime has to observe: dlclose() unmaps
 * code, makecontext() creates a stack, _exit() ends the program without destructors, and after
 * chroot() there may be no /proc. Each wrapper
 * updates the runtime and calls the real function. The wrappers for functions that start programs
 * are in exec.c.
 */
#include "calls/calls.h"
#include "calls/thread.h"
#include "linux/code/images.h"
#include "linux/interpose.h"
#include "linux/process.h"

#include <errno.h>
#include <stdarg.h>
#include <ucontext.h>
#include <unistd.h>

EXPORT int dlclose(void *handle)
{
	int result = REAL(dlclose)(handle);

	if (port_began())
		images_check();
	return result;
}

EXPORT int chroot(const char *path)
{
	images_check();
	return REAL(chroot)(path);
}

/*
 * The functions that jump. They may be called in signal handlers, in which dlsym() is not allowed,
 * so the real functions are looked up at the start.
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

/*
 * Exceptions: calls end before each landing pad. The real functions are looked up when libgcc is
 * loaded.
 */
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
	uintptr_t low = (uintptr_t)context->uc_stack.ss_sp;
	uintptr_t high = low + context->uc_stack.ss_size;
	long a[CONTEXT_ARGUMENTS] = {0};
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count && i < CONTEXT_ARGUMENTS; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	stacks_add(low, high);
	calls_stack_made(low, high, (uintptr_t)__builtin_frame_address(0));
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
