/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/perf/perf_data_layout.h"
#include "format/perf/perf_record_internal.h"

#include <errno.h>

static const uint64_t field_bits[PERF_FIELDS] = {
        [PERF_FIELD_IDENTIFIER] = PERF_SAMPLE_IDENTIFIER,
        [PERF_FIELD_IP] = PERF_SAMPLE_IP,
        [PERF_FIELD_TID] = PERF_SAMPLE_TID,
        [PERF_FIELD_TIME] = PERF_SAMPLE_TIME,
        [PERF_FIELD_ADDR] = PERF_SAMPLE_ADDR,
        [PERF_FIELD_ID] = PERF_SAMPLE_ID,
        [PERF_FIELD_STREAM_ID] = PERF_SAMPLE_STREAM_ID,
        [PERF_FIELD_CPU] = PERF_SAMPLE_CPU,
        [PERF_FIELD_PERIOD] = PERF_SAMPLE_PERIOD,
};

void perf_decoder_init(struct perf_decoder *d)
{
	memset(d, 0, sizeof(*d));
}

void perf_decoder_done(struct perf_decoder *d)
{
	vec_done(&d->layouts);
	vec_done(&d->ids);
	id_table_done(&d->id_table);
	vec_done(&d->chain);
	vec_done(&d->regs);
	buf_done(&d->text);
	perf_decoder_init(d);
}

static void lay_out(struct perf_layout *l, const struct perf_event_attr *attr)
{
	/* From the end of a record backwards. */
	static const enum perf_field trailer[] = {PERF_FIELD_IDENTIFIER, PERF_FIELD_CPU,
	                                          PERF_FIELD_STREAM_ID,  PERF_FIELD_ID,
	                                          PERF_FIELD_TIME,       PERF_FIELD_TID};

	*l = (struct perf_layout){.sample_type = attr->sample_type,
	                          .read_format = attr->read_format,
	                          .regs_user = attr->sample_regs_user,
	                          .regs_intr = attr->sample_regs_intr,
	                          .branch_type = attr->branch_sample_type,
	                          .build_ids = attr->build_id,
	                          .period = attr->freq ? 1 : attr->sample_period,
	                          .fixed_end = PERF_RECORD_HEADER_SIZE};
	for (size_t f = 0; f < PERF_FIELDS; f++) {
		if (!(attr->sample_type & field_bits[f]))
			continue;
		l->at[f] = l->fixed_end;
		l->fixed_end += sizeof(uint64_t);
	}
	for (size_t i = 0; attr->sample_id_all && i < sizeof(trailer) / sizeof(*trailer); i++) {
		if (!(attr->sample_type & field_bits[trailer[i]]))
			continue;
		l->trailer += sizeof(uint64_t);
		l->back[trailer[i]] = l->trailer;
	}
	l->id_at =
	        l->at[PERF_FIELD_IDENTIFIER] ? l->at[PERF_FIELD_IDENTIFIER] : l->at[PERF_FIELD_ID];
	l->id_back = l->back[PERF_FIELD_IDENTIFIER] ? l->back[PERF_FIELD_IDENTIFIER]
	                                            : l->back[PERF_FIELD_ID];
}

static bool id_equal(const void *ctx, uint32_t index, const void *key)
{
	const struct perf_decoder *d = ctx;

	return d->ids.items[index].id == *(const uint64_t *)key;
}

void perf_decoder_add_attr(struct perf_decoder *d, const struct perf_event_attr *attr,
                           const void *ids, size_t count)
{
	lay_out(vec_add(&d->layouts), attr);
	d->marks_execs |= attr->comm_exec;
	perf_decoder_add_ids(d, (uint16_t)(d->layouts.count - 1), ids, count);
}

