/* SPDX-License-Identifier: MIT */
/*
 * hook: the functions that code compiled with -finstrument-functions calls, and calls_enter_at()
 * and calls_exit_at().
 */
#include "calls/calls.h"
#include "calls/fast.h"

#define EXPORT __attribute__((visibility("default"), no_instrument_function))

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

/* The caller's stack pointer. It identifies frames, so both hooks compute it in the same way. */
#if defined(__GNUC__) && !defined(__clang__)
#define HOOK_SP() ((uintptr_t)__builtin_dwarf_cfa())
#else
#define HOOK_SP() ((uintptr_t)__builtin_frame_address(0))
#endif

EXPORT void __cyg_profile_func_enter(void *function, void *site)
{
	calls_fast_enter(port_key(function), (uintptr_t)site, HOOK_SP(),
	                 (uintptr_t)__builtin_return_address(0));
}

EXPORT void __cyg_profile_func_exit(void *function, void *site)
{
	calls_fast_exit(port_key(function), (uintptr_t)site, HOOK_SP(),
	                (uintptr_t)__builtin_return_address(0));
}

void calls_enter_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	calls_fast_enter(function, site, sp, ra);
}

void calls_exit_at(uint64_t function, uintptr_t site, uintptr_t sp, uintptr_t ra)
{
	calls_fast_exit(function, site, sp, ra);
}
