/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_collect_internal: what the parts of tags_collect share: tags_collect.c has files
 * and their life, tags_collect_names.c what their tags are called, tags_collect_write.c
 * the way of a packet into its stream. Uses: as tags_collect.h.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_COLLECT_INTERNAL_H
#define ASSAY_LAUNCH_TAGS_TAGS_COLLECT_INTERNAL_H

#include "base/memory/buf.h"
#include "format/ctf/ctf.h"
#include "source/runtime/runtime_owner.h"
#include "launch/tags/tags_collect.h"

struct collect_stream { /* of a ring */
	bool made, any;
	uint32_t number;    /* the writer's */
	uint32_t blocked;   /* in the pass of that number an earlier packet waits */
	int32_t tid;        /* of its last packet */
	uint64_t sequence;  /* of its last packet */
	uint64_t end;       /* ticks: up to here it is written */
	uint64_t discarded; /* up to there, by the ring's count */
	struct assay_tags_packet last;
};

struct collect_class {   /* of names */
	char *name;      /* the program's */
	struct buf text; /* as it was when it was made */
	struct tag_names *names;
	uint32_t number; /* the writer's */
};

struct collect_tid { /* in the process's namespace, and in ours; here 0: not found */
	int32_t tid, here;
};

struct collect_file {
	char *path;
	struct shared_name id;
	struct tag_rings *rings;
	bool watched; /* it is removed when it has ended */
	bool ended;   /* its process, or program */
	bool listing; /* what is left is being read, and nothing drained any more */
	bool read;    /* all that is there waits, or is written */
	bool done;    /* all of it is written */
	uint64_t ended_ticks;
	int32_t here; /* its process's id in our PID namespace; 0: it had ended before we looked */
	bool several; /* which of the processes of that name wrote it was not known once */
	VEC(struct collect_tid) tids; /* of a process in another PID namespace */
	bool has_class;
	uint32_t class;      /* of names */
	uint64_t text_taken; /* bytes */
	VEC(struct collect_stream) streams;
	VEC(struct tag_rings_packet) waiting; /* words: their own */
};

struct tags_collect {
	char *output;
	struct ctf_writer *writer; /* NULL: there is no process yet */
	VEC(struct collect_file *) files;
	VEC(struct shared_name) given_up;
	VEC(struct collect_class) classes;
	char *directory; /* NULL: none is watched */
	bool drain;
	struct tags_switches *switches;
	uint64_t held_bytes;
	uint64_t looked_ns;          /* at who runs, the last time */
	struct runtime_owners known; /* in this step */
	uint32_t pass;
	struct assay_calls_moment first, from; /* ours; the earliest of the files' */
	double rate;                           /* ticks a ns, by the last moments */
	struct tags_merged merged;
	struct tags_collect_result result;
};

/* Names that it has written since; where there are none yet, its class is not chosen. */
void collect_names(struct tags_collect *c, struct collect_file *f);
void collect_names_done(struct tags_collect *c);

/* Ids in our PID namespace, where the switches and the user see them; as they are, if they have
 * none here that is known. */
int32_t collect_pid(const struct collect_file *f, int32_t pid);
int32_t collect_tid(struct collect_file *f, int32_t tid);

/* Writes a packet; `whole`: it is the last of its stream. */
int collect_write(struct tags_collect *c, struct collect_file *f, struct tag_rings_packet *p,
                  struct error *err);
/* What is to be told behind the last packet of each stream: switches, and what was lost. */
int collect_write_end(struct tags_collect *c, struct collect_file *f, struct error *err);
/* Those that may be written now: before them all switches are known. */
int collect_write_waiting(struct tags_collect *c, struct collect_file *f, struct error *err);

void collect_note(struct tags_collect *c, char *note);

#endif
