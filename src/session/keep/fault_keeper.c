/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/fault_keeper.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"
#include "base/text/plural.h"
#include "source/proc/proc.h"

#include <inttypes.h>
#include <stdlib.h>

struct fault_mapping {
	int32_t pid; /* 0: none */
	bool gone;   /* it has no mapping there, or the process has exited */
	uint64_t start, end, read_ns;
};

struct fault_keeper {
	struct foreign *foreign;
	struct fault_mapping known[FAULT_MAPPINGS];
	size_t next; /* the oldest */
	uint64_t second_ns, reads;
	uint64_t gone, beyond; /* faults whose mapping was not read */
	struct buf name;
};

struct fault_keeper *fault_keeper_new(struct foreign *foreign)
{
	struct fault_keeper *k = xcalloc(1, sizeof(*k));

	k->foreign = foreign;
	return k;
}

void fault_keeper_free(struct fault_keeper *k)
{
	if (!k)
		return;
	buf_done(&k->name);
	free(k);
}

static struct fault_mapping *find(struct fault_keeper *k, const struct event *e)
{
	for (size_t i = 0; i < FAULT_MAPPINGS; i++) {
		struct fault_mapping *m = &k->known[i];

		if (m->pid == e->pid && e->sample.addr >= m->start && e->sample.addr < m->end &&
		    e->time_ns - m->read_ns < FAULT_RECHECK_NS)
			return m;
	}
	return NULL;
}

static bool may_read(struct fault_keeper *k, uint64_t now_ns)
{
	if (now_ns - k->second_ns >= UINT64_C(1000000000)) {
		k->second_ns = now_ns;
		k->reads = 0;
	}
	if (k->reads >= FAULT_READS_PER_S) {
		k->beyond++;
		return false;
	}
	k->reads++;
	return true;
}

/* Reads the mapping of a fault. */
static struct fault_mapping *read_mapping(struct fault_keeper *k, const struct event *e,
                                          struct event_mmap *map)
{
	struct fault_mapping *m = &k->known[k->next];

	k->next = (k->next + 1) % FAULT_MAPPINGS;
	*m = (struct fault_mapping){.pid = e->pid, .end = UINT64_MAX, .read_ns = e->time_ns};
	m->gone = proc_map_at(k->foreign, e->pid, e->sample.addr, map, &k->name) != 0;
	if (!m->gone) {
		m->start = map->addr;
		m->end = map->addr + map->size;
	}
	return m;
}

bool fault_keeper_sample(struct fault_keeper *k, const struct event *e, struct event *mapping)
{
	const struct fault_mapping *known;
	struct event_mmap map;

	if (!k || e->pid <= 0 || !e->sample.addr)
		return false;
	known = find(k, e);
	if (known) {
		k->gone += known->gone;
		return false;
	}
	if (!may_read(k, e->time_ns))
		return false;
	if (read_mapping(k, e, &map)->gone) {
		k->gone++;
		return false;
	}
	/* The kernel records mappings of code. Memory without a file came from swap. */
	if (map.executable || map.filename[0] != '/' || map.filename[1] == '/')
		return false;
	*mapping = (struct event){.kind = EVENT_MMAP,
	                          .mode = CPU_MODE_USER,
	                          .attr = e->attr,
	                          .cpu = e->cpu,
	                          .pid = e->pid,
	                          .tid = e->tid,
	                          .time_ns = e->time_ns,
	                          .mmap = map};
	return true;
}

void fault_keeper_account(const struct fault_keeper *k, struct account *account)
{
	uint64_t missing = k ? k->gone + k->beyond : 0;

	if (missing)
		vec_push(&account->notes,
		         xasprintf("%" PRIu64 " major page %s %s no file: for %" PRIu64
		                   " the process had exited, for %" PRIu64
		                   " there were too many in a second.",
		                   missing, plural(missing, "fault", "faults"),
		                   plural(missing, "has", "have"), k->gone, k->beyond));
}
