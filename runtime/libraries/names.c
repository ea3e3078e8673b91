/* SPDX-License-Identifier: MIT */
/* names: the lists of library functions that are followed, counted or ignored. */
#include "libraries/names.h"

#include <stddef.h>
#include <string.h>

/* A star at the end of a name matches any rest. */
static const char *const left_alone[] = {
        "__cyg_profile_func_enter",
        "__cyg_profile_func_exit",
        "mcount",
        "_mcount",
        "__fentry__",
        "__tls_get_addr",
        "__morestack*",
        "__splitstack*",
        "__rust_probestack",
        "objc_msg*",
        "__gmon_start__",
        "__libc_start_main",
        "__libc_start_call_main",
        "__cxa_finalize",
        "__gxx_personality*",
        "__gcc_personality*",
        "_ITM_*",
        "__asan_*",
        "__hwasan_*",
        "__lsan_*",
        "__msan_*",
        "__tsan_*",
        "__ubsan_*",
        "__sanitizer_*",
        "__gcov_*",
        "__llvm_*",
        NULL,
};

static const char *const counted[] = {
        /* return twice */
        "setjmp",
        "_setjmp",
        "sigsetjmp",
        "__sigsetjmp",
        "savectx",
        "vfork",
        "__vfork",
        "getcontext",
        "syscall",
        /* functions that switch stacks, or leave the frame */
        "makecontext",
        "setcontext",
        "swapcontext",
        "clone",
        "__clone",
        "clone3",
        "longjmp",
        "_longjmp",
        "siglongjmp",
        "__longjmp_chk",
        /* functions that read their return address */
        "dlopen",
        "dlmopen",
        "dlsym",
        "dlvsym",
        "dlclose",
        "dl_iterate_phdr",
        "backtrace",
        "_Unwind_*",
        "__register_frame*",
        "unw_*",
        /* functions that never return, or only after a failure */
        "exit",
        "_exit",
        "_Exit",
        "quick_exit",
        "abort",
        "pthread_exit",
        "thrd_exit",
        "__pthread_unwind*",
        "execl",
        "execle",
        "execlp",
        "execv",
        "execve",
        "execveat",
        "execvp",
        "execvpe",
        "fexecve",
        "err",
        "errx",
        "verr",
        "verrx",
        "__assert*",
        "__stack_chk_fail",
        "__chk_fail",
        "__fortify_fail",
        "__cxa_throw",
        "__cxa_rethrow",
        "__cxa_bad_*",
        "__cxa_throw_bad_*",
        "__cxa_call_*",
        "__cxa_pure_virtual",
        "__cxa_deleted_virtual",
        "_ZSt9terminatev",
        "_ZSt10unexpectedv",
        "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE",
        NULL,
};

/* Libraries whose whole interface is in standards and headers without wide vectors. */
static const char *const narrow[] = {
        "libc.so*",     "libm.so*",      "libpthread.so*", "librt.so*",
        "libdl.so*",    "libstdc++.so*", "libz.so*",       "libgcc_s.so*",
        "libutil.so*",  "ld-linux*",     "libresolv.so*",  "libc++.so*",
        "libcrypt.so*", "libatomic.so*", "[vdso]",         NULL,
};

static bool matches(const char *pattern, const char *text)
{
	for (; *pattern && *pattern != '*'; pattern++, text++)
		if (*pattern != *text)
			return false;
	return *pattern == '*' || !*text;
}

static bool is_in(const char *const *list, const char *text)
{
	for (; *list; list++)
		if (matches(*list, text))
			return true;
	return false;
}

/* True for std::__throw_out_of_range and similar functions: _ZSt, a length, __throw_. */
static bool is_throwing(const char *name)
{
	if (strncmp(name, "_ZSt", 4))
		return false;
	for (name += 4; *name >= '0' && *name <= '9'; name++)
		;
	return !strncmp(name, "__throw_", 8);
}

enum library_way library_way(const char *name)
{
	if (!*name || is_in(left_alone, name))
		return LIBRARY_WAY_NONE;
	return is_in(counted, name) || is_throwing(name) ? LIBRARY_WAY_COUNTED : LIBRARY_WAY_TIMED;
}

bool library_is_wide(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	return !is_in(narrow, slash ? slash + 1 : path) || !strncmp(name, "_ZGV", 4);
}
