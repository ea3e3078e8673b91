/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_path: the chain of on-CPU times and waits that decided the elapsed time of a thread in a range,
 * as src/profile/waits/critical_path.c finds it, and its sums as src/view/waits/wait_path.c makes
 * them. tests/e2e/test_page_waits compares both on recordings.
 *
 * A range [from, to) has the waits that a report on this time has: they are cut at its ends, a wait
 * that has not ended at its end has no waker, and threads that began before it have no parents.
 */
import { Stretch } from "./selection";
import { Birth, CAUSE_FOLLOWED, inAt, Waits, WaitLane, waitAfter, WOKEN_NOT_SEEN, WOKEN_OPEN, wokenAt } from "./waits";

export type SegmentKind = "on_cpu" | "runnable" | "blocked" | "unknown";

export interface Segment {
	from: number;
	to: number;
	lane: number;
	wait: number; /* -1: on CPU, unknown */
	kind: SegmentKind;
}

export interface PathRow {
	kind: string; /* of a wait: its cause; else on_cpu, runnable, unknown */
	thread: string;
	name: string;
	func: string;
	ns: number;
	count: number; /* samples if on CPU, else waits */
	saves: number; /* with 10 % less of it; NaN: it is no work and no wait */
}

export interface WaitPath {
	lane: number;
	from: number;
	to: number;
	segments: Segment[]; /* in the order of time */
	rows: PathRow[]; /* largest first */
}

const JUMPS_MOST = 64, FASTER = 10;

class Finder {
	readonly segments: Segment[] = [];
	private readonly sampled = new Set<number>();
	private time = 0;
	private lane = 0;
	private jumpedAt = -1;
	private jumps = 0;

	constructor(private readonly w: Waits, private readonly s: Stretch) {
		const { time, lane } = w.samples;
		for (let i = sampleAt(w, s.from); i < time.length && time[i] < s.to; i++)
			this.sampled.add(lane[i]);
	}

	/* The last wait of the lane that began before a moment and is in the range; -1: none. */
	private lastWait(lane: WaitLane, ns: number): number {
		const { w, s } = this;
		let low = lane.first, high = lane.end;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (Math.max(w.out[middle], s.from) < ns)
				low = middle + 1;
			else
				high = middle;
		}
		return low > lane.first && inAt(w, low - 1) >= s.from ? low - 1 : -1;
	}

	/* Whether a thread without waits in the range ran in it: it has a sample, or was switched in before. */
	private ran(lane: WaitLane): boolean {
		return this.sampled.has(lane.id) || waitAfter(this.w, lane, this.s.from) > lane.first;
	}

	/* The last time at which the thread was on a CPU; -1: it did not run. */
	private lastRun(lane: WaitLane): number {
		const end = Math.min(lane.endNs, this.s.to), i = this.lastWait(lane, end);
		if (i < 0)
			return this.ran(lane) ? end : -1;
		const out = Math.max(this.w.out[i], this.s.from);
		return Math.min(inAt(this.w, i), this.s.to) < end ? end : out > this.s.from ? out : -1;
	}

	/* The lane in which the path of a process ends: of its thread that ran last; -1: none ran. */
	lastLane(pid: number): number {
		let found = -1;
		for (const main of this.w.lanes) {
			if (main.pid !== pid || main.tid !== pid)
				continue;
			let last = -1, latest = -1;
			for (const lane of this.w.lanes) {
				const ran = lane.processId === main.processId ? this.lastRun(lane) : -1;
				if (ran > latest) {
					latest = ran;
					last = lane.id;
				}
			}
			if (last >= 0)
				found = this.w.lanes[last].tid > 0 ? last : main.id;
		}
		return found;
	}

	private add(from: number, kind: SegmentKind, wait: number): void {
		from = Math.max(from, this.s.from);
		if (from >= this.time)
			return;
		this.segments.push({ from, to: this.time, lane: this.lane, wait, kind });
		this.time = from;
	}

	private jump(to: number): boolean {
		this.jumps = this.jumpedAt === this.time ? this.jumps + 1 : 0;
		this.jumpedAt = this.time;
		if (to < 0 || to === this.lane || this.jumps > JUMPS_MOST)
			return false;
		this.lane = to;
		return true;
	}

	private passWait(i: number): void {
		const { w, s } = this, c = w.cause[i], code = w.causes.woken[c], open = inAt(w, i) > s.to;
		const out = Math.max(w.out[i], s.from), woken = Math.max(wokenAt(w, i), out);
		const seen = code !== WOKEN_NOT_SEEN && (code !== WOKEN_OPEN || w.runnable[i] > 0) && !(open && woken >= s.to);
		const isWoken = seen && woken <= this.time, waker = w.causes.waker[c] - 1;
		if (isWoken)
			this.add(woken, "runnable", i);
		if (isWoken && woken > out && this.time > s.from && !open && w.causes.flags[c] & CAUSE_FOLLOWED &&
			waker >= 0 && !w.lanes[waker].kernel && this.jump(waker))
			return;
		this.add(out, "blocked", i);
	}

	private passBegin(): void {
		const { s } = this, lane = this.w.lanes[this.lane];
		let birth: Birth | null = null;
		for (const b of this.w.births[this.lane])
			if (b.timeNs >= s.from && b.timeNs <= s.to)
				birth = b;
		if (birth?.exec && birth.timeNs < this.time)
			this.add(birth.timeNs, "on_cpu", -1);
		if (this.time <= s.from || (birth && this.jump(birth.parent)))
			return;
		const ran = !birth && (this.lastWait(lane, s.to) >= 0 || this.ran(lane));
		this.add(s.from, ran ? "on_cpu" : "unknown", -1);
	}

	follow(lane: number, to: number): void {
		this.lane = lane;
		this.time = to;
		while (this.time > this.s.from) {
			const i = this.lastWait(this.w.lanes[this.lane], this.time);
			if (i < 0)
				this.passBegin();
			else if (Math.min(inAt(this.w, i), this.s.to) < this.time)
				this.add(inAt(this.w, i), "on_cpu", -1);
			else
				this.passWait(i);
		}
		this.segments.reverse();
	}
}

