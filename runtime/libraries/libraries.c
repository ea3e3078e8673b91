/* SPDX-License-Identifier: MIT */
/*
 * libraries: selects the images whose slots are redirected, and handles each call and its return.
 * The entry and return code is stub_x86_64.S.
 */
#include "libraries/libraries.h"

#include "calls/calls.h"
#include "libraries/open.h"
#include "libraries/patch.h"
#include "linux/place.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARCH_SHSTK_STATUS 0x5005
#define ARCH_SHSTK_SHSTK 1ull

/* Images whose slots were redirected, or that had no slot to redirect. */
#define LOOKED_MOST 1024

struct looked {
	uintptr_t start, end;
	uint64_t mark; /* hash of its path and strings: another image may be mapped there later */
	const uintptr_t *slot; /* a redirected slot; it has its original value again if the image
	                          was reloaded */
};

static bool is_on;
static struct looked *looked;
static unsigned looked_count;

/*
 * The stack pointer that identifies the call in the core. It is lower than that of the calling
 * function's hook (calls/hook.c), and higher than those of functions that the library calls back.
 * The value that a hook passes depends on the compiler.
 */
static uintptr_t place_of(uintptr_t slot)
{
#if defined(__GNUC__) && !defined(__clang__)
	return slot;
#else
	return slot - 2 * sizeof(slot);
#endif
}

/* With shadow stacks, the processor faults at a changed return address. */
static bool has_shadow_stack(void)
{
	uint64_t features = 0;

	return !syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) &&
	       features & ARCH_SHSTK_SHSTK;
}

static uint64_t mark_of(const struct loaded *image)
{
	uint64_t mark = image->strings_bytes;

	for (const char *c = image->path; *c; c++)
		mark = mark * 31 + (unsigned char)*c;
	return mark;
}

static void remember(const struct loaded *image, const uintptr_t *slot)
{
	unsigned count = __atomic_load_n(&looked_count, __ATOMIC_ACQUIRE), i;

	for (i = 0; i < count && i < LOOKED_MOST; i++)
		if (looked[i].start == image->start)
			break;
	if (i == count)
		i = __atomic_fetch_add(&looked_count, 1, __ATOMIC_ACQ_REL);
	if (i < LOOKED_MOST)
		looked[i] = (struct looked){image->start, image->end, mark_of(image), slot};
}

static bool is_known(const struct loaded *image)
{
	unsigned count = __atomic_load_n(&looked_count, __ATOMIC_ACQUIRE);

	for (unsigned i = 0; i < count && i < LOOKED_MOST; i++)
		if (looked[i].start == image->start && looked[i].end == image->end &&
		    looked[i].mark == mark_of(image))
			return !looked[i].slot || patch_is_turned(looked[i].slot);
	/* The list is full: the images that do not fit are examined each time. */
	return false;
}

/*
 * The function that a hook reports may belong to another image, as a template that exists in a
 * library and was compiled into the caller. So the image itself must call hooks.
 */
static void look_at(const struct loaded *image)
{
	if (loaded_holds(image, (uintptr_t)libraries_begin) || is_known(image))
		return;
	remember(image, loaded_is_instrumented(image) ? patch_image(image) : NULL);
}

static void look(const struct loaded *image, void *context)
{
	(void)context;
	look_at(image);
}

bool libraries_begin(void)
{
	const char *wanted = place_environment("ASSAY_CALLS_LIBRARIES");
	int before = errno;

	if (!wanted || wanted[0] != '1' || wanted[1])
		return false;
	stub_begin();
	looked = port_memory(LOOKED_MOST * sizeof(looked[0]));
	is_on = looked && open_begin() &&
	        patch_begin(!has_shadow_stack(), (uintptr_t)libraries_begin);
	if (is_on)
		loaded_each(look, NULL);
	errno = before;
	return is_on;
}

void libraries_look(uint64_t start, uint64_t end, const char *path)
{
	struct loaded image;
	int before = errno;

	(void)end;
	(void)path;
	if (is_on && loaded_find(start, &image))
		look_at(&image);
	errno = before;
}

/* The code address that the events report: the first byte of the function. */
static uintptr_t code_of(uint64_t function)
{
	return function & ASSAY_FN_ADDRESS;
}

struct library_open *libraries_enter(const struct library_call *call, uintptr_t slot,
                                     uintptr_t kept)
{
	uintptr_t ra = *(const uintptr_t *)slot, sp = place_of(slot);
	struct library_open *open = NULL;
	uint64_t function = call->function;

	/*
	 * If a followed function reached this one by a tail call, its return address is already
	 * replaced.
	 */
	if (call->flags & LIBRARY_TIMED && ra != (uintptr_t)assay_libraries_return)
		open = open_push(slot, kept);
	if (open) {
		open->call = call;
		calls_enter_at(function, ra, sp, code_of(function));
		return open;
	}
	function |= ASSAY_FN_COUNTED;
	calls_enter_at(function, ra, sp, code_of(function));
	calls_exit_at(function, ra, sp, code_of(function));
	return NULL;
}

void libraries_leave(const struct library_open *open)
{
	uint64_t function = open->call->function;

	calls_exit_at(function, open->ra, place_of(open->slot), code_of(function));
}
