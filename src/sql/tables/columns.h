/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * columns: the public tables and their columns, in order. docs/SQL.md explains them. The views
 * of a store have the same names and columns. Constants. Any thread. Uses: no other room.
 */
#ifndef ASSAY_SQL_TABLES_COLUMNS_H
#define ASSAY_SQL_TABLES_COLUMNS_H

#include <stdbool.h>

/* clang-format off */
/*
 * One list per table, with one X() per column, in order: the name of the column's number in the
 * code, and the column's text in CREATE TABLE. The enums below and sql_columns[] are made from
 * these lists, so a number and a text cannot differ.
 */
#define SQL_HOSTS_COLUMNS(X) \
	X(HOSTS_ID, "id INTEGER") \
	X(HOSTS_NAME, "name TEXT") \
	X(HOSTS_RELEASE, "release TEXT") \
	X(HOSTS_ARCH, "arch TEXT") \
	X(HOSTS_CPU, "cpu TEXT") \
	X(HOSTS_CPUS, "cpus INTEGER")

#define SQL_SESSIONS_COLUMNS(X) \
	X(SESSIONS_ID, "id INTEGER") \
	X(SESSIONS_HOST, "host INTEGER") \
	X(SESSIONS_BOOT, "boot TEXT") \
	X(SESSIONS_START_NS, "start_ns INTEGER") \
	X(SESSIONS_END_NS, "end_ns INTEGER") \
	X(SESSIONS_ENDED, "ended TEXT") \
	X(SESSIONS_VERSION, "version TEXT") \
	X(SESSIONS_COMMAND, "command TEXT") \
	X(SESSIONS_EVENT, "event TEXT") \
	X(SESSIONS_FREQUENCY_HZ, "frequency_hz INTEGER") \
	X(SESSIONS_PERIOD_NS, "period_ns INTEGER") \
	X(SESSIONS_BUDGET, "budget REAL")

#define SQL_WINDOWS_COLUMNS(X) \
	X(WINDOWS_ID, "id INTEGER") \
	X(WINDOWS_SESSION, "session INTEGER") \
	X(WINDOWS_START_NS, "start_ns INTEGER") \
	X(WINDOWS_END_NS, "end_ns INTEGER") \
	X(WINDOWS_LEVEL, "level INTEGER") \
	X(WINDOWS_MERGED, "merged INTEGER") \
	X(WINDOWS_SAMPLES, "samples INTEGER") \
	X(WINDOWS_LOST_RECORDS, "lost_records INTEGER") \
	X(WINDOWS_OBSERVER_CPU_NS, "observer_cpu_ns INTEGER") \
	X(WINDOWS_PERIOD_NS, "period_ns INTEGER") \
	X(WINDOWS_UNOBSERVED_NS, "unobserved_ns INTEGER") \
	X(WINDOWS_SLOWED_BUDGET_NS, "slowed_budget_ns INTEGER") \
	X(WINDOWS_SLOWED_BEHIND_NS, "slowed_behind_ns INTEGER") \
	X(WINDOWS_TAKEN_OF_NS, "taken_of_ns INTEGER") \
	X(WINDOWS_TAKEN_NS, "taken_ns INTEGER") \
	X(WINDOWS_TAKEN_MOST, "taken_most REAL") \
	X(WINDOWS_OVER_BUDGET_NS, "over_budget_ns INTEGER") \
	X(WINDOWS_SAMPLE_COST_NS, "sample_cost_ns INTEGER")

