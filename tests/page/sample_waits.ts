/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_waits: waits made by hand. `main` waits for a lock from 100 to 600 ns, which `worker` releases, and
 * runs from 650 ns on. `worker`, which main starts at 50 ns, runs from 80 to 200 ns, sleeps until 500 ns and
 * ends at 700 ns. The whole time has 1000 ns.
 */
import { BlobWriter, Varint } from "./blob_writer";

const TEXTS = [
	"", "prog", "main", "worker", "lock", "table_lock", "take", "worker in release", "worker", "unlock", "sleep", "nanosleep", "nap",
	"[interrupt]", "cpu", "start of the thread", "main", "other", "work_a", "work_b", "release", "/bin/prog",
];

export function sampleWaits(w: BlobWriter) {
	const t = (name: string) => TEXTS.indexOf(name);
	const column = (numbers: number[]) => w.varint(numbers.reduce((v, n) => v.put(n), new Varint()));
	const columns = (rows: Record<string, number>[]) => ({
		count: rows.length,
		...Object.fromEntries(Object.keys(rows[0]).map((key) => [key, column(rows.map((r) => r[key]))])),
	});
	const cause = (kind: string, name: string, more: object) => ({
		kind: t(kind), name: t(name), function: 0, by: 0, holder: 0, evidence: 0, waker: 0, node: 0, waker_node: 0, woken: 2, flags: 4, ...more,
	});
	const lane = (name: string, tid: number, end: number, waits: number) => ({
		process: t("prog"), name: t(name), label: t(name), pid: 2, tid: 2 * tid, process_id: 7, flags: 1, end, waits,
	});
	return {
		clock_ns: 5000, duration_ns: 1000, axis_ns: 0, process: 1, beyond: 0, left: 0, left_ns: 0, left_longest_ns: 0, left_kernel: 0,
		samples_of: 1, texts: w.texts(TEXTS),
		lanes: columns([lane("main", 1, 0, 1), lane("worker", 2, 701, 3)]),
		waits: columns([
			{ out: 100, blocked: 500, runnable: 50, cause: 0, instead: 0 },
			{ out: 50, blocked: 0, runnable: 30, cause: 2, instead: 0 },
			{ out: 120, blocked: 300, runnable: 0, cause: 1, instead: 0 },
			{ out: 200, blocked: 300, runnable: 0, cause: 3, instead: 0 },
		]),
		causes: columns([
			cause("lock", "table_lock", {
				function: t("take"), by: t("worker in release"), holder: t("worker"), evidence: t("unlock"), waker: 2, node: 1,
				waker_node: 2, flags: 7,
			}),
			cause("sleep", "nanosleep", { function: t("nap"), by: t("[interrupt]"), woken: 3 }),
			cause("cpu", "start of the thread", { waker: 1, by: t("main"), flags: 7 }),
			cause("other", "", { woken: 5, flags: 0 }),
		]),
		samples: columns([
			{ time: 700, lane: 0, function: t("work_a"), samples: 1, weight: 3 },
			{ time: 100, lane: 0, function: t("work_b"), samples: 1, weight: 2 },
		]),
		births: columns([{ time: 50, lane: 1, parent: 1, exec: 0 }]),
		functions: columns([
			{ name: 0, image: 0, kind: 0 }, { name: t("take"), image: t("/bin/prog"), kind: 1 },
			{ name: t("release"), image: t("/bin/prog"), kind: 1 },
		]),
		nodes: columns([{ parent: 0, function: 0 }, { parent: 1, function: 1 }, { parent: 2, function: 2 }]),
	};
}