void perf_decoder_add_ids(struct perf_decoder *d, uint16_t attr, const void *ids, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t id = load_u64((const uint8_t *)ids + i * sizeof(id));

		if (id_table_find(&d->id_table, hash_u64(id), id_equal, d, &id) != ID_NONE)
			continue;
		id_table_add(&d->id_table, hash_u64(id), d->ids.count);
		vec_add(&d->ids);
		vec_last(&d->ids)->id = id;
		vec_last(&d->ids)->attr = attr;
	}
}

void perf_decoder_seal(struct perf_decoder *d)
{
	const struct perf_layout *first = d->layouts.items;

	d->match_ids = false;
	d->uniform_ids = d->uniform_time = true;
	vec_each (l, &d->layouts) {
		d->match_ids |= d->layouts.count > 1 && l->id_at;
		if (l->id_at != first->id_at || l->id_back != first->id_back)
			d->uniform_ids = false;
		if (l->at[PERF_FIELD_TIME] != first->at[PERF_FIELD_TIME] ||
		    l->back[PERF_FIELD_TIME] != first->back[PERF_FIELD_TIME] ||
		    l->trailer != first->trailer)
			d->uniform_time = false;
	}
	d->last_attr = EVENT_NO_ATTR;
	if (d->ids.count) {
		d->last_id = d->ids.items[0].id;
		d->last_attr = d->ids.items[0].attr;
	}
}

static uint16_t attr_of_id(struct perf_decoder *d, uint64_t id)
{
	uint32_t index;

	if (id == d->last_id)
		return d->last_attr;
	index = id_table_find(&d->id_table, hash_u64(id), id_equal, d, &id);
	if (index == ID_NONE)
		return EVENT_NO_ATTR;
	d->last_id = id;
	d->last_attr = d->ids.items[index].attr;
	return d->last_attr;
}

/* The offset of the id in a record of that layout; 0: none. */
static size_t place_of_id(const struct perf_layout *l, bool sample, size_t size)
{
	if (sample)
		return size >= l->id_at + sizeof(uint64_t) ? l->id_at : 0;
	return l->id_back && size >= PERF_RECORD_HEADER_SIZE + (size_t)l->id_back
	               ? size - l->id_back
	               : 0;
}

/*
 * The attr of the event that made this record; if there is one attr, it made all records. The
 * layouts of the attrs may have the id at different places. Then each attr is tried: it made the
 * record if it has the id at its own place. If no attr has it, the attr without ids made the
 * record.
 */
static uint16_t attr_of(struct perf_decoder *d, const uint8_t *record, size_t size)
{
	bool sample = load_u32(record) == PERF_RECORD_SAMPLE;
	uint16_t without = EVENT_NO_ATTR;

	if (!d->match_ids)
		return 0;
	vec_each (l, &d->layouts) {
		size_t place = place_of_id(l, sample, size);
		uint16_t attr = place ? attr_of_id(d, load_u64(record + place)) : EVENT_NO_ATTR;

		if (d->uniform_ids)
			return attr;
		if (attr != EVENT_NO_ATTR &&
		    place_of_id(&d->layouts.items[attr], sample, size) == place)
			return attr;
		if (without == EVENT_NO_ATTR && !(sample ? l->id_at : l->id_back))
			without = (uint16_t)(l - d->layouts.items);
	}
	return without;
}

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

/* The bytes before the trailer of the records of perf_decoder_written(); 0: another record. */
static size_t body_size(const uint8_t *record, size_t size)
{
	enum { NAME = 24, BPF_BODY = 24, POKE_LENGTHS = 16 };
	const uint8_t *nul;

	switch (load_u32(record)) {
	case PERF_RECORD_KSYMBOL:
		nul = size > NAME ? memchr(record + NAME, '\0', size - NAME) : NULL;
		return nul ? padded((size_t)(nul + 1 - record)) : 0;
	case PERF_RECORD_BPF_EVENT:
		return BPF_BODY;
	case PERF_RECORD_TEXT_POKE:
		return size < POKE_LENGTHS + 4
		               ? 0
		               : POKE_LENGTHS + padded((size_t)4 + load_u16(record + POKE_LENGTHS) +
		                                       load_u16(record + POKE_LENGTHS + 2));
	default:
		return 0;
	}
}