#define SQL_LEDGER_COLUMNS(X) \
	X(LEDGER_WINDOW, "window INTEGER") \
	X(LEDGER_CPU, "cpu INTEGER") \
	X(LEDGER_WALL_NS, "wall_ns INTEGER") \
	X(LEDGER_BUSY_NS, "busy_ns INTEGER") \
	X(LEDGER_IDLE_NS, "idle_ns INTEGER") \
	X(LEDGER_UNKNOWN_NS, "unknown_ns INTEGER") \
	X(LEDGER_SWITCHES, "switches INTEGER") \
	X(LEDGER_PERIOD_NS, "period_ns INTEGER") \
	X(LEDGER_DUE_BUSY, "due_busy INTEGER") \
	X(LEDGER_DUE_IDLE, "due_idle INTEGER") \
	X(LEDGER_SEEN_BUSY, "seen_busy INTEGER") \
	X(LEDGER_SEEN_IDLE, "seen_idle INTEGER") \
	X(LEDGER_WEIGHT_BUSY_NS, "weight_busy_ns INTEGER") \
	X(LEDGER_WEIGHT_IDLE_NS, "weight_idle_ns INTEGER") \
	X(LEDGER_LOST, "lost INTEGER") \
	X(LEDGER_THROTTLED, "throttled INTEGER") \
	X(LEDGER_STEAL_NS, "steal_ns INTEGER") \
	X(LEDGER_HAS_SWITCHES, "has_switches INTEGER") \
	X(LEDGER_HAS_STEAL, "has_steal INTEGER")

#define SQL_BUFFERS_COLUMNS(X) \
	X(BUFFERS_WINDOW, "window INTEGER") \
	X(BUFFERS_CPU, "cpu INTEGER") \
	X(BUFFERS_RING_BYTES, "ring_bytes INTEGER") \
	X(BUFFERS_USED_MAX, "used_max INTEGER") \
	X(BUFFERS_USED_AVERAGE, "used_average INTEGER") \
	X(BUFFERS_LOST_RECORDS, "lost_records INTEGER")

#define SQL_GAPS_COLUMNS(X) \
	X(GAPS_ID, "id INTEGER") \
	X(GAPS_HOST, "host INTEGER") \
	X(GAPS_START_NS, "start_ns INTEGER") \
	X(GAPS_END_NS, "end_ns INTEGER") \
	X(GAPS_WHY, "why TEXT")

#define SQL_NOTES_COLUMNS(X) \
	X(NOTES_SESSION, "session INTEGER") \
	X(NOTES_NOTE, "note TEXT")

#define SQL_PROCESSES_COLUMNS(X) \
	X(PROCESSES_ID, "id INTEGER") \
	X(PROCESSES_HOST, "host INTEGER") \
	X(PROCESSES_NAME, "name TEXT") \
	X(PROCESSES_INSTANCE, "instance INTEGER") \
	X(PROCESSES_PID, "pid INTEGER") \
	X(PROCESSES_PARENT, "parent INTEGER") \
	X(PROCESSES_START_NS, "start_ns INTEGER") \
	X(PROCESSES_END_NS, "end_ns INTEGER") \
	X(PROCESSES_CGROUP, "cgroup TEXT") \
	X(PROCESSES_KERNEL, "kernel INTEGER") \
	X(PROCESSES_INSTANCES, "instances INTEGER") \
	X(PROCESSES_ONCPU_NS, "oncpu_ns INTEGER") \
	X(PROCESSES_RUNNABLE_NS, "runnable_ns INTEGER") \
	X(PROCESSES_BLOCKED_NS, "blocked_ns INTEGER") \
	X(PROCESSES_VERSION, "version TEXT") \
	X(PROCESSES_LABELS, "labels TEXT")

#define SQL_THREADS_COLUMNS(X) \
	X(THREADS_ID, "id INTEGER") \
	X(THREADS_PROCESS, "process INTEGER") \
	X(THREADS_TID, "tid INTEGER") \
	X(THREADS_NAME, "name TEXT") \
	X(THREADS_START_NS, "start_ns INTEGER") \
	X(THREADS_END_NS, "end_ns INTEGER")

#define SQL_IMAGES_COLUMNS(X) \
	X(IMAGES_ID, "id INTEGER") \
	X(IMAGES_PATH, "path TEXT") \
	X(IMAGES_NAME, "name TEXT") \
	X(IMAGES_KIND, "kind TEXT") \
	X(IMAGES_BUILD_ID, "build_id TEXT")

