/* SPDX-License-Identifier: MIT */
/*
 * device: the capture device in memory. Threads get packets, triggers fill them, and full packets
 * are closed.
 *
 * The trigger itself is inline (assay/tags_wire.h); only rare events call functions of this file.
 * The state of a thread is one page. A fork clears it in the child, which therefore starts again.
 * The core is device.c and compiles freestanding. A kernel provides system.h, port_clock() of
 * "assay_port.h", and the functions at the end of this file. Times are ticks. Uses: include/assay,
 * system.h.
 */
#ifndef ASSAY_RUNTIME_TAGS_DEVICE_H
#define ASSAY_RUNTIME_TAGS_DEVICE_H

#include "assay/tags_wire.h"
#include "system.h"

#define TAGS_HIDDEN __attribute__((visibility("hidden")))
#define TAGS_EXPORT __attribute__((visibility("default")))

/* The mapped file. base is NULL until the file exists. A fork's child maps its own. */
struct tags_device {
	char *base;
	struct assay_tags_header *header;
	struct assay_tags_ring *rings;
	uint32_t *states;
	char *text, *packets;
};

extern struct tags_device tags_device TAGS_HIDDEN;

enum tags_refusal {
	TAGS_TAKES,   /* the thread has a packet, or may request one */
	TAGS_OFF,     /* capture was off at the last request */
	TAGS_FULL,    /* STOP: all packets are used; permanent */
	TAGS_WAITING, /* STREAM, WRAP: no packet was free at `refused` */
};

/* A thread's page. All zeros: the thread has had no event in this process. */
struct tags_thread {
	struct assay_tags_self self; /* must be first, since triggers use its fields */
	struct assay_tags_ring *ring;
	struct assay_tags_packet *packet; /* open; NULL: none */
	uint64_t refused;                 /* ticks */
	uint32_t refusal;                 /* enum tags_refusal */
	uint32_t gap;                     /* ASSAY_TAGS_GAP, _FORKED for its next packet */
	int32_t tid;
};

/* The running thread's state; &tags_unborn before its first event. Triggers load this pointer. */
extern __thread struct assay_tags_self *assay_tags_self
        __attribute__((tls_model("initial-exec"), visibility("default")));
extern struct assay_tags_self tags_unborn TAGS_HIDDEN;

/*
 * An event that the inline sequence could not store. `slot` is the address that it reserved, or 0.
 * The caller tries tags_quick() first. It uses no vector register, and returns true if nothing is
 * left to do. Otherwise the caller saves the vector registers and calls the slow function.
 */
bool tags_quick(uint32_t tag, uint64_t slot) TAGS_HIDDEN;
void tags_slow(uint32_t tag, uint64_t slot) TAGS_HIDDEN;

/* The thread ends: its packet is closed, and its ring becomes free. */
void tags_thread_end(void) TAGS_HIDDEN;

/* Functions that the environment provides in addition to system.h. */

/* A page for a new thread, as from port_memory_wiped(), or NULL. Signals are held. */
struct tags_thread *tags_port_thread(void) TAGS_HIDDEN;
/* Creates the process's own file in tags_device. False: it cannot be created. Signals are held. */
bool tags_port_begin(void) TAGS_HIDDEN;
/* True if another try is useless. Uses no vector register. */
bool tags_port_failed(void) TAGS_HIDDEN;
/* Allocates the pages of these bytes of the device for writing. False: no room. */
bool tags_port_populate(char *at, uint64_t bytes) TAGS_HIDDEN;
/*
 * Pauses for a moment, until the drainer may have freed a packet. False: the drainer has left, or
 * has not come for a long time.
 */
bool tags_port_wait(void) TAGS_HIDDEN;
/* The names of the running thread and of its process, 16 bytes each, 0-padded. */
void tags_port_names(char thread[16], char process[16]) TAGS_HIDDEN;
/* Called at some full packets: the port may update the header's clock. */
void tags_port_turned(void) TAGS_HIDDEN;

#endif
