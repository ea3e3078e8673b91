/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture: the memory of the device: one CTF stream for each vCPU, in the directory `out`.
 *
 * capture_open() creates the directory (0700) and its metadata, capture_event() records one event,
 * capture_close() completes the files. A packet is memory shared with its file, and its size is
 * correct after each event. So the trace is readable after QEMU was killed; only CAPTURE_WRAP keeps
 * its packets in private memory, and writes them when it is closed.
 *
 * capture_event() is called by the thread of its vCPU; capture_switch() by any thread.
 */
#ifndef ASSAY_DEVICE_CAPTURE_H
#define ASSAY_DEVICE_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#define CAPTURE_VCPUS_MAX 4096u

enum capture_mode { CAPTURE_STREAM, CAPTURE_FULL, CAPTURE_WRAP };

struct capture_options {
	const char *out;
	const char *names;   /* a names file; NULL: none */
	bool calls, samples; /* sources without tags; the names come from symbols.h */
	enum capture_mode mode;
	uint64_t memory; /* bytes of all packets; CAPTURE_STREAM: unused */
	bool system;     /* a machine: streams belong to CPUs; else to threads of one program */
	bool host_clock;
	uint32_t start_tag; /* capture starts at the first event with this tag; 0: at once */
	uint32_t end_tag;   /* capture stops before it, once it has started; 0: none */
	bool started;
};

struct capture_sums {
	uint64_t events, discarded;
	bool full;
};

/* Returns 0, or -1 after a message on standard error. `options` must remain valid. */
int capture_open(const struct capture_options *options);
void capture_event(unsigned vcpu, uint32_t tag, uint64_t time_ns);
/* Starts or stops. Calls that are open across a stop are marked as unknown. */
void capture_switch(bool on);
void capture_close(struct capture_sums *sums);

/* The tag of a name in a names file; 0: none. */
uint32_t capture_names_find(const char *path, const char *name);
/* Writes the trace's metadata to `fd`. Returns 0 or -1. */
int capture_metadata(int fd, const struct capture_options *options);

#endif
