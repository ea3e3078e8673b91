/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tags_collect_internal: shared by the files of tags_collect: tags_collect.c has the files and
 * their life cycle, tags_collect_names.c the names of tags, tags_collect_write.c writes packets to
 * streams. Uses: as tags_collect.h.
 */
#ifndef ASSAY_LAUNCH_TAGS_TAGS_COLLECT_INTERNAL_H
#define ASSAY_LAUNCH_TAGS_TAGS_COLLECT_INTERNAL_H

#include "base/memory/buf.h"
#include "format/ctf/ctf.h"
#include "source/runtime/runtime_owner.h"
#include "launch/tags/tags_collect.h"

struct collect_stream { /* one per ring */
	bool made, any;
	uint32_t number;    /* number in the writer */
	uint32_t blocked;   /* number of the pass in which an earlier packet waits */
	int32_t tid;        /* of its last packet */
	uint64_t sequence;  /* of its last packet */
	uint64_t end;       /* ticks: end of the written part */
	uint64_t discarded; /* count of the ring up to there */
	struct assay_tags_packet last;
};

struct collect_class {   /* a set of names */
	char *name;      /* name of the program */
	struct buf text; /* the text of the names at creation */
	struct tag_names *names;
	uint32_t number; /* number in the writer */
};

struct collect_tid { /* tid in the process's namespace, and `here` in assay's namespace; 0: not
	                found */
	int32_t tid, here;
};

struct collect_file {
	char *path;
	struct shared_name id;
	struct tag_rings *rings;
	bool watched; /* the file is removed when it has ended */
	bool ended;   /* its process or program has ended */
	bool listing; /* the rest is being read as a list */
	bool read;    /* all packets are waiting or written */
	bool done;    /* everything is written */
	uint64_t ended_ticks;
	int32_t here; /* pid of its process in this namespace; 0: the process had ended before the
	                 pid was read */
	bool several; /* several processes could have written it */
	VEC(struct collect_tid) tids; /* of a process in another PID namespace */
	bool has_class;
	uint32_t class;      /* set of names */
	uint64_t text_taken; /* bytes */
	VEC(struct collect_stream) streams;
	VEC(struct tag_rings_packet) waiting; /* each owns its words */
};

struct tags_collect {
	char *output;
	struct ctf_writer *writer; /* NULL: no process yet */
	VEC(struct collect_file *) files;
	VEC(struct shared_name) given_up;
	VEC(struct collect_class) classes;
	char *directory; /* NULL: none is watched */
	bool drain, compress;
	struct tags_switches *switches;
	uint64_t held_bytes;
	uint64_t looked_ns;          /* time of the last check of running processes */
	struct runtime_owners known; /* found in this step */
	uint32_t pass;
	/* Clock pairs: of this process; the earliest pair of the files. */
	struct assay_calls_moment first, from;
	double rate; /* ticks per ns, from the last clock pairs */
	struct tags_merged merged;
	struct tags_collect_result result;
};

/* Reads new names of a file; its class is chosen when it has names. */
void collect_names(struct tags_collect *c, struct collect_file *f);
void collect_names_done(struct tags_collect *c);

/* Ids in this PID namespace, as in the switches and for the user; unchanged if they are unknown
 * here. */
int32_t collect_pid(const struct collect_file *f, int32_t pid);
int32_t collect_tid(struct collect_file *f, int32_t tid);

/* Writes a packet; `whole`: it is the last of its stream. */
int collect_write(struct tags_collect *c, struct collect_file *f, struct tag_rings_packet *p,
                  struct error *err);
/* Writes the end of each stream: switches and lost events after its last packet. */
int collect_write_end(struct tags_collect *c, struct collect_file *f, struct error *err);
/* Writes the waiting packets for whose time all switches are known. */
int collect_write_waiting(struct tags_collect *c, struct collect_file *f, struct error *err);

void collect_note(struct tags_collect *c, char *note);

#endif
