/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/descriptor_keeper.h"

#include "base/memory/buf.h"
#include "base/memory/hash.h"
#include "base/text/plural.h"
#include "format/perf/tracepoint_format.h"
#include "process/pid_map.h"
#include "source/proc/descriptor_name.h"
#include "source/proc/proc.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Pointers are above the first page (vm.mmap_min_addr); so many descriptors are rare. */
#define NUMBER_MAX 65536
/* The states of a blocked thread; the bits above say that it was preempted. */
#define STATE_BLOCKED 0xff
/* common_flags: in an interrupt or NMI handler. */
#define FLAGS_INTERRUPT 0x48
/* Sockets without addresses are read again, also if no thread waits for them any more. */
#define UNFINISHED_NS (RECHECK_NS / 10)
#define UNFINISHED_MAX 64
#define UNFINISHED_TRIES 100
#define UNFINISHED_LOOK_NS UINT64_C(10000000)

struct kept_descriptor {
	uint32_t number;
	bool complete;
	uint64_t hash; /* of its name; 0: none was read */
	uint64_t read_ns;
};

/* A socket whose addresses are not found yet. */
struct unfinished_name {
	int32_t pid, tid;
	uint32_t number, tries;
	char thread[PROC_NAME_SIZE];
};

struct descriptor_process {
	VEC(struct kept_descriptor) descriptors; /* a few: those on which its threads waited */
};

struct descriptor_keeper {
	const struct tracepoint_field *state, *thread_name; /* NULL: the samples have none */
	const struct tracepoint_field *wake_flags;          /* of wake-ups, likewise */
	struct descriptor_names *names;
	struct pid_map pids; /* to `processes` */
	VEC(struct descriptor_process) processes;
	size_t count; /* of descriptors */
	/* Reads of the second that began at second_ns */
	uint64_t second_ns, reads;
	uint64_t gone, denied; /* descriptors without a name */
	struct buf name;
	char thread[PROC_NAME_SIZE];
	VEC(struct unfinished_name) unfinished;
	uint64_t next_try_ns;
};

static const struct tracepoint_field *field_of(const struct recording *r, const char *tracepoint,
                                               const char *name)
{
	vec_each (t, &r->tracepoints) {
		if (strcmp(t->name, tracepoint) != 0)
			continue;
		vec_each (field, &t->fields)
			if (!strcmp(field->name, name))
				return field;
	}
	return NULL;
}

struct descriptor_keeper *descriptor_keeper_new(const struct recording *recording)
{
	struct descriptor_keeper *k = xcalloc(1, sizeof(*k));

	k->state = field_of(recording, "sched_switch", "prev_state");
	k->thread_name = field_of(recording, "sched_switch", "prev_comm");
	k->wake_flags = field_of(recording, "sched_waking", "common_flags");
	k->names = descriptor_names_new();
	return k;
}

static void forget_all(struct descriptor_keeper *k)
{
	vec_each (process, &k->processes)
		vec_done(&process->descriptors);
	k->processes.count = k->count = 0;
	pid_map_done(&k->pids);
	k->pids = (struct pid_map){0};
}

void descriptor_keeper_free(struct descriptor_keeper *k)
{
	if (!k)
		return;
	forget_all(k);
	vec_done(&k->processes);
	vec_done(&k->unfinished);
	descriptor_names_free(k->names);
	buf_done(&k->name);
	free(k);
}

static void forget_unfinished(struct descriptor_keeper *k, int32_t pid)
{
	for (size_t i = k->unfinished.count; i-- > 0;)
		if (k->unfinished.items[i].pid == pid)
			k->unfinished.items[i] = k->unfinished.items[--k->unfinished.count];
}

/* The number may belong to another process from now on, or the program to another file. */
void descriptor_keeper_event(struct descriptor_keeper *k, const struct event *e)
{
	bool ends = e->kind == EVENT_EXIT || e->kind == EVENT_FORK ||
	            (e->kind == EVENT_COMM && e->comm.exec);
	struct descriptor_process *process;
	uint32_t id;

	if (!k || !ends || e->pid != e->tid)
		return;
	forget_unfinished(k, e->pid);
	id = pid_map_get(&k->pids, e->pid);
	if (id == ID_NONE)
		return;
	process = &k->processes.items[id];
	k->count -= process->descriptors.count;
	vec_done(&process->descriptors);
}