#define SQL_FUNCTIONS_COLUMNS(X) \
	X(FUNCTIONS_ID, "id INTEGER") \
	X(FUNCTIONS_IMAGE, "image INTEGER") \
	X(FUNCTIONS_NAME, "name TEXT")

#define SQL_FRAMES_COLUMNS(X) \
	X(FRAMES_ID, "id INTEGER") \
	X(FRAMES_IMAGE, "image INTEGER") \
	X(FRAMES_OFFSET, "offset INTEGER") \
	X(FRAMES_FUNCTION, "function INTEGER") \
	X(FRAMES_KERNEL, "kernel INTEGER") \
	X(FRAMES_CALLER, "caller INTEGER")

#define SQL_STACKS_COLUMNS(X) \
	X(STACKS_ID, "id INTEGER") \
	X(STACKS_PARENT, "parent INTEGER") \
	X(STACKS_FRAME, "frame INTEGER") \
	X(STACKS_DEPTH, "depth INTEGER")

#define SQL_INTERRUPTS_COLUMNS(X) \
	X(INTERRUPTS_STACK, "stack INTEGER")

#define SQL_KERNEL_RETURNS_COLUMNS(X) \
	X(KERNEL_RETURNS_STACK, "stack INTEGER")

/* A view in each kind of file. */
#define SQL_STACK_GROUPS_COLUMNS(X) \
	X(STACK_GROUPS_STACK, "stack INTEGER") \
	X(STACK_GROUPS_NAME, "name TEXT")

#define SQL_SAMPLES_COLUMNS(X) \
	X(SAMPLES_WINDOW, "window INTEGER") \
	X(SAMPLES_TIME_NS, "time_ns INTEGER") \
	X(SAMPLES_PROCESS, "process INTEGER") \
	X(SAMPLES_THREAD, "thread INTEGER") \
	X(SAMPLES_STACK, "stack INTEGER") \
	X(SAMPLES_CPU, "cpu INTEGER") \
	X(SAMPLES_MODE, "mode TEXT") \
	X(SAMPLES_EVENT, "event TEXT") \
	X(SAMPLES_REGION, "region INTEGER") \
	X(SAMPLES_STACK_END, "stack_end TEXT") \
	X(SAMPLES_SAMPLES, "samples INTEGER") \
	X(SAMPLES_WEIGHT, "weight INTEGER") \
	X(SAMPLES_RUNNABLE_NS, "runnable_ns INTEGER") \
	X(SAMPLES_BLOCKED_NS, "blocked_ns INTEGER")

#define SQL_WAITS_COLUMNS(X) \
	X(WAITS_ID, "id INTEGER") \
	X(WAITS_THREAD, "thread INTEGER") \
	X(WAITS_STACK, "stack INTEGER") \
	X(WAITS_WOKEN, "woken TEXT") \
	X(WAITS_WAKER, "waker INTEGER") \
	X(WAITS_WAKER_STACK, "waker_stack INTEGER") \
	X(WAITS_STATE, "state TEXT") \
	X(WAITS_ARGUMENT, "argument INTEGER") \
	X(WAITS_DESCRIPTOR, "descriptor TEXT") \
	X(WAITS_SINCE_START, "since_start INTEGER") \
	X(WAITS_WAITS, "waits INTEGER") \
	X(WAITS_BLOCKED_NS, "blocked_ns INTEGER") \
	X(WAITS_RUNNABLE_NS, "runnable_ns INTEGER") \
	X(WAITS_MAX_NS, "max_ns INTEGER") \
	X(WAITS_WINDOW, "window INTEGER") \
	X(WAITS_TIME_NS, "time_ns INTEGER") \
	X(WAITS_SERVICE, "service TEXT") \
	X(WAITS_PROGRAM, "program TEXT") \
	X(WAITS_WAITER, "waiter TEXT") \
	X(WAITS_KIND, "kind TEXT") \
	X(WAITS_NAME, "name TEXT") \
	X(WAITS_FUNCTION, "function TEXT") \
	X(WAITS_RELEASED_BY, "released_by TEXT") \
	X(WAITS_HOLDER, "holder TEXT") \
	X(WAITS_EVIDENCE, "evidence TEXT") \
	X(WAITS_DEVICE, "device TEXT") \
	X(WAITS_LOST_NS, "lost_ns INTEGER") \
	X(WAITS_NO_WAKER_NS, "no_waker_ns INTEGER") \
	X(WAITS_HISTOGRAM, "histogram TEXT")

