/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sql/views.h"

#include "symbol/symbolizer.h"

#include <stddef.h>

/*
 * Samples of the main event, as in reports. Interrupts are a mode of their own and are counted for
 * no process (-1); `hit` is the process that an interrupt hit.
 */
#define IRQ "mode = 'kernel' AND stack IN (SELECT stack FROM interrupts)"
#define MAIN                                                                                       \
	" FROM (SELECT CASE WHEN " IRQ " THEN -1 ELSE process END AS process, "                    \
	"CASE WHEN " IRQ " THEN -1 ELSE thread END AS thread, "                                    \
	"CASE WHEN " IRQ " THEN 'irq' ELSE mode END AS mode, process AS hit, stack, cpu, "         \
	"time_ns, samples, weight FROM samples WHERE event IN (SELECT event FROM sessions))"
/* As in the JSON of a report, the interrupts are instance 1 with pid -1. */
#define NAME "CASE WHEN own.process = -1 THEN '[interrupts]' ELSE p.name END"
#define IDENTITY                                                                                   \
	"CASE WHEN own.process = -1 THEN 1 ELSE p.instance END AS instance, "                      \
	"CASE WHEN own.process = -1 THEN -1 ELSE p.pid END AS pid, "
/* The share of a row in the sum over all rows. */
#define SHARE "sum(weight) * 1.0 / nullif(sum(sum(weight)) OVER (), 0) AS share"
#define BY_MODE                                                                                    \
	"sum(CASE WHEN mode = 'user' THEN samples ELSE 0 END) AS user, "                           \
	"sum(CASE WHEN mode IN ('kernel', 'irq') THEN samples ELSE 0 END) AS kernel, "             \
	"sum(CASE WHEN mode = 'idle' THEN samples ELSE 0 END) AS idle"