static struct kept_descriptor *descriptor_of(struct descriptor_keeper *k, int32_t pid,
                                             uint32_t number)
{
	struct kept_descriptor *added;
	uint32_t id;

	if (k->count >= DESCRIPTORS_MAX || k->processes.count >= DESCRIPTORS_MAX)
		forget_all(k);
	id = pid_map_get(&k->pids, pid);
	if (id == ID_NONE) {
		id = (uint32_t)k->processes.count;
		*vec_add(&k->processes) = (struct descriptor_process){0};
		pid_map_set(&k->pids, pid, id);
	}
	vec_each (descriptor, &k->processes.items[id].descriptors)
		if (descriptor->number == number)
			return descriptor;
	k->count++;
	added = vec_add(&k->processes.items[id].descriptors);
	*added = (struct kept_descriptor){.number = number};
	return added;
}

/* Whether the thread of the sample blocks. */
static bool is_blocked(const struct descriptor_keeper *k, const struct event_sample *s)
{
	struct tracepoint_value state = {0};

	if (k->state)
		state = tracepoint_field_value(k->state, s->raw, s->raw_size);
	return state.kind != TRACEPOINT_NONE && ((uint64_t)state.i & STATE_BLOCKED);
}

/* Whether the thread of the sample itself woke another one. A softirq may be its own: that of a
 * packet which it sends over loopback. */
static bool is_waker(const struct descriptor_keeper *k, const struct event_sample *s)
{
	struct tracepoint_value flags = {0};

	if (k->wake_flags)
		flags = tracepoint_field_value(k->wake_flags, s->raw, s->raw_size);
	return flags.kind != TRACEPOINT_NONE && !((uint64_t)flags.i & FLAGS_INTERRUPT);
}

/* The first argument of the system call of the sample's thread, if it may be a descriptor. */
static bool find_number(const struct event *e, uint32_t *number)
{
	const struct event_sample *s = &e->sample;
	const struct unwind_machine *machine = unwind_native();
	uint64_t bit = machine ? UINT64_C(1) << machine->perf_argument[0] : 0, value;

	if (!s->regs || s->regs_abi != PERF_SAMPLE_REGS_ABI_64 || !(s->regs_mask & bit) ||
	    e->pid <= 0)
		return false;
	value = s->regs[__builtin_popcountll(s->regs_mask & (bit - 1))];
	*number = (uint32_t)value;
	return value < NUMBER_MAX;
}

static bool may_read(struct descriptor_keeper *k, uint64_t now_ns)
{
	if (now_ns - k->second_ns >= UINT64_C(1000000000)) {
		k->second_ns = now_ns;
		k->reads = 0;
	}
	if (k->reads >= READS_PER_S)
		return false;
	k->reads++;
	return true;
}

/* Reads the name. True: it is new. */
static bool read_name(struct descriptor_keeper *k, int32_t pid, struct kept_descriptor *d,
                      uint64_t now_ns)
{
	bool first = !d->read_ns;
	int status = descriptor_name_read(k->names, pid, d->number, &k->name, &d->complete);
	uint64_t hash;

	d->read_ns = now_ns;
	if (status) {
		/* -ENOENT: the argument is no descriptor, or it was closed. */
		k->gone += first && status == -ESRCH;
		k->denied += first && status != -ESRCH && status != -ENOENT;
		d->complete = true;
		return false;
	}
	hash = hash_bytes(k->name.data, k->name.size) | 1;
	if (hash == d->hash)
		return false;
	d->hash = hash;
	return true;
}

/* The sample of a wake-up has the name of the woken thread, and not of its own. */
static void set_thread_name(struct descriptor_keeper *k, const struct event *e)
{
	struct tracepoint_value v = {0};

	if (k->thread_name)
		v = tracepoint_field_value(k->thread_name, e->sample.raw, e->sample.raw_size);
	if (v.kind != TRACEPOINT_SPAN || v.size >= sizeof(k->thread))
		v.size = 0;
	if (v.size)
		memcpy(k->thread, v.bytes, v.size);
	k->thread[v.size] = '\0';
}

/* Whether the name may have changed; that of a new socket is completed as soon as possible. */
static bool is_due(const struct kept_descriptor *d, uint64_t now_ns)
{
	uint64_t rest_ns = d->complete ? RECHECK_NS : UNFINISHED_NS;

	return !d->read_ns || now_ns - d->read_ns >= rest_ns;
}

