/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * functions: sums by function, process and thread, and the neighbours of a function. They need the
 * plain tree: from the callers down, without processes, not folded. A path in which a function
 * occurs several times counts once for its total: at the outermost occurrence. The parts of a
 * function's callers, and of its callees with its own time, therefore add up to its total.
 */
import { Model } from "./model";
import { Sums, Tree } from "./tree";

export const SELF = -1;

/* 1 for nodes without an outer node of the same function. */
export function outermost(t: Tree, functions: number): Uint8Array {
	const out = new Uint8Array(t.count), open = new Int32Array(functions);
	const stack: number[] = [0], next = t.childStart.slice(0, t.count);
	while (stack.length) {
		const node = stack[stack.length - 1];
		if (next[node] < t.childStart[node + 1]) {
			const child = t.childList[next[node]++];
			out[child] = +(open[t.key[child]]++ === 0);
			stack.push(child);
		} else {
			stack.pop();
			if (node)
				open[t.key[node]]--;
		}
	}
	return out;
}

export interface FunctionSums {
	self: Float64Array;
	total: Float64Array;
}

export function functionSums(m: Model, t: Tree, outer: Uint8Array, s: Sums): FunctionSums {
	const self = new Float64Array(m.functions), total = new Float64Array(m.functions);
	for (let i = 1; i < t.count; i++) {
		self[t.key[i]] += s.self[i];
		if (outer[i])
			total[t.key[i]] += s.total[i];
	}
	return { self, total };
}

/* The function at the end of each row's path; -1: none (NO_GROUP of confidence.ts). */
export function leafFunctions(m: Model): Int32Array {
	return Int32Array.from(m.rowNode, (n) => (n ? m.nodeFunction[n] : -1));
}

export function sumsBy(ids: ArrayLike<number>, count: number, amounts: Float64Array): Float64Array {
	const out = new Float64Array(count);
	for (let row = 0; row < amounts.length; row++)
		if (ids[row] >= 0)
			out[ids[row]] += amounts[row];
	return out;
}

export interface Neighbours {
	callers: [id: number, amount: number][]; /* SELF: no caller */
	callees: [id: number, amount: number][]; /* SELF: the function's own */
}

function sorted(sums_: Map<number, number>): [number, number][] {
	return [...sums_].filter(([, amount]) => amount !== 0).sort((a, b) => b[1] - a[1] || a[0] - b[0]);
}

export function neighbours(t: Tree, outer: Uint8Array, s: Sums, id: number): Neighbours {
	const callers = new Map<number, number>(), callees = new Map<number, number>();
	const add = (to: Map<number, number>, key: number, amount: number) =>
		to.set(key, (to.get(key) ?? 0) + amount);
	for (let i = 1; i < t.count; i++) {
		if (t.key[i] !== id || !outer[i])
			continue;
		add(callers, t.parent[i] ? t.key[t.parent[i]] : SELF, s.total[i]);
		add(callees, SELF, s.self[i]);
		for (let c = t.childStart[i]; c < t.childStart[i + 1]; c++)
			add(callees, t.key[t.childList[c]], s.total[t.childList[c]]);
	}
	return { callers: sorted(callers), callees: sorted(callees) };
}

/* 1 for rows whose path contains the function. */
export function rowsWith(t: Tree, id: number): Uint8Array {
	const below = new Uint8Array(t.count);
	for (let i = 1; i < t.count; i++)
		below[i] = +(t.key[i] === id) | below[t.parent[i]];
	return Uint8Array.from(t.rowNode, (n) => below[n]);
}
