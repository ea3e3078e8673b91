/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits: when each thread was blocked and runnable, and why, decoded. Times are ns since the begin of
 * the waits. A thread runs between its waits; a wait is blocked until the wake-up, and runnable from
 * then on. Waits of a lane do not overlap and are in the order of time.
 */
import { Blob_ } from "../data/blob";
import { Ref, WaitsRef } from "../data/contract";
import { Varints } from "../data/entries";
import { Texts } from "../data/texts";
import { Stretch } from "./selection";

export const LANE_SELECTED = 1, LANE_KERNEL = 2;
export const CAUSE_FOLLOWED = 1, CAUSE_THREAD = 2, CAUSE_COUNTED = 4;
export const WOKEN_NOT_SEEN = 0, WOKEN_PREEMPTED = 1, WOKEN_OPEN = 5;

export interface WaitLane {
	id: number;
	process: string;
	name: string;
	label: string; /* the thread in reports */
	pid: number;
	tid: number;
	processId: number; /* programs of one pid, one after the other, differ in it */
	selected: boolean;
	kernel: boolean;
	endNs: number; /* of the thread; Infinity: not before the end */
	first: number; /* its waits are [first, end) */
	end: number;
	bornNs: number; /* -1: before the waits */
}

export interface Birth {
	timeNs: number;
	parent: number; /* lane; -1: unknown */
	exec: boolean;
}

export type Numbers = Float64Array<ArrayBuffer>;

export interface Waits {
	ref: WaitsRef;
	durationNs: number;
	texts: Texts;
	lanes: WaitLane[];
	count: number;
	lane: Uint32Array;
	out: Numbers;
	blocked: Numbers;
	runnable: Numbers;
	cause: Uint32Array;
	instead: Uint32Array; /* lane + 1; 0: not known */
	causes: Record<keyof WaitsRef["causes"], Numbers>; /* texts are numbers of `texts` */
	samples: Record<"time" | "lane" | "function" | "samples" | "weight", Numbers>;
	births: Birth[][]; /* by lane */
	functions: Record<"name" | "image" | "kind", Numbers>;
	nodeParent: Numbers;
	nodeFunction: Numbers;
}

function column(b: Blob_, ref: Ref, count: number): Numbers {
	const v = new Varints(b.u8(ref)), out = new Float64Array(count);
	for (let i = 0; i < count; i++)
		out[i] = v.next();
	v.end();
	return out;
}

function columns(b: Blob_, part: any): any {
	const out: any = {};
	for (const key of Object.keys(part))
		if (key !== "count")
			out[key] = column(b, part[key], part.count);
	return out;
}

const signed = (n: number) => (n % 2 ? -(n + 1) / 2 : n / 2);

function readWaitLanes(b: Blob_, ref: WaitsRef, texts: Texts): WaitLane[] {
	const c = columns(b, ref.lanes);
	let at = 0;
	return Array.from({ length: ref.lanes.count }, (_, id) => ({
		id,
		process: texts.get(c.process[id]),
		name: texts.get(c.name[id]),
		label: texts.get(c.label[id]),
		pid: signed(c.pid[id]),
		tid: signed(c.tid[id]),
		processId: c.process_id[id],
		selected: !!(c.flags[id] & LANE_SELECTED),
		kernel: !!(c.flags[id] & LANE_KERNEL),
		endNs: c.end[id] ? c.end[id] - 1 : Infinity,
		first: at,
		end: (at += c.waits[id]),
		bornNs: -1,
	}));
}

function readBirths(b: Blob_, ref: WaitsRef, lanes: WaitLane[]): Birth[][] {
	const c = columns(b, ref.births), births: Birth[][] = lanes.map(() => []);
	for (let i = 0; i < ref.births.count; i++) {
		const lane = lanes[c.lane[i]];
		births[lane.id].push({ timeNs: c.time[i], parent: c.parent[i] - 1, exec: !!c.exec[i] });
		lane.bornNs = c.time[i];
	}
	return births;
}

function sumUp(differences: Numbers): Numbers {
	for (let i = 1; i < differences.length; i++)
		differences[i] += differences[i - 1];
	return differences;
}

export function readWaits(b: Blob_): Waits | null {
	const ref = b.head.waits;
	if (!ref)
		return null;
	const texts = b.texts(ref.texts), lanes = readWaitLanes(b, ref, texts), count = ref.waits.count;
	const w = columns(b, ref.waits), lane = new Uint32Array(count), nodes = columns(b, ref.nodes);
	if (count !== (lanes[lanes.length - 1]?.end ?? 0))
		throw new Error("The data of this page are damaged: its waits are incomplete.");
	for (const l of lanes)
		for (let i = l.first, now = 0; i < l.end; i++) {
			lane[i] = l.id;
			w.out[i] += now;
			now = w.out[i] + w.blocked[i] + w.runnable[i];
		}
	const samples = columns(b, ref.samples);
	sumUp(samples.time);
	return {
		ref, durationNs: ref.duration_ns, texts, lanes, count, lane,
		out: w.out, blocked: w.blocked, runnable: w.runnable,
		cause: Uint32Array.from(w.cause), instead: Uint32Array.from(w.instead),
		causes: columns(b, ref.causes), samples, births: readBirths(b, ref, lanes), functions: columns(b, ref.functions),
		nodeParent: nodes.parent.map((back: number, i: number) => i - back), nodeFunction: nodes.function,
	};
}

/* The moment of the wake-up or, without one, of the end. */
export const wokenAt = (w: Waits, i: number) => w.out[i] + w.blocked[i];
export const inAt = (w: Waits, i: number) => w.out[i] + w.blocked[i] + w.runnable[i];

/* The first wait of a lane that ends after a moment. */
export function waitAfter(w: Waits, lane: WaitLane, ns: number): number {
	let low = lane.first, high = lane.end;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (inAt(w, middle) <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The lane of the thread that ended a wait itself; -1: none did. */
export function wakerOf(w: Waits, i: number): number {
	const c = w.cause[i];
	return w.causes.flags[c] & CAUSE_THREAD ? w.causes.waker[c] - 1 : -1;
}

export function laneText(l: WaitLane): string {
	return l.name === l.process ? `${l.name} ${l.tid}` : `${l.process} · ${l.name} ${l.tid}`;
}

/* "lock table_lock" */
export function causeText(w: Waits, i: number): string {
	const c = w.cause[i];
	return `${w.texts.get(w.causes.kind[c])} ${w.texts.get(w.causes.name[c])}`.trim();
}

/* The functions of a path, innermost first. */
export function pathOf(w: Waits, node: number): string[] {
	const out: string[] = [];
	for (; node; node = w.nodeParent[node])
		out.push(w.texts.get(w.functions.name[w.nodeFunction[node]]));
	return out;
}

/* A wait cut to a range: the time that is blocked and runnable in it. */
export function clipped(w: Waits, i: number, s: Stretch): { blocked: number; runnable: number } {
	const out = Math.max(w.out[i], s.from), end = Math.min(inAt(w, i), s.to);
	const woken = Math.min(Math.max(wokenAt(w, i), out), end);
	return { blocked: woken - out, runnable: end - woken };
}