size_t perf_decoder_written(struct perf_decoder *d, const uint8_t *record, size_t size)
{
	size_t body = body_size(record, size);

	if (!body)
		return size;
	vec_each (l, &d->layouts) {
		size_t whole = body + l->trailer;

		if (whole < size &&
		    (!d->match_ids ||
		     (l->id_back &&
		      attr_of_id(d, load_u64(record + whole - l->id_back)) != EVENT_NO_ATTR)))
			return whole;
	}
	return size;
}

uint64_t perf_decoder_time(struct perf_decoder *d, const uint8_t *record, size_t bytes)
{
	size_t size = perf_decoder_written(d, record, bytes);
	uint16_t attr = d->uniform_time ? 0 : attr_of(d, record, size);
	const struct perf_layout *l = &d->layouts.items[attr == EVENT_NO_ATTR ? 0 : attr];
	uint64_t time_ns = 0;

	if (load_u32(record) == PERF_RECORD_SAMPLE) {
		uint8_t at = l->at[PERF_FIELD_TIME];

		if (at && size >= at + sizeof(time_ns))
			time_ns = load_u64(record + at);
	} else if (l->back[PERF_FIELD_TIME] &&
	           size >= PERF_RECORD_HEADER_SIZE + (size_t)l->trailer) {
		time_ns = load_u64(record + size - l->back[PERF_FIELD_TIME]);
	}
	return time_ns == UINT64_MAX ? 0 : time_ns;
}

/* Text that is NUL-terminated within [p, end), or a NUL-terminated copy. */
static const char *text_in(struct perf_decoder *d, const uint8_t *p, const uint8_t *end)
{
	if (memchr(p, '\0', end - p))
		return (const char *)p;
	buf_clear(&d->text);
	buf_add(&d->text, p, end - p);
	return buf_text(&d->text);
}

static void decode_ids(const uint8_t *body, struct event *e)
{
	e->pid = (int32_t)load_u32(body);
	e->tid = (int32_t)load_u32(body + 4);
}

/*
 * Whether the record has a build-id instead of device and inode. If another
 * recorder asked for build-ids and gets the record first, the kernel leaves the
 * bit set in the record for this recorder too. So if the attr did not ask for
 * build-ids, only bytes that cannot be device numbers are a build-id.
 */
static bool has_build_id(const struct perf_layout *l, const uint8_t *b, uint16_t misc)
{
	if (!(misc & PERF_MISC_MMAP_BUILD_ID))
		return false;
	if (l->build_ids)
		return true;
	return b[32] <= BUILD_ID_MAX && !b[33] && !b[34] && !b[35] &&
	       (b[32] >= 16 || b[38] || b[39]);
}

static bool decode_mmap(struct perf_decoder *d, const struct perf_layout *l, const uint8_t *b,
                        const uint8_t *end, uint16_t misc, struct event *e)
{
	struct event_mmap *m = &e->mmap;
	size_t fixed = e->type == PERF_RECORD_MMAP2 ? 64 : 32;

	if ((size_t)(end - b) < fixed)
		return false;
	e->kind = EVENT_MMAP;
	decode_ids(b, e);
	*m = (struct event_mmap){.addr = load_u64(b + 8),
	                         .size = load_u64(b + 16),
	                         .pgoff = load_u64(b + 24),
	                         .executable = !(misc & PERF_RECORD_MISC_MMAP_DATA)};
	m->filename = text_in(d, b + fixed, end);
	if (e->type == PERF_RECORD_MMAP)
		return true;
	if (has_build_id(l, b, misc)) {
		m->build_id.size = b[32] <= BUILD_ID_MAX ? b[32] : 0;
		memcpy(m->build_id.bytes, b + 36, BUILD_ID_MAX);
	} else {
		m->major = load_u32(b + 32);
		m->minor = load_u32(b + 36);
		m->inode = load_u64(b + 40);
		m->inode_generation = load_u64(b + 48);
	}
	m->prot = load_u32(b + 56);
	m->flags = load_u32(b + 60);
	return true;
}