/* The first sample at or after a moment. */
function sampleAt(w: Waits, ns: number): number {
	const { time } = w.samples;
	let low = 0, high = time.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (time[middle] < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Samples on the path by lane and function: their weights and numbers. */
function sampled(w: Waits, segments: Segment[], s: Stretch): Map<number, Map<number, { weight: bigint; count: number }>> {
	const found = new Map<number, Map<number, { weight: bigint; count: number }>>(), c = w.samples;
	let at = 0;
	for (let i = sampleAt(w, s.from); i < c.time.length && c.time[i] < s.to; i++) {
		while (at < segments.length && segments[at].to <= c.time[i])
			at++;
		const segment = segments[at];
		if (!segment || segment.from > c.time[i] || segment.kind !== "on_cpu" || segment.lane !== c.lane[i])
			continue;
		const byFunction = found.get(segment.lane) ?? new Map();
		const sum = byFunction.get(c.function[i]) ?? { weight: 0n, count: 0 };
		sum.weight += BigInt(c.weight[i]);
		sum.count += c.samples[i];
		found.set(segment.lane, byFunction.set(c.function[i], sum));
	}
	return found;
}

class Rows {
	private readonly known = new Map<string, PathRow>();

	add(kind: string, thread: string, name: string, func: string, ns: number, count: number, can: boolean): void {
		const key = [kind, thread, name, func].join("\n"), row = this.known.get(key);
		if (row) {
			row.ns += ns;
			row.count += count;
		} else {
			this.known.set(key, { kind, thread, name, func, ns, count, saves: can ? 0 : NaN });
		}
	}

	sorted(): PathRow[] {
		const rows = [...this.known.values()].sort((a, b) => b.ns - a.ns);
		for (const r of rows)
			r.saves = Number.isNaN(r.saves) ? NaN : Math.floor((r.ns * FASTER) / 100);
		return rows;
	}
}

/* A thread's time on the CPU is divided in proportion to the weights of its samples. */
function addOnCpu(w: Waits, rows: Rows, segments: Segment[], s: Stretch): void {
	const onCpu = new Map<number, number>(), samples = sampled(w, segments, s);
	for (const g of segments)
		if (g.kind === "on_cpu")
			onCpu.set(g.lane, (onCpu.get(g.lane) ?? 0) + g.to - g.from);
	for (const [lane, ns] of onCpu) {
		const sums = [...(samples.get(lane) ?? new Map([[0, { weight: 1n, count: 0 }]]))];
		const all = sums.reduce((sum, [, x]) => sum + x.weight, 0n) || 1n;
		let until = 0n, given = 0;
		for (const [func, x] of sums) {
			until += x.weight;
			const upTo = Number((until * BigInt(ns)) / all);
			rows.add("on_cpu", w.lanes[lane].label, "", w.texts.get(func), upTo - given, x.count, true);
			given = upTo;
		}
	}
}

function rowsOf(w: Waits, segments: Segment[], s: Stretch): PathRow[] {
	const rows = new Rows(), text = (id: number) => w.texts.get(id);
	addOnCpu(w, rows, segments, s);
	for (const g of segments) {
		const c = g.wait < 0 ? -1 : w.cause[g.wait], thread = w.lanes[g.lane].label, ns = g.to - g.from;
		if (g.kind === "blocked" && c >= 0)
			rows.add(text(w.causes.kind[c]), thread, text(w.causes.name[c]), text(w.causes.function[c]), ns, 1, true);
		else if (g.kind !== "on_cpu")
			rows.add(g.kind, thread, "", "", ns, 1, false);
	}
	return rows.sorted();
}

/* `ends`: a lane, or -2 - pid for the thread of a process that ran last. Null: none ran, or ends is -1. */
export function findPath(w: Waits, ends: number, s: Stretch): WaitPath | null {
	const f = new Finder(w, s), lane = ends >= 0 ? ends : ends < -1 ? f.lastLane(-2 - ends) : -1;
	if (lane < 0 || lane >= w.lanes.length)
		return null;
	const to = Math.max(Math.min(w.lanes[lane].endNs, s.to), s.from);
	f.follow(lane, to);
	return { lane, from: s.from, to, segments: f.segments, rows: rowsOf(w, f.segments, s) };
}

/* The processes in which a path may end: pid and name, in the order of their lanes. */
export function processesOf(w: Waits): { pid: number; name: string; selected: boolean }[] {
	const known = new Map<number, { pid: number; name: string; selected: boolean }>();
	for (const l of w.lanes)
		if (l.tid === l.pid && l.pid > 0 && !l.kernel)
			known.set(l.pid, { pid: l.pid, name: l.process, selected: l.selected || !!known.get(l.pid)?.selected });
	return [...known.values()];
}

/* The place where the path of the report ends. */
export function usualEnd(w: Waits): number {
	return w.ref.process > 0 ? -2 - w.ref.process : -1;
}

