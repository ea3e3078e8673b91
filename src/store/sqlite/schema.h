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
 *			process.serial, thread_base + struct thread.serial. ended NULL: the
 *			measurement runs, or its writer was killed; then the next session of the
 *			host sets it. writer: pid of the writer
 *	session_event	struct recording_attr of its events, by place; flags: SCHEMA_ATTR_*
 *	window		time ranges; process_first..process_last, thread_first.. are the ids that
 *			were new in the window (NULL: none). wall_offset_ns: wall clock minus clock
 * of the recording. period_ns of a merged window: of the mean rate window_rate	struct store_rate,
 * of windows with a reduced rate or a budget
 *	session_budget	struct store_budget, of sessions that had one
 *	session_note	sentences on what a session could not record or had to drop, by place
 *	ledger_cpu	struct ledger_cpu, one row per window and CPU
 *	buffer		struct store_buffer, one row per window and CPU
 *	gap		time without measurement, and the reason
 *	name		each text once: names of programs, threads, cgroups, files, functions,
 *			events
 *	instance	the last assigned instance number of a program name on a host
 *	process		instances of programs. start_ns NULL: started before the measurement;
 *			life_ns: end_ns - coalesce(start_ns, 0), NULL: not ended. cgroup, version,
 *			labels (struct process): names.
 *			The three times are sums over all windows so far
 *	thread		tid NULL: the first thread of the process; tid, name, start and end are
 *			those of the process, and all four columns are NULL
 *	image		kind: enum image_kind; build_id: blob, x'' unknown. A file, kernel or module
 *			is identified by build-id and path; without a build-id also by device and
 *			inode
 *	function	names of functions in an image
 *	frame		flags: SCHEMA_FRAME_*. offset: as in image.h, with exceptions that keep it
 *			valid after a reboot. IMAGE_KERNEL: address - image.base (_stext); if the
 *			base was unknown, the address itself, which is negative as an SQLite
 *			integer. IMAGE_JIT, IMAGE_NAME: name of the function << 32 | offset in the
 *			function. IMAGE_ANON, IMAGE_UNKNOWN: 0, since addresses have no later
 *			meaning. function NULL: no name yet, after `tries` requests
 *	stack		a frame, called from stack `parent`; parent 0: the outermost. The id of a
 *			parent is less than its child's
 *	event		names of events with their role (enum attr_role)
 *	sample		struct profile_row. cpu SCHEMA_CPU_UNKNOWN; region: image, 0 none;
 *			stack 0: no path
 *
 * Numbers of enum image_kind, profile_mode, stack_end and attr_role are stored in files: they never
 * change their meaning. Stateless. One thread. Uses: base, store/database.h.
 */
#ifndef ASSAY_STORE_SQLITE_SCHEMA_H
#define ASSAY_STORE_SQLITE_SCHEMA_H

#include "store/sqlite/database.h"

/*
 * Version 1 had no window_rate and no session_budget, version 2 no session_note, version 3 no
 * process.version and process.labels, version 4 no wait_cause, wait and wait_time.
 */
/* Time between windows that is a break: shorter ones are always there. And its reason, if no row of
 * `gap` has another. */
#define STORE_BREAK_NS 500000000
#define STORE_BREAK_WHY "no measurement ran"

#define STORE_VERSION 5
#define SCHEMA_PAGE_BYTES 4096

#define SCHEMA_CPU_UNKNOWN (-1)

/*
 * The time that row `s` of `sample` stands for. For idle time it is the idle time that the switch
 * records of its window and CPU measured, divided over the idle rows by their weights. A row
 * without samples is the only one of its window and CPU (profile_mark_unseen_idle()), or has no
 * weight after windows were merged. `session`: of the window.
 */
#define SCHEMA_WEIGHT(session)                                                                     \
	"CASE WHEN s.mode = 2 AND s.event = (SELECT x.event FROM session_event x"                  \
	" JOIN event y ON y.id = x.event WHERE x.session = " session " AND y.role = 0"             \
	" ORDER BY x.place LIMIT 1)"                                                               \
	" THEN coalesce((SELECT CASE WHEN l.weight_idle_ns > 0"                                    \
	" THEN CAST(1.0 * s.weight * l.idle_ns / l.weight_idle_ns AS INTEGER)"                     \
	" WHEN s.samples = 0 THEN l.idle_ns END FROM ledger_cpu l WHERE l.window = s.window"       \
	" AND l.cpu = s.cpu AND l.has_switches AND l.period_ns > 0), s.weight) ELSE s.weight END"

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
/* Creates the indexes that retention needs. */
int schema_create_indexes(struct database *d, struct error *err);
/* Upgrades a store of an earlier version. */
int schema_upgrade(struct database *d, int version, struct error *err);
/*
 * Refuses a file whose schema has more than the tables, indexes and views of a store: views in
 * place of tables, triggers, virtual tables, other columns, indexes of expressions, collations.
 * -EINVAL with a sentence. Views are not used (database.h), so their texts do not matter.
 */
int schema_check(struct database *d, struct error *err);
/*
 * For a read-only store: schema_check(); what an earlier version lacks is added as temporary tables
 * and views.
 */
int schema_stand_in(struct database *d, struct error *err);

#endif
