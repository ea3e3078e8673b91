/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that the kernel generated: BPF programs, trampolines, kprobe slots. Records give its names
 * with their times; it is in no mapping. Entries are sorted by start. An entry whose code is gone
 * stays without a name until its place is used again, so that few records move entries.
 */
#include "base/limit.h"
#include "process/process_internal.h"

#include <string.h>

#define BPF_IMAGE_NAME "[bpf]"
#define OTHER_IMAGE_NAME "[kernel.generated]"

/* The number of entries that begin at or below the address. */
static size_t count_up_to(const struct process_table *t, uint64_t address)
{
	size_t low = 0, high = t->kernel_code.count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (t->kernel_code.items[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop_ended(struct process_table *t)
{
	size_t kept = 0;

	vec_each (code, &t->kernel_code)
		if (code->name != ID_NONE)
			t->kernel_code.items[kept++] = *code;
	t->kernel_code.count = kept;
}

/* The entry that begins at the address, new or existing; NULL: there are too many. */
static struct kernel_code *code_at(struct process_table *t, uint64_t address)
{
	size_t at = count_up_to(t, address);

	if (at && t->kernel_code.items[at - 1].start == address)
		return &t->kernel_code.items[at - 1];
	if (t->kernel_code.count >= LIMIT_KERNEL_CODE) {
		drop_ended(t);
		if (t->kernel_code.count > LIMIT_KERNEL_CODE / 2)
			return NULL;
		at = count_up_to(t, address);
	}
	vec_add(&t->kernel_code);
	memmove(t->kernel_code.items + at + 1, t->kernel_code.items + at,
	        (t->kernel_code.count - 1 - at) * sizeof(*t->kernel_code.items));
	return &t->kernel_code.items[at];
}

void process_kernel_code_event(struct process_table *t, const struct event *e)
{
	struct kernel_code *code;

	if (!e->kernel_code.name[0] && !e->kernel_code.ended)
		return;
	code = code_at(t, e->kernel_code.address);
	if (!code) {
		t->dropped_mappings++;
		return;
	}
	*code = (struct kernel_code){.start = e->kernel_code.address,
	                             .end = e->kernel_code.address + e->kernel_code.size,
	                             .bpf = e->kernel_code.bpf,
	                             .name = e->kernel_code.ended
	                                             ? ID_NONE
	                                             : intern_add(&t->names, e->kernel_code.name)};
	t->kernel = map_set_own(t->kernel, ++t->version); /* addresses mean other code now */
}

bool process_kernel_code_find(const struct process_table *t, uint64_t address, struct frame *frame)
{
	size_t at = t->kernel_code.count ? count_up_to(t, address) : 0;
	const struct kernel_code *code = at ? &t->kernel_code.items[at - 1] : NULL;

	if (!code || code->name == ID_NONE || address >= code->end)
		return false;
	frame->image = image_table_named(t->images, IMAGE_NAME,
	                                 code->bpf ? BPF_IMAGE_NAME : OTHER_IMAGE_NAME);
	frame->offset = intern_add(&t->images->names, intern_text(&t->names, code->name));
	return true;
}

void process_kernel_code_carry(struct process_table *t, const struct process_table *old)
{
	vec_each (code, &old->kernel_code) {
		if (code->name == ID_NONE)
			continue;
		vec_push(&t->kernel_code, *code);
		vec_last(&t->kernel_code)->name =
		        intern_add(&t->names, intern_text(&old->names, code->name));
	}
}

int process_kernel_code_replay(const struct process_table *t, uint64_t time_ns,
                               int (*deliver)(void *ctx, const struct event *e, struct error *err),
                               void *ctx, struct error *err)
{
	struct event e = {.kind = EVENT_KERNEL_CODE,
	                  .mode = CPU_MODE_KERNEL,
	                  .attr = EVENT_NO_ATTR,
	                  .pid = -1,
	                  .time_ns = time_ns};
	int status = 0;

	for (size_t i = 0; !status && i < t->kernel_code.count; i++) {
		const struct kernel_code *code = &t->kernel_code.items[i];

		if (code->name == ID_NONE)
			continue;
		e.kernel_code =
		        (struct event_kernel_code){.address = code->start,
		                                   .size = (uint32_t)(code->end - code->start),
		                                   .bpf = code->bpf,
		                                   .name = intern_text(&t->names, code->name)};
		status = deliver(ctx, &e, err);
	}
	return status;
}