#define SQL_CHANGES_COLUMNS(X) \
	X(CHANGES_HOST, "host TEXT") \
	X(CHANGES_SERVICE, "service TEXT") \
	X(CHANGES_FUNCTION, "function TEXT") \
	X(CHANGES_IMAGE, "image TEXT") \
	X(CHANGES_MODE, "mode TEXT") \
	X(CHANGES_TIME_NS, "time_ns INTEGER") \
	X(CHANGES_POINT_NS, "point_ns INTEGER") \
	X(CHANGES_FOUND_NS, "found_ns INTEGER") \
	X(CHANGES_VERDICT, "verdict TEXT") \
	X(CHANGES_BEFORE, "before REAL") \
	X(CHANGES_AFTER, "after REAL") \
	X(CHANGES_CHANGE, "change REAL") \
	X(CHANGES_LOW, "low REAL") \
	X(CHANGES_HIGH, "high REAL") \
	X(CHANGES_Q, "q REAL")

#define SQL_WAIT_TIMES_COLUMNS(X) \
	X(WAIT_TIMES_WINDOW, "window INTEGER") \
	X(WAIT_TIMES_TIME_NS, "time_ns INTEGER") \
	X(WAIT_TIMES_SERVICE, "service TEXT") \
	X(WAIT_TIMES_PROGRAM, "program TEXT") \
	X(WAIT_TIMES_THREADS, "threads INTEGER") \
	X(WAIT_TIMES_WALL_NS, "wall_ns INTEGER") \
	X(WAIT_TIMES_ONCPU_NS, "oncpu_ns INTEGER") \
	X(WAIT_TIMES_UNSEEN_NS, "unseen_ns INTEGER")

#define SQL_WAKINGS_COLUMNS(X) \
	X(WAKINGS_WOKEN, "woken TEXT") \
	X(WAKINGS_WAKER, "waker INTEGER") \
	X(WAKINGS_STACK, "stack INTEGER") \
	X(WAKINGS_WAITS, "waits INTEGER") \
	X(WAKINGS_BLOCKED_NS, "blocked_ns INTEGER") \
	X(WAKINGS_RUNNABLE_NS, "runnable_ns INTEGER") \
	X(WAKINGS_MAX_NS, "max_ns INTEGER")

#define SQL_WAIT_GRAPH_COLUMNS(X) \
	X(WAIT_GRAPH_THREAD, "thread INTEGER") \
	X(WAIT_GRAPH_WAKER, "waker INTEGER") \
	X(WAIT_GRAPH_WAITS, "waits INTEGER") \
	X(WAIT_GRAPH_BLOCKED_NS, "blocked_ns INTEGER") \
	X(WAIT_GRAPH_RUNNABLE_NS, "runnable_ns INTEGER") \
	X(WAIT_GRAPH_MAX_NS, "max_ns INTEGER")

