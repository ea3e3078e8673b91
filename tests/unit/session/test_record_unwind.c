/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of record_unwind for processes is limited, whatever they do. */
#include "session/stream/record_unwind.h"

#include "check.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define EVENTS 400000
#define PATH_BYTES 1000
#define ALLOWED_BYTES ((size_t)80 << 20)

static size_t most;

static void take(struct record_unwind *l, const struct event *e)
{
	static unsigned taken;
	struct mallinfo2 info;

	record_unwind_event(l, e);
	if (++taken % 1024)
		return;
	info = mallinfo2();
	most = info.uordblks + info.hblkhd > most ? info.uordblks + info.hblkhd : most;
}

static struct event event_of(enum event_kind kind, uint64_t time_ns)
{
	return (struct event){
	        .kind = kind, .mode = CPU_MODE_USER, .pid = 60, .tid = 60, .time_ns = time_ns};
}

static void names_and_mappings_have_a_bound(void)
{
	struct record_unwind *l = record_unwind_new(STACK_METHOD_AUTO, NULL, NULL);
	char path[PATH_BYTES];
	struct recording r;

	recording_init(&r);
	memset(path, 'd', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	for (uint32_t i = 0; i < EVENTS; i++) {
		struct event name = event_of(EVENT_COMM, 1 + 2 * i);
		struct event file = event_of(EVENT_MMAP, 2 + 2 * i);
		char text[16];

		snprintf(text, sizeof(text), "n-%u", i);
		name.comm.name = text;
		take(l, &name);
		path[snprintf(path, 32, "/tmp/%u", i)] = '/';
		file.mmap = (struct event_mmap){.addr = 0x7f0000000000 + (uint64_t)i * 0x1000,
		                                .size = 0x1000,
		                                .inode = i + 1,
		                                .executable = true,
		                                .filename = path};
		take(l, &file);
	}
	printf("# %zu KB\n", most >> 10);
	CHECK(most < ALLOWED_BYTES);
	record_unwind_account(l, &r.account);
	CHECK_EQ(r.account.notes.count, 1);
	CHECK(strstr(r.account.notes.items[0], "mappings of processes with too many of them were"));
	recording_done(&r);
	record_unwind_free(l);
}

int main(void)
{
	RUN(names_and_mappings_have_a_bound);
	return check_end();
}
