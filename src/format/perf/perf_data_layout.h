/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_data_layout: the layout of a perf.data file on disk, for the reader and the writer. All
 * numbers have the byte order of the machine that recorded. Sizes and offsets are in bytes from the
 * start of the file.
 *
 * 	header (104 bytes) | ids | attrs | data | feature table | features
 *
 * Private to format/perf_*.c. Uses: base.
 */
#ifndef ASSAY_FORMAT_PERF_PERF_DATA_LAYOUT_H
#define ASSAY_FORMAT_PERF_PERF_DATA_LAYOUT_H

#include <assert.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PERF_DATA_MAGIC "PERFILE2"         /* on little-endian machines */
#define PERF_DATA_MAGIC_SWAPPED "2ELIFREP" /* on big-endian machines */
#define PERF_DATA_MAGIC_OLD "PERFFILE"
#define PERF_DATA_MAGIC_OLD_SWAPPED "ELIFFREP"

#define PERF_DATA_FEATURE_BITS 256

struct perf_data_section {
	uint64_t offset, size;
};

struct perf_data_header {
	char magic[8];
	uint64_t size;      /* of this header; 16 in a pipe, whose header ends after `size` */
	uint64_t attr_size; /* of one entry of attrs: perf_event_attr and a section */
	struct perf_data_section attrs, data, event_types;
	uint64_t features[PERF_DATA_FEATURE_BITS / 64];
};
static_assert(sizeof(struct perf_data_header) == 104, "perf.data header");

enum {
	PERF_DATA_PIPE_HEADER_SIZE = 16,
	PERF_DATA_STRING_ALIGN = 64, /* perf pads strings in features to a multiple of this */
	PERF_RECORD_HEADER_SIZE = sizeof(struct perf_event_header),
	PERF_RECORD_SIZE_MAX = 65528, /* 16 bits, 8-aligned */
};

/* Record types that perf's user side writes; perf_event.h has the kernel's types. */
enum {
	PERF_USER_ATTR = 64,
	PERF_USER_EVENT_TYPE = 65,
	PERF_USER_TRACING_DATA = 66,
	PERF_USER_BUILD_ID = 67,
	PERF_USER_FINISHED_ROUND = 68,
	PERF_USER_AUXTRACE = 71,
	PERF_USER_TIME_CONV = 79,
	PERF_USER_FEATURE = 80,
	PERF_USER_COMPRESSED = 81,
	PERF_USER_FINISHED_INIT = 82,
	PERF_USER_COMPRESSED2 = 83,
	PERF_USER_END = 96, /* reserves space for new kinds */
};

/* Feature sections that are read or written. */
enum {
	PERF_FEATURE_TRACING_DATA = 1,
	PERF_FEATURE_BUILD_ID = 2,
	PERF_FEATURE_HOSTNAME = 3,
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CPUDESC = 8,
	PERF_FEATURE_CMDLINE = 11,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_SAMPLE_TIME = 21,
	PERF_FEATURE_CLOCKID = 23,
	PERF_FEATURE_DIR_FORMAT = 24,
	PERF_FEATURE_COMPRESSED = 27,
	PERF_FEATURE_CLOCK_DATA = 29,
};

/*
 * Additions in assay's recordings, in places that other readers skip.
 *
 * The word of PERF_SAMPLE_TRANSACTION in a sample: the low byte is an enum stack_end, the next
 * three bytes mark it as assay's, and the upper half is the number of the outer stack with which
 * the chain continues.
 */
#define PERF_STACK_WORD_MASK UINT64_C(0xffffff00)
#define PERF_STACK_WORD_MARK UINT64_C(0x61736100)
/*
 * An outer stack is in a COMM record that repeats the thread's name. It follows the name and its
 * padding: this word, number and parent with 32 bits each, a count, addresses.
 */
#define PERF_OUTER_STACK_MARK UINT64_C(0x6b74537961737361) /* "assayStk" */
#define PERF_OUTER_STACK_FIXED 24
/*
 * The name of an open descriptor is in a COMM record too, after the same name and padding: this
 * word, the number of the descriptor with 64 bits, and its name, which ends with a zero byte.
 */
#define PERF_DESCRIPTOR_MARK UINT64_C(0x7344667961737361) /* "assayfDs" */
#define PERF_DESCRIPTOR_FIXED 16
/*
 * Labels of a process likewise: this word, 1 with 64 bits if they are those of all processes, else
 * 0, and the text, which ends with a zero byte. The record of all processes is that of pid 0.
 */
#define PERF_LABELS_MARK UINT64_C(0x736c624c79617361) /* "asayLbls" */
#define PERF_LABELS_FIXED 16

/* Newer than the oldest supported perf_event.h. */
#define PERF_MISC_MMAP_BUILD_ID (1 << 14)
/* assay's: the process of the trailer is in the cgroup. Other readers see a number and its path. */
#define PERF_MISC_CGROUP_MEMBER (1 << 13)
/* A record with the user's part of call chains: u64 cookie, u64 count, addresses. */
#define PERF_RECORD_CALLCHAIN_DEFERRED_TYPE 22
#define PERF_DEFERRED_FIXED 24
#define PERF_MISC_LOST_SAMPLES_FILTER (1 << 15) /* of perf record --filter with a BPF program */
#define PERF_MISC_BUILD_ID_SIZE (1 << 15)       /* in BUILD_ID records: data[20] is the size */

/* Records in a file may have any address: loads do not assume alignment. */
static inline uint64_t load_u64(const void *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t load_u32(const void *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint16_t load_u16(const void *p)
{
	uint16_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

#endif