static bool decode_fork(const uint8_t *b, const uint8_t *end, struct event *e)
{
	if (end - b < 16)
		return false;
	e->kind = e->type == PERF_RECORD_FORK ? EVENT_FORK : EVENT_EXIT;
	e->pid = (int32_t)load_u32(b);
	e->fork.parent_pid = (int32_t)load_u32(b + 4);
	e->tid = (int32_t)load_u32(b + 8);
	e->fork.parent_tid = (int32_t)load_u32(b + 12);
	if (!e->time_ns && end - b >= 24)
		e->time_ns = load_u64(b + 16);
	return true;
}

static bool decode_switch(const uint8_t *b, const uint8_t *end, uint16_t misc, struct event *e)
{
	e->kind = EVENT_SWITCH;
	e->sched = (struct event_switch){
	        .out = misc & PERF_RECORD_MISC_SWITCH_OUT,
	        .preempted = misc & PERF_RECORD_MISC_SWITCH_OUT &&
	                     misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT,
	        .next_prev_pid = -1,
	        .next_prev_tid = -1,
	};
	if (e->type == PERF_RECORD_SWITCH)
		return true;
	if (end - b < 8)
		return false;
	e->sched.machine_wide = true;
	e->sched.next_prev_pid = (int32_t)load_u32(b);
	e->sched.next_prev_tid = (int32_t)load_u32(b + 4);
	return true;
}

/* A counter's value when its task exited. */
static bool decode_read(const uint8_t *b, const uint8_t *end, uint64_t format, struct event *e)
{
	const uint8_t *p = b + 8;

	if (end - b < 8 || !perf_skip_read(p, end, format) ||
	    (format & PERF_FORMAT_GROUP && end - p < 8))
		return false;
	e->kind = EVENT_READ;
	decode_ids(b, e);
	memset(&e->read, 0, sizeof(e->read));
	if (format & PERF_FORMAT_GROUP) {
		if (!load_u64(p))
			return true;
		p += 8;
	} else {
		e->read.value = load_u64(p);
		p += 8;
	}
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		e->read.enabled_ns = load_u64(p);
		p += 8;
	}
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING) {
		e->read.running_ns = load_u64(p);
		p += 8;
	}
	if (format & PERF_FORMAT_GROUP)
		e->read.value = load_u64(p);
	return true;
}

static bool decode_lost(const uint8_t *b, const uint8_t *end, uint16_t misc, struct event *e)
{
	bool samples = e->type == PERF_RECORD_LOST_SAMPLES;

	if (end - b < (samples ? 8 : 16))
		return false;
	e->lost.rejected = samples && misc & PERF_MISC_LOST_SAMPLES_FILTER;
	e->kind = e->lost.rejected ? EVENT_OTHER : EVENT_LOST;
	e->lost.samples = samples;
	e->lost.count = load_u64(samples ? b : b + 8);
	return true;
}

/*
 * The data after the name of a COMM record in assay's recordings; NULL: there is none. A mark and a
 * word follow each other.
 */
static const uint8_t *after_name(const uint8_t *b, const uint8_t *end)
{
	const uint8_t *nul = memchr(b + 8, '\0', end - b - 8);
	size_t name = nul ? (size_t)(nul - b) / 8 * 8 + 8 : 0;

	return nul && (size_t)(end - b) >= name + PERF_DESCRIPTOR_FIXED ? b + name : NULL;
}

/* *damaged: it is an outer stack and is truncated. */
static bool decode_outer_stack(struct perf_decoder *d, const uint8_t *b, const uint8_t *end,
                               struct event *e, bool *damaged)
{
	uint64_t count;

