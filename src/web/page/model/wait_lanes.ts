/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_lanes: places of waits in a picture: the lanes that are shown, the states of a lane in each
 * pixel, the wake-ups that can be told apart as arrows, and the path through the lanes.
 */
import { Stretch } from "./selection";
import { inAt, laneText, wakerOf, waitAfter, WaitLane, Waits, WOKEN_OPEN, WOKEN_PREEMPTED, wokenAt } from "./waits";
import { WaitPath } from "./wait_path";

export const ON_CPU = 0, RUNNABLE = 1; /* states; blocked: 2 + index of the kind in kindsOf() */

/* The kinds of all waits, the longest sums first; texts. */
export function kindsOf(w: Waits): number[] {
	const sums = new Map<number, number>();
	for (let i = 0; i < w.count; i++)
		if (w.blocked[i] && w.lanes[w.lane[i]].selected)
			sums.set(w.causes.kind[w.cause[i]], (sums.get(w.causes.kind[w.cause[i]]) ?? 0) + w.blocked[i]);
	return [...sums].sort((a, b) => b[1] - a[1]).map(([kind]) => kind);
}

/* The first moment at which something is known about a thread. */
function beginOf(w: Waits, l: WaitLane): number {
	return l.bornNs >= 0 ? l.bornNs : l.first < l.end ? Math.min(w.out[l.first], l.endNs) : 0;
}

/*
 * Threads of the range: those of the report that live in it, those through which the path goes, and
 * with `others` all. By process and number.
 */
export function lanesShown(w: Waits, s: Stretch, others: boolean, path: WaitPath | null): WaitLane[] {
	const onPath = new Set(path?.segments.map((g) => g.lane));
	const shown = w.lanes.filter((l) =>
		onPath.has(l.id) || ((l.selected || others) && l.first < l.end && l.tid > 0 && l.endNs > s.from && beginOf(w, l) < s.to));
	const place = new Map<number, number>();
	for (const l of shown)
		if (!place.has(l.pid))
			place.set(l.pid, +l.kernel * 1e6 + place.size);
	return shown.sort((a, b) => place.get(a.pid)! - place.get(b.pid)! || a.tid - b.tid || a.id - b.id);
}

/* `state`, from, to: called for each time of a lane that is in the range, in order; `wait` -1: on a CPU. */
export function eachState(
	w: Waits, l: WaitLane, kindState: Map<number, number>, s: Stretch,
	visit: (state: number, from: number, to: number, wait: number) => void,
): void {
	const end = Math.min(l.endNs, s.to), first = waitAfter(w, l, s.from);
	let at = first > l.first ? inAt(w, first - 1) : l.bornNs >= 0 ? l.bornNs : NaN;
	const put = (state: number, from: number, to: number, wait: number) => {
		from = Math.max(from, s.from);
		to = Math.min(to, end);
		if (to > from)
			visit(state, from, to, wait);
	};
	for (let i = first; i < l.end && w.out[i] < end; i++) {
		if (at < w.out[i])
			put(ON_CPU, at, w.out[i], -1);
		put(kindState.get(w.causes.kind[w.cause[i]]) ?? 2, w.out[i], wokenAt(w, i), i);
		put(RUNNABLE, wokenAt(w, i), inAt(w, i), i);
		at = w.causes.woken[w.cause[i]] === WOKEN_OPEN ? Infinity : inAt(w, i);
	}
	if (at < end)
		put(ON_CPU, at, end, -1);
}

/* The wait of a lane at a moment, or one within `slack` of it: the longest; -1: none. */
export function waitAtMoment(w: Waits, l: WaitLane, ns: number, slack: number): number {
	let found = -1;
	for (let i = waitAfter(w, l, ns - slack); i < l.end && w.out[i] <= ns + slack; i++) {
		if (w.out[i] <= ns && ns < inAt(w, i))
			return i;
		if (found < 0 || inAt(w, i) - w.out[i] > inAt(w, found) - w.out[found])
			found = i;
	}
	return found;
}

export interface Arrows {
	waits: number[]; /* drawn as arrows, the longest waits first */
	left: number; /* wake-ups of the range that are not drawn */
	density: Float64Array; /* wake-ups by column of `columns` */
}

/* Wake-ups between shown lanes: arrows for the longest waits, at least `gap` apart; all are in the density. */
export function arrowsOf(w: Waits, shown: WaitLane[], s: Stretch, columns: number, most: number, gap: number): Arrows {
	const place = new Set(shown.map((l) => l.id)), density = new Float64Array(columns), found: number[] = [];
	const scale = columns / (s.to - s.from);
	for (const l of shown)
		for (let i = waitAfter(w, l, s.from); i < l.end && w.out[i] < s.to; i++) {
			const woken = wokenAt(w, i), waker = wakerOf(w, i);
			if (waker < 0 || waker === l.id || woken < s.from || woken >= s.to || !place.has(waker))
				continue;
			density[Math.min(Math.floor((woken - s.from) * scale), columns - 1)]++;
			found.push(i);
		}
	found.sort((a, b) => w.blocked[b] - w.blocked[a]);
	const waits: number[] = [], taken = new Set<number>();
	for (const i of found) {
		const x = Math.floor(((wokenAt(w, i) - s.from) * scale) / gap);
		if (waits.length >= most)
			break;
		if (taken.has(x) || (found.length > most && (taken.has(x - 1) || taken.has(x + 1))))
			continue;
		taken.add(x);
		waits.push(i);
	}
	return { waits, left: found.length - waits.length, density };
}

/* The longest waits that are in the range at least in part. */
export function longestWaits(w: Waits, shown: WaitLane[], s: Stretch, most: number): number[] {
	const found: number[] = [];
	for (const l of shown)
		for (let i = waitAfter(w, l, s.from); i < l.end && w.out[i] < s.to; i++)
			found.push(i);
	return found.sort((a, b) => inAt(w, b) - w.out[b] - (inAt(w, a) - w.out[a])).slice(0, most);
}

/* What ran instead of a preempted thread. */
export function insteadOf(w: Waits, i: number): string {
	const lane = w.causes.woken[w.cause[i]] === WOKEN_PREEMPTED ? w.instead[i] - 1 : -1;
	return lane < 0 ? "" : laneText(w.lanes[lane]);
}
