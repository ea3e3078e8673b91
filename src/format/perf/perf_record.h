/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_record: decodes one record of perf.data to one event.
 *
 *	perf_decoder_init, _add_attr for each attr, _seal
 *	_time and _decode for each record
 *	perf_decoder_done
 *
 * Records are untrusted and may have any address. The caller has checked that a record's size is
 * within memory. Pointers of an event refer to the record or the decoder, and are valid until the
 * next _decode. For format/perf_*.c, and for a recorder that decodes records in its rings. Uses:
 * base, event.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_RECORD_H
#define ASSAY_FORMAT_PERF_PERF_RECORD_H

#include "base/memory/buf.h"
#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "event/recording.h"
#include "event/tracepoint.h"

#include <linux/perf_event.h>

/* Fields of fixed size, in the order of a sample. */
enum perf_field {
	PERF_FIELD_IDENTIFIER,
	PERF_FIELD_IP,
	PERF_FIELD_TID,
	PERF_FIELD_TIME,
	PERF_FIELD_ADDR,
	PERF_FIELD_ID,
	PERF_FIELD_STREAM_ID,
	PERF_FIELD_CPU,
	PERF_FIELD_PERIOD,
	PERF_FIELDS
};

/* A number in the raw fields of a tracepoint; size 0: the field does not exist. */
struct perf_raw_field {
	uint16_t offset;
	uint8_t size;
	bool is_signed;
};

enum perf_scheduling_kind {
	PERF_SCHEDULING_NONE, /* another event */
	PERF_SCHEDULING_SWITCH,
	PERF_SCHEDULING_WAKE,
	PERF_SCHEDULING_WAKE_NEW,
};

/* The places of the fields of struct event_scheduling. */
struct perf_scheduling_layout {
	uint8_t kind; /* enum perf_scheduling_kind */
	struct perf_raw_field tid, own_tid, flags, state, target_cpu;
};

enum perf_system_call_kind {
	PERF_SYSTEM_CALL_NONE, /* another event */
	PERF_SYSTEM_CALL_ENTER,
	PERF_SYSTEM_CALL_EXIT,
};

/* The places of the fields of struct event_system_call. */
struct perf_system_call_layout {
	uint8_t kind; /* enum perf_system_call_kind */
	struct perf_raw_field number, argument, result;
};

enum perf_contention_kind {
	PERF_CONTENTION_NONE, /* another event */
	PERF_CONTENTION_BEGIN,
	PERF_CONTENTION_END,
};

/* The places of the fields of struct event_contention. */
struct perf_contention_layout {
	uint8_t kind; /* enum perf_contention_kind */
	struct perf_raw_field address, detail;
};

/* The places of fields in the records of an attr; 0: the field does not exist. */
struct perf_layout {
	uint64_t sample_type, read_format;
	uint64_t regs_user, regs_intr, branch_type;
	bool build_ids;            /* requested for maps */
	uint8_t at[PERF_FIELDS];   /* in a sample, from the record's start */
	uint8_t back[PERF_FIELDS]; /* in other records, from the record's end */
	uint8_t fixed_end;         /* of a sample's fields of fixed size */
	uint8_t trailer;           /* size of the sample_id, 0 without */
	uint8_t id_at, id_back;    /* of IDENTIFIER or ID */
	uint64_t period;           /* of samples without a period */
	struct perf_scheduling_layout scheduling;
	struct perf_system_call_layout system_call;
	struct perf_contention_layout contention;
};

typedef VEC(uint64_t) perf_words;

struct perf_decoder {
	VEC(struct perf_layout) layouts; /* one for each attr */
	VEC(struct {
		uint64_t id;
		uint16_t attr;
	})
	ids;
	struct id_table id_table;
	bool match_ids;    /* several attrs, and their records have ids */
	bool uniform_ids;  /* all records have their id at one place */
	bool uniform_time; /* all records have their time at one place */
	bool marks_execs;  /* COMM records of execs are marked */
	uint64_t last_id;
	uint16_t last_attr;
	perf_words chain, regs; /* aligned copies, where the record is not */
	struct buf text;        /* NUL-terminated copy, if the record has none */
};

enum perf_decoded {
	PERF_DECODED,
	PERF_DECODED_UNKNOWN, /* an unknown kind or event */
	PERF_DECODED_DAMAGED, /* fields extend beyond the record's end */
};

void perf_decoder_init(struct perf_decoder *d);
void perf_decoder_done(struct perf_decoder *d);
/* `ids`: count times 8 bytes, at any address. */
void perf_decoder_add_attr(struct perf_decoder *d, const struct perf_event_attr *attr,
                           const void *ids, size_t count);
/* Adds ids to an existing attr; known ids are unchanged. */
void perf_decoder_add_ids(struct perf_decoder *d, uint16_t attr, const void *ids, size_t count);
/*
 * The attr's samples have the fields of this tracepoint. Switches and wake-ups of threads
 * (sched:sched_switch, sched_waking, sched_wakeup, sched_wakeup_new) are decoded to
 * event_sample.scheduling, system calls (raw_syscalls:sys_enter, sys_exit) to
 * event_sample.system_call, and contended locks (lock:contention_begin, contention_end) to
 * event_sample.contention; other tracepoints are ignored.
 */
void perf_decoder_set_tracepoint(struct perf_decoder *d, uint16_t attr, const struct tracepoint *t);
void perf_decoder_seal(struct perf_decoder *d);

/*
 * The bytes of the record that the kernel wrote. If several events get a KSYMBOL, BPF_EVENT or
 * TEXT_POKE record (two recorders, for example), Linux adds the size of the trailer to the size of
 * the record for each of them: later ones end with old bytes of the ring. `size` for all others.
 */
size_t perf_decoder_written(struct perf_decoder *d, const uint8_t *record, size_t size);
/* The record's time, 0 if it has none. `record` has `bytes` >= 8 bytes. */
uint64_t perf_decoder_time(struct perf_decoder *d, const uint8_t *record, size_t bytes);
/*
 * Decodes consecutive records of a ring and passes their events to to->event. Damaged records are
 * skipped. -EINVAL: a record has an impossible size; or the error of the receiver.
 */
int perf_decoder_deliver(struct perf_decoder *d, const void *records, size_t bytes,
                         const struct event_sink *to, struct error *err);
enum perf_decoded perf_decoder_decode(struct perf_decoder *d, const uint8_t *record, size_t bytes,
                                      struct event *e);

/*
 * Copies a whole and aligned record without the unused part of its stack copy; returns the copy's
 * size. `into` has `size` bytes and may be the record. Texts of events decoded before remain valid.
 */
size_t perf_decoder_compact(struct perf_decoder *d, const uint8_t *record, size_t size,
                            uint8_t *into);

#endif
