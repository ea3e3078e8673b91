/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lanes: the calls of each thread over time, decoded, and their places in a picture. Calls of a
 * lane are sorted by their begin. Times are ns since the begin of the trace.
 */
import { Blob_ } from "../data/blob";
import { LanesRef } from "../data/contract";
import { Varints } from "../data/entries";
import { Texts } from "../data/texts";
import { Stretch } from "./selection";

export const OUT = 1; /* kind: the thread was switched out */

export interface Lane {
	process: string;
	thread: string;
	first: number; /* its calls are [first, end) */
	end: number;
	levels: number;
}

export interface Lanes {
	durationNs: number;
	switches: boolean; /* times on and off the CPUs, no calls */
	count: number;
	left: number;
	names: Texts;
	lanes: Lane[];
	begin: Float64Array;
	length: Float64Array;
	name: Uint32Array;
	depth: Uint16Array;
	kind: Uint8Array;
}

export function readLanes(b: Blob_): Lanes | null {
	const ref = b.head.lanes;
	return ref ? decode(b, ref) : null;
}

function decode(b: Blob_, ref: LanesRef): Lanes {
	const columns = [ref.begin, ref.length, ref.name, ref.depth].map((r) => new Varints(b.u8(r)));
	const process = b.texts(ref.process), thread = b.texts(ref.thread), spans = b.u32(ref.spans);
	const l: Lanes = {
		durationNs: ref.duration_ns, switches: !!ref.switches, count: ref.count, left: ref.left, names: b.texts(ref.names), lanes: [],
		begin: new Float64Array(ref.count), length: new Float64Array(ref.count),
		name: new Uint32Array(ref.count), depth: new Uint16Array(ref.count), kind: b.u8(ref.kind),
	};
	let at = 0;
	for (let i = 0; i < spans.length; i++) {
		const lane: Lane = { process: process.get(i), thread: thread.get(i), first: at, end: at + spans[i], levels: 0 };
		for (let now = 0; at < lane.end && at < l.count; at++) {
			l.begin[at] = now += columns[0].next();
			l.length[at] = columns[1].next();
			l.name[at] = columns[2].next();
			l.depth[at] = columns[3].next();
			lane.levels = Math.max(lane.levels, l.depth[at] + 1);
		}
		l.lanes.push(lane);
	}
	columns.forEach((c) => c.end());
	if (at !== l.count || l.kind.length !== l.count)
		throw new Error("The data of this page are damaged: its calls are incomplete.");
	return l;
}

export const LANE_TITLE = 17, LANE_LINE = 15, LANE_GAP = 5, LEVELS_MOST = 24;

export function laneHeight(lane: Lane): number {
	return LANE_TITLE + Math.min(lane.levels, LEVELS_MOST) * LANE_LINE + LANE_GAP;
}

/* The tops of all lanes, and the height of all at the end. */
export function laneTops(l: Lanes): number[] {
	const tops = [0];
	for (const lane of l.lanes)
		tops.push(tops[tops.length - 1] + laneHeight(lane));
	return tops;
}

/* The call at a moment and level of a lane; -1: none. Calls of a level do not overlap, except that
 * the last one that began there is the one on top. */
export function callAt(l: Lanes, lane: Lane, ns: number, level: number): number {
	let found = -1;
	for (let i = lane.first; i < lane.end && l.begin[i] <= ns; i++)
		if (l.depth[i] === level && ns <= l.begin[i] + l.length[i])
			found = i;
	return found;
}

/* The longest calls that are in the stretch at least in part, longest first. */
export function longest(l: Lanes, stretch: Stretch, most: number): { call: number; lane: number }[] {
	const found: { call: number; lane: number }[] = [];
	l.lanes.forEach((lane, at) => {
		for (let i = lane.first; i < lane.end && l.begin[i] < stretch.to; i++)
			if (l.begin[i] + l.length[i] > stretch.from)
				found.push({ call: i, lane: at });
	});
	found.sort((a, b) => l.length[b.call] - l.length[a.call]);
	return found.slice(0, most);
}

/* A part of the time around a moment: `factor` below 1 is less time. */
export function zoomed(l: { durationNs: number }, s: Stretch, at: number, factor: number): Stretch {
	const length = Math.max((s.to - s.from) * factor, 10);
	const from = at - ((at - s.from) / (s.to - s.from)) * length;
	return within(l, { from, to: from + length });
}

/* Moves a stretch into the time of the trace, in whole ns. */
export const allOf = (l: { durationNs: number }): Stretch => ({ from: 0, to: Math.max(Math.ceil(l.durationNs), 1) });

export function within(l: { durationNs: number }, s: Stretch): Stretch {
	const all = Math.max(l.durationNs, 1), length = Math.min(s.to - s.from, all);
	const from = Math.min(Math.max(s.from, 0), all - length);
	return { from: Math.floor(from), to: Math.ceil(from + length) };
}
