/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * schema: the tables of a store, and the public views on them.
 *
 * Physical tables have singular names and may change with STORE_VERSION. The views have the
 * public names and columns of docs/SQL.md. Contents of the tables:
 *
 *	property	key, value: properties of the store
 *	host		machines; `name` is unique
 *	session		measurements. Ids in process and thread are process_base + struct
 *			process.serial, thread_base + struct thread.serial. ended NULL: under way,
 *			or its writer was killed; the next one of that host closes it. writer: its
 *			pid
 *	session_event	struct recording_attr of its events, by place; flags: SCHEMA_ATTR_*
 *	window		stretches of time; process_first..process_last, thread_first.. are the
 *			ids that were new in it (NULL: none). wall_less_ns: wall's clock minus the
 *			recording's, in it. period_ns of merged ones: of their mean rate
 *	window_rate	struct store_rate, of windows where it says something
 *	session_budget	struct store_budget, of sessions that had one
 *	session_note	sentences on what a session could not record or had to drop, by place
 *	ledger_cpu	struct ledger_cpu, a row a window and CPU
 *	buffer		struct store_buffer, a row a window and CPU
 *	gap		time without measurement, and the reason
 *	name		each text once: names of programs, threads, cgroups, files, functions,
 *events instance	by host and program's name: the last instance number given, ever process
 *instances of programs. start_ns NULL: was there before; life_ns: end_ns - coalesce(start_ns, 0),
 *NULL: not ended. cgroup: name. The three times are sums over all windows so far thread
 *tid NULL: the process's first thread, whose tid, name, start and end are the process's; all four
 *columns are NULL then image		kind: enum image_kind; build_id: blob, x'' unknown. File,
 *kernel, module: told apart by it and the path, files without one by device and inode too function
 *names in an image
 *	frame		flags: SCHEMA_FRAME_*; offset as in image.h but for these, so that a place
 *			stays the same after a reboot: IMAGE_KERNEL: address - image.base (its
 *			_stext), or where that was not known the address itself, which is negative
 *			as SQLite has it; IMAGE_JIT, IMAGE_NAME: function's name << 32 | offset in
 *			the function; IMAGE_ANON, IMAGE_UNKNOWN: 0, an address says nothing later.
 *			function NULL: no name so far, asked `tries` times
 *	stack		a frame, called from stack `parent`; parent 0: the outermost. A parent's id
 *			is less than its child's
 *	event		names of events with their role (enum attr_role)
 *	sample		struct profile_row. cpu SCHEMA_CPU_UNKNOWN; region: image, 0 none;
 *			stack 0: no path
 *
 * Numbers of enum image_kind, profile_mode, stack_end and attr_role stand in files: they never
 * change their meaning. Nothing is held. One thread. Uses: base, store/database.h.
 */
#ifndef ASSAY_STORE_SCHEMA_H
#define ASSAY_STORE_SCHEMA_H

#include "store/database.h"

/* 1: without window_rate and session_budget; 2: without session_note */
#define STORE_VERSION 3
#define SCHEMA_PAGE_BYTES 4096

#define SCHEMA_CPU_UNKNOWN (-1)

enum schema_frame_flags { SCHEMA_FRAME_KERNEL = 1, SCHEMA_FRAME_CALLER = 2 };

enum schema_attr_flags {
	SCHEMA_ATTR_EXCLUDE_KERNEL = 1,
	SCHEMA_ATTR_EXCLUDE_USER = 2,
	SCHEMA_ATTR_EXCLUDE_IDLE = 4,
	SCHEMA_ATTR_INHERIT = 8,
	SCHEMA_ATTR_CONTEXT_SWITCH = 16,
	SCHEMA_ATTR_CALLCHAIN = 32,
	SCHEMA_ATTR_USER_CALLCHAIN = 64,
	SCHEMA_ATTR_STACK_COPIES = 128,
};

/*
 * Checks the first bytes of a file, without SQLite. 0: a store of a known version. -ENODATA: empty;
 * -EINVAL: not a store; -EPROTO: a later version. *version is set if the file is a store. Do not
 * call it for a file that this process has open in SQLite: closing any descriptor of the file
 * releases the locks of SQLite.
 */
int schema_recognise(const char *path, int *version, struct error *err);

/*
 * Creates the tables and views in an empty database that is open for writing. A database in memory
 * is enough for a caller that needs only the schema.
 */
int schema_create(struct database *d, struct error *err);
/* Upgrades a store of an earlier version. */
int schema_upgrade(struct database *d, int version, struct error *err);
/* For a read-only store of an earlier version: adds its missing tables as empty temporary ones. */
int schema_stand_in(struct database *d, struct error *err);

#endif