	*damaged = false;
	if (!b || end - b < PERF_OUTER_STACK_FIXED || load_u64(b) != PERF_OUTER_STACK_MARK)
		return false;
	count = load_u64(b + 16);
	*damaged = count > (size_t)(end - b - PERF_OUTER_STACK_FIXED) / sizeof(uint64_t);
	if (*damaged)
		return true;
	e->kind = EVENT_OUTER_STACK;
	e->outer_stack = (struct event_outer_stack){
	        .id = load_u32(b + 8),
	        .parent = load_u32(b + 12),
	        .count = (uint32_t)count,
	        .addresses = perf_words_at(&d->chain, b + PERF_OUTER_STACK_FIXED, count),
	};
	return true;
}

static bool decode_descriptor(struct perf_decoder *d, const uint8_t *b, const uint8_t *end,
                              struct event *e)
{
	uint64_t number;

	if (!b || load_u64(b) != PERF_DESCRIPTOR_MARK)
		return false;
	number = load_u64(b + 8);
	if (number > INT32_MAX)
		return false;
	e->kind = EVENT_DESCRIPTOR;
	e->descriptor = (struct event_descriptor){
	        .number = (uint32_t)number,
	        .name = text_in(d, b + PERF_DESCRIPTOR_FIXED, end),
	};
	return true;
}

static bool decode_labels(struct perf_decoder *d, const uint8_t *b, const uint8_t *end,
                          struct event *e)
{
	uint64_t all;

	if (!b || load_u64(b) != PERF_LABELS_MARK)
		return false;
	all = load_u64(b + 8);
	if (all > 1)
		return false;
	e->kind = EVENT_LABELS;
	e->labels = (struct event_labels){
	        .text = text_in(d, b + PERF_LABELS_FIXED, end),
	        .all = all,
	};
	return true;
}

static bool decode_comm(struct perf_decoder *d, const uint8_t *b, const uint8_t *end, uint16_t misc,
                        struct event *e)
{
	const uint8_t *more;
	bool damaged;

	if (end - b < 8)
		return false;
	decode_ids(b, e);
	more = after_name(b, end);
	if (decode_outer_stack(d, more, end, e, &damaged))
		return !damaged;
	if (decode_descriptor(d, more, end, e) || decode_labels(d, more, end, e))
		return true;
	e->kind = EVENT_COMM;
	e->comm.name = text_in(d, b + 8, end);
	e->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	e->comm.exec_unmarked = !d->marks_execs;
	return true;
}

static bool decode_cgroup(struct perf_decoder *d, const uint8_t *b, const uint8_t *end,
                          uint16_t misc, struct event *e)
{
	if (end - b < 8)
		return false;
	e->kind = EVENT_CGROUP;
	e->cgroup.id = load_u64(b);
	e->cgroup.path = text_in(d, b + 8, end);
	e->cgroup.member = misc & PERF_MISC_CGROUP_MEMBER;
	return true;
}

static bool decode_kernel_code(struct perf_decoder *d, const uint8_t *b, const uint8_t *end,
                               struct event *e)
{
	if (end - b < 16)
		return false;
	e->kind = EVENT_KERNEL_CODE;
	e->kernel_code = (struct event_kernel_code){
	        .address = load_u64(b),
	        .size = load_u32(b + 8),
	        .bpf = load_u16(b + 12) == PERF_RECORD_KSYMBOL_TYPE_BPF,
	        .ended = load_u16(b + 14) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER,
	        .name = text_in(d, b + 16, end),
	};
	return true;
}

