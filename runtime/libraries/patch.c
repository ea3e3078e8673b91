/* SPDX-License-Identifier: MIT */
/*
 * patch: redirects an image's slots to stubs. The stubs are written to new pages of the image, and
 * the pages are made executable. The slots are changed last, since other threads may call through
 * them at any time.
 */
#include "libraries/patch.h"

#include "assay/wire.h"
#include "calls/port.h"
#include "libraries/names.h"
#include "libraries/stub.h"

#include <string.h>
#include <sys/mman.h>

#define PAGE ((uintptr_t)4096)
#define PAGES_MOST 1024u
/* GOT slots in one image, from the first to the last that is examined. */
#define GOT_MOST (1u << 20)
/* Images that one image calls, cached while it is patched. */
#define TARGETS_MOST 16

static unsigned char *pages;
static struct library_call *calls;
static unsigned pages_used;
static bool calls_timed;
static uintptr_t own_code;

struct target {
	struct loaded image;
	bool followed;
	bool own; /* the runtime replaces functions of this library */
};

struct patch {
	const struct loaded *image;
	struct target targets[TARGETS_MOST];
	unsigned target_count;
	unsigned page, used,
	        end; /* stub places: the page of the first stub, and numbers from there */
};

bool patch_begin(bool timed, uintptr_t own)
{
	calls_timed = timed;
	own_code = own;
	pages = port_memory(PAGES_MOST * PAGE);
	calls = port_memory(PAGES_MOST * STUB_PAGE * sizeof(calls[0]));
	return pages && calls;
}

static const struct target *find_target(struct patch *p, uintptr_t address)
{
	struct target *t = p->targets;
	struct loaded image;

	for (; t < p->targets + p->target_count; t++)
		if (loaded_holds(&t->image, address))
			return t;
	if (!loaded_find(address, &image))
		return NULL;
	/* When the cache is full, the last entry is replaced. */
	if (p->target_count == TARGETS_MOST)
		t--;
	else
		p->target_count++;
	t->image = image;
	t->own = loaded_holds(&image, own_code);
	t->followed = t->own || !loaded_is_instrumented(&image);
	return t;
}

/*
 * The function that the report names: the symbol's own address. The slot of a function that is
 * chosen at load time (memcpy) holds a function that may have no name.
 */
static uintptr_t named(const struct target *t, const char *name, uintptr_t target)
{
	uintptr_t address;
	int type;

	if (t && loaded_function(&t->image, name, &address, &type) && type == STT_GNU_IFUNC)
		return address;
	return target;
}

static bool is_stub(uintptr_t address)
{
	return address - (uintptr_t)pages < PAGES_MOST * PAGE;
}

/* Creates a stub for a slot that is to be followed. */
static void prepare(struct patch *p, const ElfW(Rela) * relocation)
{
	uintptr_t *slot = (uintptr_t *)(p->image->base + relocation->r_offset);
	uintptr_t target = __atomic_load_n(slot, __ATOMIC_RELAXED);
	const char *name = loaded_name(p->image, relocation);
	enum library_way way = library_way(name);
	const struct target *t;
	struct library_call *call;

	/* Not bound yet (the slot leads to the image's own PLT), or bound to the image itself. */
	if (!target || loaded_holds(p->image, target) || is_stub(target))
		return;
	if (way == LIBRARY_WAY_NONE)
		return;
	t = find_target(p, target);
	if ((t && !t->followed) || p->used == p->end)
		return;
	if (p->used % STUB_PAGE == 0)
		stub_page(pages + (p->page + p->used++ / STUB_PAGE) * PAGE);
	call = &calls[p->page * STUB_PAGE + p->used];
	call->function = (named(t, name, target) & ASSAY_FN_ADDRESS) | ASSAY_FN_LIBRARY;
	call->target = target;
	call->flags = 0;
	if (calls_timed && way == LIBRARY_WAY_TIMED && !(t && t->own))
		call->flags |= LIBRARY_TIMED;
	if (library_is_wide(t ? t->image.path : "[vdso]", name))
		call->flags |= LIBRARY_WIDE;
	call->slot = slot;
	stub_write(pages + (p->page + p->used / STUB_PAGE) * PAGE, p->used % STUB_PAGE, call);
	p->used++;
}