const struct sql_view sql_views[] = {
        {"by_application",
         "WITH own AS (SELECT process, sum(samples) AS samples, " BY_MODE
         ", sum(weight) AS weight" MAIN " GROUP BY process) "
         "SELECT " NAME
         " AS name, coalesce(sum(p.instances), 1) AS instances, sum(samples) AS samples, "
         "sum(user) AS user, sum(own.kernel) AS kernel, sum(idle) AS idle, "
         "sum(weight) AS weight_ns, " SHARE " FROM own LEFT JOIN processes p "
         "ON p.id = own.process GROUP BY 1 ORDER BY weight_ns DESC, name"},
        {"by_application_address",
         "WITH own AS (SELECT process, stack, sum(samples) AS samples, "
         "sum(weight) AS weight" MAIN " GROUP BY process, stack), "
         "placed AS (SELECT " NAME " AS name, coalesce(f.image, 0) AS image, f.offset AS offset, "
         "f.function AS function, sum(samples) AS samples, sum(weight) AS weight FROM own "
         "LEFT JOIN processes p ON p.id = own.process "
         "LEFT JOIN stacks s ON s.id = own.stack LEFT JOIN frames f ON f.id = s.frame "
         "GROUP BY 1, f.image, f.offset, f.function) "
         "SELECT placed.name AS name, i.path AS image, offset, "
         "coalesce(n.name, '" SYMBOL_UNNAMED "') AS function, sum(samples) AS samples, " SHARE
         " FROM placed LEFT JOIN images i ON i.id = placed.image "
         "LEFT JOIN functions n ON n.id = placed.function "
         "GROUP BY placed.name, placed.image, offset, function "
         "ORDER BY sum(weight) DESC, name, offset"},
        {"by_function",
         "WITH own AS (SELECT stack, sum(samples) AS samples, sum(weight) AS weight" MAIN
         " GROUP BY stack), "
         "placed AS (SELECT f.function AS function, "
         "CASE WHEN f.function IS NULL THEN f.image END AS image, "
         "sum(samples) AS samples, sum(weight) AS weight FROM own "
         "LEFT JOIN stacks s ON s.id = own.stack LEFT JOIN frames f ON f.id = s.frame "
         "GROUP BY 1, 2) "
         "SELECT coalesce(n.name, '" SYMBOL_UNNAMED "') AS function, i.name AS image, "
         "sum(samples) AS samples, sum(weight) AS weight_ns, " SHARE
         " FROM placed LEFT JOIN functions n ON n.id = placed.function "
         "LEFT JOIN images i ON i.id = coalesce(n.image, placed.image) "
         "GROUP BY placed.function, placed.image ORDER BY weight_ns DESC, function"},
        {"by_group",
         "WITH own AS (SELECT stack, sum(samples) AS samples, sum(weight) AS weight" MAIN
         " GROUP BY stack) "
         "SELECT coalesce(g.name, '[other]') AS name, sum(samples) AS samples, "
         "sum(weight) AS weight_ns, " SHARE
         " FROM own LEFT JOIN stack_groups g ON g.stack = own.stack "
         "GROUP BY 1 ORDER BY weight_ns DESC, name"},
        {"by_process",
         "WITH counted AS (SELECT process, sum(samples) AS samples, " BY_MODE
         ", sum(weight) AS weight_ns, " SHARE MAIN " GROUP BY process), "
         "hits AS (SELECT hit, sum(samples) AS interrupts" MAIN " WHERE mode = 'irq' "
         "GROUP BY hit), "
         "own AS (SELECT * FROM counted UNION ALL SELECT hit, 0, 0, 0, 0, 0, 0 FROM hits "
         "WHERE hit NOT IN (SELECT process FROM counted)) "
         "SELECT p.id AS id, " NAME " AS name, " IDENTITY
         "p.start_ns AS start_ns, p.end_ns AS end_ns, p.cgroup AS cgroup, samples, user, "
         "own.kernel AS kernel, idle, coalesce(interrupts, 0) AS interrupts, weight_ns, "
         "share, p.oncpu_ns AS oncpu_ns, "
         "p.runnable_ns AS runnable_ns, p.blocked_ns AS blocked_ns "
         "FROM own LEFT JOIN processes p ON p.id = own.process "
         "LEFT JOIN hits ON hits.hit = own.process ORDER BY weight_ns DESC, p.id"},
        {"by_thread",
         "WITH own AS (SELECT process, thread, sum(samples) AS samples, " BY_MODE
         ", sum(weight) AS weight_ns, " SHARE MAIN " GROUP BY process, thread) "
         "SELECT t.id AS id, " NAME " AS process, " IDENTITY
         "CASE WHEN own.process = -1 THEN -1 ELSE t.tid END AS tid, t.name AS name, samples, "
         "user, own.kernel AS kernel, idle, weight_ns, share "
         "FROM own LEFT JOIN threads t ON t.id = own.thread "
         "LEFT JOIN processes p ON p.id = own.process ORDER BY weight_ns DESC, t.id"},
        {"by_cpu", "SELECT cpu, sum(samples) AS samples, " BY_MODE
                   ", sum(weight) AS weight_ns, " SHARE MAIN " GROUP BY cpu ORDER BY cpu"},
        {"by_mode", "SELECT mode, sum(samples) AS samples, sum(weight) AS weight_ns, " SHARE MAIN
                    " GROUP BY mode ORDER BY weight_ns DESC, mode"},
        /* Unobserved time, as in the account of a report: ticks that were due while busy and did
         * not come, less stolen time. Only stores have a ledger per window. */
        {"by_minute",
         "WITH own AS (SELECT time_ns / 60000000000 AS minute, sum(samples) AS samples, "
         "sum(CASE WHEN mode = 'idle' THEN 0 ELSE samples END) AS busy, "
         "sum(CASE WHEN mode = 'idle' THEN samples ELSE 0 END) AS idle" MAIN " GROUP BY 1), "
         "seen AS (SELECT start_ns / 60000000000 AS minute, sum(unobserved_ns) AS paused_ns "
         "FROM windows GROUP BY 1), "
         "busy AS (SELECT w.start_ns / 60000000000 AS minute, "
         "(l.due_busy - l.seen_busy) * l.period_ns AS ns, coalesce(l.steal_ns, 0) AS steal_ns "
         "FROM ledger l JOIN windows w ON w.id = l.window WHERE l.has_switches AND l.period_ns), "
         "missed AS (SELECT minute, sum(ns - min(max(ns, 0), steal_ns)) AS missed_ns FROM busy "
         "GROUP BY 1) "
         "SELECT strftime('%Y-%m-%d %H:%M', seen.minute * 60, 'unixepoch', 'localtime') "
         "AS minute, seen.minute * 60000000000 AS time_ns, coalesce(samples, 0) AS samples, "
         "coalesce(busy, 0) AS busy, coalesce(idle, 0) AS idle, "
         "CASE WHEN missed_ns IS NULL THEN paused_ns ELSE missed_ns + coalesce(paused_ns, 0) "
         "END AS unobserved_ns FROM seen LEFT JOIN own ON own.minute = seen.minute "
         "LEFT JOIN missed ON missed.minute = seen.minute ORDER BY seen.minute"},
        {"by_cgroup",
         "WITH own AS (SELECT process, sum(samples) AS samples, " BY_MODE
         ", sum(weight) AS weight" MAIN " GROUP BY process) "
         "SELECT CASE WHEN own.process = -1 THEN '[interrupts]' ELSE p.cgroup END AS cgroup, "
         "sum(p.instances) AS processes, sum(samples) AS samples, "
         "sum(user) AS user, sum(own.kernel) AS kernel, sum(idle) AS idle, "
         "sum(weight) AS weight_ns, " SHARE " FROM own LEFT JOIN processes p "
         "ON p.id = own.process GROUP BY 1 ORDER BY weight_ns DESC, cgroup"},
        {NULL, NULL},
};
