/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_cause: why a thread waited, from the functions of its path, and what is known about the
 * thread that ended the wait.
 *
 * Only names of functions decide (wait_rules.h); each frame is looked up once. Plain data;
 * wait_causes_init() / wait_causes_done(). The view must outlive it. Nothing fails. One thread.
 * Uses: base, profile, view.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_CAUSE_H
#define ASSAY_VIEW_WAITS_WAIT_CAUSE_H

#include "base/memory/intern.h"
#include "profile/waits/wait_log.h"
#include "view/view.h"
#include "view/waits/wait_rules.h"

/* What shows that the waker held the object. */
enum wait_evidence {
	EVIDENCE_NONE,
	EVIDENCE_UNLOCK,     /* it was in a function that only an owner may call */
	EVIDENCE_PI,         /* FUTEX_UNLOCK_PI: the kernel knew the owner */
	EVIDENCE_CONTENTION, /* the records of contended locks: it had got the lock */
};

struct wait_cause {
	enum wait_kind kind;
	enum wait_argument argument;
	const char *object; /* constant; NULL: no name but that of the argument */
	uint32_t call;  /* frame of the kernel's function that says what was called, or ID_NONE */
	uint32_t place; /* frame of the user's function that waits, outside of libraries' wrappers;
	                   ID_NONE: none */
	uint32_t lock;  /* of a lock of the kernel: the frame that takes it; ID_NONE */
	bool no_stack;  /* the path is not known */
};

struct wait_waker {
	bool is_thread; /* the thread did it: no interrupt did */
	enum wait_evidence evidence;
	uint32_t place; /* as in struct wait_cause */
};

/* The ends of the connections that have names (wait_peer.h). */
struct wait_peers {
	bool counted;
	struct intern addresses;
	VEC(uint32_t) connections; /* per address: descriptors that have it */
};

/* The functions that wait for locks without a name (wait_site.h). */
struct wait_sites {
	bool found;
	struct id_table index;
	VEC(struct wait_site) items;
};

struct wait_causes {
	struct view *view;
	bool no_addresses; /* names of objects have none */
	struct wait_peers peers;
	struct wait_sites sites;
	struct wait_frame_rules {
		bool sought;
		bool locking, wrapper;
		uint8_t release, releases; /* enum wait_release; enum wait_kind */
		uint8_t act;               /* enum wait_act */
		const struct wait_rule *rule;
	} * frames; /* per frame of the profile */
};

void wait_causes_init(struct wait_causes *c, struct view *v);
void wait_causes_done(struct wait_causes *c);

/* `descriptor`: the name of the descriptor that is the argument; NULL: not known. */
struct wait_cause wait_cause_of(struct wait_causes *c, const struct wait_key *key,
                                const char *descriptor);
/*
 * False: the name is that of another file, which has the number now. The recorder reads the names
 * some time after the wait.
 */
bool wait_descriptor_fits(enum wait_kind kind, const char *name);
/* Evidence depends on the cause of the wait that was ended. */
struct wait_waker wait_waker_of(struct wait_causes *c, const struct wait_key *key,
                                const struct wait_cause *cause);
/* What the waker did; of an interrupt, what it was. */
enum wait_act wait_act_of(struct wait_causes *c, const struct wait_key *key, bool is_thread);
void wait_peers_done(struct wait_peers *p);
void wait_sites_done(struct wait_sites *s);
const char *wait_evidence_name(enum wait_evidence evidence); /* NULL: none */
enum wait_evidence wait_evidence_parse(const char *name);    /* EVIDENCE_NONE: there is no such */

/*
 * The innermost frame of a path of a thread on the CPU, without the interrupts that it had to
 * handle and the switches at their end: its time on the CPU includes them. ID_NONE: none.
 */
uint32_t wait_path_leaf(struct wait_causes *c, uint32_t path);

/* True if the path is that of a thread at its end, which will not return. */
bool wait_path_is_exit(struct wait_causes *c, uint32_t path);

#endif
