/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tree: a call tree for one view: from the callers down or from the functions up, with a first
 * level of processes or without, recursion folded or not. It depends on the paths alone; sums() adds
 * the values of a selection, so a new selection needs one pass over the rows and one over the nodes.
 *
 * Node 0 is the root; parents come before their children. Recursion is folded as in the reports:
 * whole repeated rounds (a b a b becomes a b); no path moves below another caller.
 */
import { Model } from "./model";
import { PairTable } from "./pair_table";

export interface TreeForm {
	up: boolean;
	processes: boolean;
	fold: boolean;
}

export interface Tree {
	form: TreeForm;
	count: number;
	parent: Int32Array;
	key: Int32Array; /* of a function, or processKey(); the root: -1 */
	depth: Uint16Array;
	inlined: Uint8Array;
	rowNode: Int32Array; /* the node where the path of a row ends */
	/* Children of node n: childList[childStart[n]] to childList[childStart[n + 1] - 1]. */
	childStart: Int32Array;
	childList: Int32Array;
}

export interface Sums {
	self: Float64Array;
	total: Float64Array;
}

export const processKey = (process: number) => -2 - process;
export const keyProcess = (key: number) => -2 - key;
const ROUND_MAX = 16;

function grown<T extends Int32Array | Uint16Array | Uint8Array>(old: T): T {
	const next = new (old.constructor as any)(old.length * 2);
	next.set(old);
	return next;
}

class Builder {
	count = 1;
	parent: Int32Array;
	key: Int32Array;
	depth: Uint16Array;
	inlined: Uint8Array;
	private readonly ids: PairTable;

	constructor(private readonly fold: boolean, expected: number) {
		this.parent = new Int32Array(expected);
		this.key = new Int32Array(expected);
		this.depth = new Uint16Array(expected);
		this.inlined = new Uint8Array(expected);
		this.ids = new PairTable(expected);
		this.key[0] = -1;
	}

	child(at: number, key: number, inlined: number): number {
		let id = this.ids.get(at, key);
		if (id >= 0) {
			this.inlined[id] &= inlined;
			return id;
		}
		const back = this.fold && key >= 0 ? this.round(at, key) : -1;
		if (back >= 0)
			return back;
		id = this.count++;
		if (id === this.parent.length) {
			this.parent = grown(this.parent);
			this.key = grown(this.key);
			this.depth = grown(this.depth);
			this.inlined = grown(this.inlined);
		}
		this.parent[id] = at;
		this.key[id] = key;
		this.depth[id] = this.depth[at] + 1;
		this.inlined[id] = inlined;
		this.ids.set(at, key, id);
		return id;
	}

	/* If `key` below `at` completes a second round of the same functions: the end of the first. */
	private round(at: number, key: number): number {
		let end = at;
		for (let size = 1; size <= ROUND_MAX && this.key[end] >= 0; size++) {
			if (this.key[end] === key && this.sameRound(at, end, size))
				return end;
			end = this.parent[end];
		}
		return -1;
	}

	private sameRound(at: number, end: number, size: number): boolean {
		for (let i = 1, a = at, b = this.parent[end]; i < size; i++) {
			if (this.key[b] < 0 || this.key[a] !== this.key[b])
				return false;
			a = this.parent[a];
			b = this.parent[b];
		}
		return true;
	}
}

/* The first level of each row: the root, or the node of its process. */
function bases(m: Model, b: Builder, processes: boolean): Int32Array {
	const base = new Int32Array(m.rows);
	for (let row = 0; processes && row < m.rows; row++)
		base[row] = b.child(0, processKey(m.rowProcess[row]), 0);
	return base;
}

function placeDown(m: Model, b: Builder, base: Int32Array): Int32Array {
	const rowNode = new Int32Array(m.rows), placed = new PairTable(m.nodes), way: number[] = [];
	for (let row = 0; row < m.rows; row++) {
		let node = m.rowNode[row], at = -1;
		for (way.length = 0; node; node = m.nodeParent[node]) {
			at = placed.get(base[row], node);
			if (at >= 0)
				break;
			way.push(node);
		}
		if (!node)
			at = base[row];
		while (way.length) {
			node = way.pop()!;
			at = b.child(at, m.nodeFunction[node], m.nodeInlined[node]);
			placed.set(base[row], node, at);
		}
		rowNode[row] = at;
	}
	return rowNode;
}

function placeUp(m: Model, b: Builder, base: Int32Array): Int32Array {
	const rowNode = new Int32Array(m.rows), placed = new PairTable(m.rows);
	for (let row = 0; row < m.rows; row++) {
		const end = m.rowNode[row];
		let at = placed.get(base[row], end);
		if (at < 0) {
			at = base[row];
			for (let node = end; node; node = m.nodeParent[node])
				at = b.child(at, m.nodeFunction[node], 0);
			placed.set(base[row], end, at);
		}
		rowNode[row] = at;
	}
	return rowNode;
}

function children(parent: Int32Array): { start: Int32Array; list: Int32Array } {
	const count = parent.length, start = new Int32Array(count + 1), list = new Int32Array(count);
	for (let i = 1; i < count; i++)
		start[parent[i] + 1]++;
	for (let i = 0; i < count; i++)
		start[i + 1] += start[i];
	const next = start.slice();
	for (let i = 1; i < count; i++)
		list[next[parent[i]]++] = i;
	return { start, list };
}

export function buildTree(m: Model, form: TreeForm): Tree {
	const b = new Builder(form.fold, m.nodes + 16), base = bases(m, b, form.processes);
	const rowNode = form.up ? placeUp(m, b, base) : placeDown(m, b, base);
	const parent = b.parent.slice(0, b.count), { start, list } = children(parent);
	return {
		form,
		count: b.count,
		parent,
		key: b.key.slice(0, b.count),
		depth: b.depth.slice(0, b.count),
		inlined: b.inlined.slice(0, b.count),
		rowNode,
		childStart: start,
		childList: list,
	};
}

export function sums(t: Tree, rowAmounts: Float64Array): Sums {
	const self = new Float64Array(t.count);
	for (let row = 0; row < rowAmounts.length; row++)
		self[t.rowNode[row]] += rowAmounts[row];
	const total = self.slice();
	for (let i = t.count - 1; i > 0; i--)
		total[t.parent[i]] += total[i];
	return { self, total };
}

/* Parents of a node, the root first, the node last. */
export function pathTo(t: Tree, node: number): number[] {
	const path = [node];
	while (node) {
		node = t.parent[node];
		path.push(node);
	}
	return path.reverse();
}