static bool is_function_slot(const struct loaded *image, const ElfW(Rela) * r)
{
	unsigned type = ELF64_ST_TYPE(image->symbols[ELF64_R_SYM(r->r_info)].st_info);

	return ELF64_R_TYPE(r->r_info) == R_X86_64_GLOB_DAT && type != STT_OBJECT &&
	       type != STT_TLS && type != STT_COMMON;
}

/* GOT slots of functions that the code only calls, and whose address it never takes. */
static void prepare_got(struct patch *p)
{
	const struct loaded *image = p->image;
	const ElfW(Rela) *r = image->relocations, *end = r + image->relocation_count;
	uintptr_t low = UINTPTR_MAX, high = 0;
	unsigned char *marks;
	size_t count;

	for (; r < end; r++) {
		if (is_function_slot(image, r)) {
			low = r->r_offset < low ? r->r_offset : low;
			high = r->r_offset > high ? r->r_offset : high;
		}
	}
	count = (high - low) / sizeof(low) + 1;
	if (low > high || count > GOT_MOST)
		return;
	marks = port_memory(count);
	if (!marks)
		return;
	got_uses(image, (const uintptr_t *)(image->base + low), count, marks);
	for (r = image->relocations; r < end; r++)
		if (is_function_slot(image, r) &&
		    marks[(r->r_offset - low) / sizeof(low)] == GOT_CALLED)
			prepare(p, r);
	port_memory_free(marks, count);
}

static bool reserve(struct patch *p, size_t slots)
{
	unsigned wanted = (unsigned)(slots / (STUB_PAGE - 1)) + 1;

	p->page = __atomic_fetch_add(&pages_used, wanted, __ATOMIC_RELAXED);
	if (slots > PAGES_MOST * STUB_PAGE || p->page + wanted > PAGES_MOST) {
		__atomic_fetch_sub(&pages_used, wanted, __ATOMIC_RELAXED);
		return false;
	}
	p->end = wanted * STUB_PAGE;
	return true;
}

/* Writes the stubs' addresses into the slots. */
static bool turn(const struct patch *p)
{
	const struct loaded *image = p->image;
	size_t relro = image->relro_end - image->relro_start;

	if (relro && mprotect((void *)image->relro_start, relro, PROT_READ | PROT_WRITE))
		return false;
	for (unsigned i = 0; i < p->used; i++) {
		const struct library_call *call = &calls[p->page * STUB_PAGE + i];

		if (call->slot)
			__atomic_store_n(call->slot,
			                 (uintptr_t)pages + p->page * PAGE + i * STUB_BYTES,
			                 __ATOMIC_RELEASE);
	}
	if (relro)
		mprotect((void *)image->relro_start, relro, PROT_READ);
	return true;
}

bool patch_is_turned(const uintptr_t *slot)
{
	return is_stub(__atomic_load_n(slot, __ATOMIC_RELAXED));
}

const uintptr_t *patch_image(const struct loaded *image)
{
	struct patch p = {.image = image};
	size_t slots = image->jump_slot_count;
	size_t bytes;

	for (size_t i = 0; i < image->relocation_count; i++)
		slots += is_function_slot(image, &image->relocations[i]);
	if (!slots || !reserve(&p, slots))
		return NULL;
	for (size_t i = 0; i < image->jump_slot_count; i++)
		if (ELF64_R_TYPE(image->jump_slots[i].r_info) == R_X86_64_JUMP_SLOT)
			prepare(&p, &image->jump_slots[i]);
	prepare_got(&p);
	bytes = (p.used * STUB_BYTES + PAGE - 1) & -PAGE;
	if (!p.used || mprotect(pages + p.page * PAGE, bytes, PROT_READ | PROT_EXEC))
		return NULL;
	if (!turn(&p))
		return NULL;
	return calls[p.page * STUB_PAGE + 1].slot;
}