/* The body is between the header and the trailer, [b, end). */
static bool decode_body(struct perf_decoder *d, const struct perf_layout *l, const uint8_t *b,
                        const uint8_t *end, uint16_t misc, struct event *e)
{
	switch (e->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return decode_mmap(d, l, b, end, misc, e);
	case PERF_RECORD_COMM:
		return decode_comm(d, b, end, misc, e);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		e->fork.fresh = misc & PERF_RECORD_MISC_FORK_EXEC;
		return decode_fork(b, end, e);
	case PERF_RECORD_CGROUP:
		return decode_cgroup(d, b, end, misc, e);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return decode_switch(b, end, misc, e);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return decode_lost(b, end, misc, e);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		e->kind = EVENT_THROTTLE;
		e->throttle.stopped = e->type == PERF_RECORD_THROTTLE;
		return true;
	case PERF_RECORD_KSYMBOL:
		return decode_kernel_code(d, b, end, e);
	case PERF_RECORD_READ:
		return decode_read(b, end, l->read_format, e);
	default:
		e->kind = EVENT_OTHER;
		return true;
	}
}

static enum cpu_mode mode_of_misc(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		return CPU_MODE_KERNEL;
	case PERF_RECORD_MISC_USER:
		return CPU_MODE_USER;
	case PERF_RECORD_MISC_HYPERVISOR:
		return CPU_MODE_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return CPU_MODE_GUEST;
	default:
		return CPU_MODE_UNKNOWN;
	}
}

static bool decode_trailer(const struct perf_layout *l, const uint8_t *record, size_t size,
                           struct event *e)
{
	const uint8_t *end = record + size;

	if (size < PERF_RECORD_HEADER_SIZE + (size_t)l->trailer)
		return false;
	if (l->back[PERF_FIELD_TID])
		decode_ids(end - l->back[PERF_FIELD_TID], e);
	if (l->back[PERF_FIELD_TIME])
		e->time_ns = load_u64(end - l->back[PERF_FIELD_TIME]);
	if (e->time_ns == UINT64_MAX)
		e->time_ns = 0;
	if (l->back[PERF_FIELD_CPU])
		e->cpu = load_u32(end - l->back[PERF_FIELD_CPU]);
	return true;
}

/* Later kernels may add kinds: the last known kind is 22 (deferred call chains). */
#define KERNEL_TYPE_LAST 22

enum perf_decoded perf_decoder_decode(struct perf_decoder *d, const uint8_t *record, size_t bytes,
                                      struct event *e)
{
	size_t size = perf_decoder_written(d, record, bytes);
	uint16_t misc = load_u16(record + 4);
	const struct perf_layout *l;

	e->type = load_u32(record);
	if (!e->type || e->type > KERNEL_TYPE_LAST)
		return PERF_DECODED_UNKNOWN;
	e->mode = mode_of_misc(misc);
	e->attr = attr_of(d, record, size);
	e->cpu = EVENT_NO_CPU;
	e->pid = e->tid = -1;
	e->time_ns = 0;
	if (e->type == PERF_RECORD_SAMPLE) {
		e->kind = EVENT_SAMPLE;
		return perf_decode_sample(d, record, size, e);
	}
	l = &d->layouts.items[e->attr == EVENT_NO_ATTR ? 0 : e->attr];
	if (!decode_trailer(l, record, size, e) ||
	    !decode_body(d, l, record + PERF_RECORD_HEADER_SIZE, record + size - l->trailer, misc,
	                 e))
		return PERF_DECODED_DAMAGED;
	return PERF_DECODED;
}

int perf_decoder_deliver(struct perf_decoder *d, const void *records, size_t bytes,
                         const struct event_sink *to, struct error *err)
{
	const uint8_t *at = records, *end = at + bytes;
	struct event e;
	int status = 0;

	while (!status && end - at >= PERF_RECORD_HEADER_SIZE) {
		size_t size = load_u16(at + 6);

		if (size < PERF_RECORD_HEADER_SIZE || size > (size_t)(end - at))
			return error_set(err, EINVAL, "a record from the ring has %zu bytes", size);
		if (perf_decoder_decode(d, at, size, &e) == PERF_DECODED)
			status = to->event(to->ctx, &e, err);
		at += size;
	}
	return status;
}