#define SQL_CALLS_COLUMNS(X) \
	X(CALLS_ID, "id INTEGER") \
	X(CALLS_PARENT, "parent INTEGER") \
	X(CALLS_PROCESS, "process INTEGER") \
	X(CALLS_THREAD, "thread INTEGER") \
	X(CALLS_FUNCTION, "function INTEGER") \
	X(CALLS_IMAGE, "image INTEGER") \
	X(CALLS_DEPTH, "depth INTEGER") \
	X(CALLS_PATH, "path TEXT") \
	X(CALLS_CALLS, "calls INTEGER") \
	X(CALLS_NET_NS, "net_ns REAL") \
	X(CALLS_TOTAL_NS, "total_ns REAL") \
	X(CALLS_BLOCKED_NS, "blocked_ns REAL") \
	X(CALLS_PREEMPTED_NS, "preempted_ns REAL") \
	X(CALLS_MIN_NS, "min_ns REAL") \
	X(CALLS_MAX_NS, "max_ns REAL") \
	X(CALLS_P50_NS, "p50_ns REAL") \
	X(CALLS_P90_NS, "p90_ns REAL") \
	X(CALLS_P99_NS, "p99_ns REAL") \
	X(CALLS_TIMED_CALLS, "timed_calls INTEGER")

#define SQL_EVENTS_COLUMNS(X) \
	X(EVENTS_SEQ, "seq INTEGER") \
	X(EVENTS_TIME_NS, "time_ns INTEGER") \
	X(EVENTS_CPU, "cpu INTEGER") \
	X(EVENTS_PID, "pid INTEGER") \
	X(EVENTS_TID, "tid INTEGER") \
	X(EVENTS_KIND, "kind TEXT") \
	X(EVENTS_NAME, "name TEXT") \
	X(EVENTS_VALUE, "value INTEGER") \
	X(EVENTS_DETAIL, "detail TEXT") \
	X(EVENTS_FIELDS, "fields TEXT")

#define SQL_DIFF_COLUMNS(X) \
	X(DIFF_FUNCTION, "function TEXT") \
	X(DIFF_IMAGE, "image TEXT") \
	X(DIFF_A_SAMPLES, "a_samples INTEGER") \
	X(DIFF_B_SAMPLES, "b_samples INTEGER") \
	X(DIFF_A_SHARE, "a_share REAL") \
	X(DIFF_B_SHARE, "b_share REAL") \
	X(DIFF_CHANGE, "change REAL") \
	X(DIFF_RATIO, "ratio REAL") \
	X(DIFF_LOW, "low REAL") \
	X(DIFF_HIGH, "high REAL") \
	X(DIFF_Q, "q REAL") \
	X(DIFF_BEYOND_CHANCE, "beyond_chance INTEGER") \
	X(DIFF_A_FROM, "a_from INTEGER HIDDEN") \
	X(DIFF_A_TO, "a_to INTEGER HIDDEN") \
	X(DIFF_B_FROM, "b_from INTEGER HIDDEN") \
	X(DIFF_B_TO, "b_to INTEGER HIDDEN")

#define SQL_COLUMN_NUMBER(number, text) number,

/* Column numbers, from 0. Hidden columns (the arguments of a function) come last. */
enum { SQL_HOSTS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_SESSIONS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_WINDOWS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_LEDGER_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_BUFFERS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_GAPS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_NOTES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_PROCESSES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_THREADS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_IMAGES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_FUNCTIONS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_FRAMES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_STACKS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_INTERRUPTS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_KERNEL_RETURNS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_SAMPLES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_WAITS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_WAIT_TIMES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_CHANGES_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_WAKINGS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_WAIT_GRAPH_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_CALLS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_EVENTS_COLUMNS(SQL_COLUMN_NUMBER) };
enum { SQL_DIFF_COLUMNS(SQL_COLUMN_NUMBER) };
/* clang-format on */

struct sql_columns {
	const char *name;
	const char *columns; /* as in CREATE TABLE; the first is the key where it is `id` */
	const char *index;   /* columns that an exported table is indexed by; NULL: none */
	bool function;       /* a function with arguments, which is not exported as a table */
};

/* NULL name at the end. */
extern const struct sql_columns sql_columns[];

const struct sql_columns *sql_columns_find(const char *name); /* NULL: no public table */

#endif