static void add_unfinished(struct descriptor_keeper *k, const struct event *named)
{
	struct unfinished_name *u;

	vec_each (old, &k->unfinished)
		if (old->pid == named->pid && old->number == named->descriptor.number)
			return;
	if (k->unfinished.count >= UNFINISHED_MAX)
		return;
	u = vec_add(&k->unfinished);
	*u = (struct unfinished_name){
	        .pid = named->pid, .tid = named->tid, .number = named->descriptor.number};
	snprintf(u->thread, sizeof(u->thread), "%s", named->descriptor.thread_name);
}

/* Reads the name again. True: it is new; `d` is complete, or has no name any more. */
static bool try_again(struct descriptor_keeper *k, struct unfinished_name *u, uint64_t now_ns,
                      bool *is_done)
{
	struct kept_descriptor *d = descriptor_of(k, u->pid, u->number);
	bool is_new = false;

	if (!d->complete && is_due(d, now_ns) && may_read(k, now_ns)) {
		is_new = read_name(k, u->pid, d, now_ns);
		u->tries++;
	}
	*is_done = d->complete || u->tries >= UNFINISHED_TRIES;
	return is_new;
}

/* The first socket whose addresses are found now; the time and the CPU are those of the sample. */
static bool finish_name(struct descriptor_keeper *k, const struct event *e, struct event *named)
{
	if (!k->unfinished.count || e->time_ns < k->next_try_ns)
		return false;
	for (size_t i = k->unfinished.count; i-- > 0;) {
		struct unfinished_name *u = &k->unfinished.items[i];
		bool is_done, is_new = try_again(k, u, e->time_ns, &is_done);

		if (is_new) {
			memcpy(k->thread, u->thread, sizeof(k->thread));
			*named = *e;
			named->kind = EVENT_DESCRIPTOR;
			named->pid = u->pid;
			named->tid = u->tid;
			named->descriptor =
			        (struct event_descriptor){u->number, buf_text(&k->name), k->thread};
		}
		if (is_done)
			*u = k->unfinished.items[--k->unfinished.count];
		if (is_new)
			return true;
	}
	k->next_try_ns = e->time_ns + UNFINISHED_LOOK_NS;
	return false;
}

static bool name_of_sample(struct descriptor_keeper *k, const struct event *e, bool is_wake,
                           struct event *named)
{
	struct kept_descriptor *d;
	uint32_t number;

	if (!find_number(e, &number) ||
	    !(is_wake ? is_waker(k, &e->sample) : is_blocked(k, &e->sample)))
		return false;
	d = descriptor_of(k, e->pid, number);
	if (!is_due(d, e->time_ns) || !may_read(k, e->time_ns) ||
	    !read_name(k, e->pid, d, e->time_ns))
		return false;
	if (!is_wake)
		set_thread_name(k, e);
	else if (!proc_thread_name(e->pid, e->tid, k->thread))
		return false;
	*named = *e;
	named->kind = EVENT_DESCRIPTOR;
	named->descriptor = (struct event_descriptor){
	        .number = number, .name = buf_text(&k->name), .thread_name = k->thread};
	if (!d->complete)
		add_unfinished(k, named);
	return true;
}

bool descriptor_keeper_sample(struct descriptor_keeper *k, const struct event *e, bool is_wake,
                              struct event *named)
{
	return k && (name_of_sample(k, e, is_wake, named) || finish_name(k, e, named));
}

void descriptor_keeper_account(const struct descriptor_keeper *k, struct account *account)
{
	uint64_t missing = k ? k->gone + k->denied : 0;
	struct buf text = {0};

	if (!missing)
		return;
	buf_addf(&text, "%" PRIu64 " %s on which threads waited %s no name: ", missing,
	         plural(missing, "descriptor", "descriptors"), plural(missing, "has", "have"));
	if (k->gone)
		buf_addf(&text, "for %" PRIu64 " the process had exited", k->gone);
	if (k->denied)
		buf_addf(&text, "%sfor %" PRIu64 " it may not be read", k->gone ? ", " : "",
		         k->denied);
	buf_putc(&text, '.');
	vec_push(&account->notes, xstrdup(buf_text(&text)));
	buf_done(&text);
}
