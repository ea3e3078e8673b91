/* SPDX-License-Identifier: MIT */
/*
 * device: the capture device in memory: packets handed out to threads, filled by
 * triggers, closed when they are full.
 *
 * What a trigger does is inline (assay/tags_wire.h); all that is rare comes here. A thread's
 * state is a page of its own, wiped in a fork's child, which begins anew by that. The core
 * is device.c, and compiles freestanding; a kernel gives system.h, "assay_port.h"'s
 * port_clock() and what stands at the end of this file. Times are ticks.
 * Uses: include/assay, system.h.
 */
#ifndef ASSAY_RUNTIME_TAGS_DEVICE_H
#define ASSAY_RUNTIME_TAGS_DEVICE_H

#include "assay/tags_wire.h"
#include "system.h"

#define TAGS_HIDDEN __attribute__((visibility("hidden")))
#define TAGS_EXPORT __attribute__((visibility("default")))

/* The file, mapped; base is NULL until there is one. A fork's child maps its own. */
struct tags_device {
	char *base;
	struct assay_tags_header *header;
	struct assay_tags_ring *rings;
	uint32_t *states;
	char *text, *packets;
};

extern struct tags_device tags_device TAGS_HIDDEN;

enum tags_refusal {
	TAGS_TAKES,   /* it has a packet, or may ask for one */
	TAGS_OFF,     /* capture was off */
	TAGS_FULL,    /* STOP: no packet is left, for good */
	TAGS_WAITING, /* STREAM, WRAP: none was free at `refused` */
};

/* A thread's page. Zeros: it has not begun, or not in this process. */
struct tags_thread {
	struct assay_tags_self self; /* first: what triggers touch */
	struct assay_tags_ring *ring;
	struct assay_tags_packet *packet; /* open; NULL: none */
	uint64_t refused;                 /* ticks */
	uint32_t refusal;                 /* enum tags_refusal */
	uint32_t gap;                     /* ASSAY_TAGS_GAP, _FORKED for its next packet */
	int32_t tid;
};

/* The running thread's; &tags_unborn before its first event. Triggers load it. */
extern __thread struct assay_tags_self *assay_tags_self
        __attribute__((tls_model("initial-exec"), visibility("default")));
extern struct assay_tags_self tags_unborn TAGS_HIDDEN;

/*
 * An event that the inline way could not take; `slot` is what it reserved, or 0. Vector
 * registers are saved, or tags_quick() has said no: it is tried first, touches none of them,
 * and says true if there is nothing more to do.
 */
bool tags_quick(uint32_t tag, uint64_t slot) TAGS_HIDDEN;
void tags_slow(uint32_t tag, uint64_t slot) TAGS_HIDDEN;

/* The thread ends: its packet is closed, its ring free for another one. */
void tags_thread_end(void) TAGS_HIDDEN;

/* What the system gives besides. */

/* A page for a thread that begins, as port_memory_wiped() has them; NULL. Signals are held. */
struct tags_thread *tags_port_thread(void) TAGS_HIDDEN;
/*
 * The process has a file of its own in tags_device from here on; false: there is none.
 * Signals are held.
 */
bool tags_port_begin(void) TAGS_HIDDEN;
/* There is no use in asking again. Touches no vector register. */
bool tags_port_failed(void) TAGS_HIDDEN;
/* Memory stands behind these bytes of the device, and may be written: false: no room. */
bool tags_port_populate(char *at, uint64_t bytes) TAGS_HIDDEN;
/* The names of the running thread and of its process, 16 bytes each, 0-padded. */
void tags_port_names(char thread[16], char process[16]) TAGS_HIDDEN;
/* Now and then, when a packet is full: the header's clock may be set right. */
void tags_port_turned(void) TAGS_HIDDEN;

#endif
