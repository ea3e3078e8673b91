/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * analysis: what the pictures and tables need for a view, computed once and kept as long as its
 * inputs are the same. `now` is the selection (of two: the second one; of a diff: after the change),
 * `old` is what it is compared with, or null.
 */
import { Confidence } from "../statistics/confidence";
import { chance, Estimates, FALSE_ALARM } from "../statistics/estimates";
import { FunctionSums, functionSums, leafFunctions, outermost } from "./functions";
import { Model } from "./model";
import { findMatches, makeSearch, Matches, Search } from "./search";
import { isTimed, keptRows, rowAmounts, Stretch, sum } from "./selection";
import { buildTree, Sums, sums, Tree, TreeForm } from "./tree";
import { View } from "./view";

export interface Part {
	stretch: Stretch | null;
	amounts: Float64Array;
	all: number; /* sum of the amounts */
	work: number; /* amounts are shown divided by it */
	estimates: Estimates;
}

const PLAIN: TreeForm = { up: false, processes: false, fold: false };

/* Keeps the last few results by key. */
class Kept<T> {
	private readonly known = new Map<string, T>();

	constructor(private readonly most: number) {}

	get(key: string, make: () => T): T {
		let found = this.known.get(key);
		if (found === undefined) {
			found = make();
			if (this.known.size >= this.most)
				this.known.delete(this.known.keys().next().value!);
			this.known.set(key, found);
		}
		return found;
	}
}

const text = (s: Stretch | null) => (s ? `${s.from}-${s.to}` : "");

export class Analysis {
	private readonly trees: Kept<Tree>;
	private readonly rows = new Kept<Uint8Array>(4);
	private readonly parts = new Kept<Part>(6);
	private readonly treeSums = new Kept<Sums>(8);
	private readonly searches = new Kept<Matches>(4);
	private readonly levels = new Kept<Confidence[]>(200);
	private readonly nodes = new Kept<Confidence>(2000);
	private outer: Uint8Array | null = null;
	private leaf: Int32Array | null = null;

	/* `like`: of a model with the same paths and rows, and other values: its trees are used. */
	constructor(readonly m: Model, like?: Analysis) {
		this.trees = like?.trees ?? new Kept<Tree>(6);
	}

	value(v: View): number {
		return v.value >= 0 && v.value < this.m.values.length ? v.value : this.m.main;
	}

	form(v: View): TreeForm {
		return { up: v.up, processes: v.processes && this.m.processes.length > 1, fold: v.fold };
	}

	tree(form: TreeForm): Tree {
		return this.trees.get(JSON.stringify(form), () => buildTree(this.m, form));
	}

	kept(v: View): Uint8Array {
		return this.rows.get(`${v.process} ${v.idle}`, () => keptRows(this.m, v));
	}

	private part(v: View, stretch: Stretch | null, side: number): Part {
		const value = this.value(v), m = this.m;
		const key = `${value} ${v.process} ${v.idle} ${text(stretch)} ${side}`;
		return this.parts.get(key, () => {
			const kept = this.kept(v), amounts = rowAmounts(m, value, stretch, kept, side);
			return {
				stretch: stretch && isTimed(m, value) ? stretch : null,
				amounts,
				all: sum(amounts),
				work: side === 1 ? m.workBefore : m.work,
				estimates: new Estimates(m, value, stretch, kept, amounts),
			};
		});
	}

	now(v: View): Part {
		if (this.m.rowSide)
			return this.part(v, null, 0);
		return this.part(v, v.second ?? v.first, -1);
	}

	old(v: View): Part | null {
		if (this.m.rowSide)
			return this.part(v, null, 1);
		return v.second && isTimed(this.m, this.value(v)) ? this.part(v, v.first, -1) : null;
	}

	private key(v: View, p: Part): string {
		const side = this.m.rowSide && p === this.old(v) ? "old" : "";
		return `${this.value(v)} ${v.process} ${v.idle} ${text(p.stretch)} ${side}`;
	}

	sums(v: View, form: TreeForm, p: Part): Sums {
		const key = `${JSON.stringify(form)} ${this.key(v, p)}`;
		return this.treeSums.get(key, () => sums(this.tree(form), p.amounts));
	}

	plain(): Tree {
		return this.tree(PLAIN);
	}

	plainSums(v: View, p: Part): Sums {
		return this.sums(v, PLAIN, p);
	}

	outermost(): Uint8Array {
		return (this.outer ??= outermost(this.plain(), this.m.functions));
	}

	leaves(): Int32Array {
		return (this.leaf ??= leafFunctions(this.m));
	}

	functions(v: View, p: Part): FunctionSums {
		return functionSums(this.m, this.plain(), this.outermost(), this.plainSums(v, p));
	}

	search(v: View): Search | null {
		return makeSearch(v.search);
	}

	matches(v: View, form: TreeForm): Matches | null {
		const search = this.search(v);
		if (!search || search.error)
			return null;
		const key = `${JSON.stringify(form)} ${v.search}`;
		return this.searches.get(key, () => findMatches(this.m, this.tree(form), search));
	}

	/* The interval of each node at a depth, by the place of the node in its level. */
	private level(v: View, form: TreeForm, p: Part, depth: number): Confidence[] | null {
		const t = this.tree(form);
		if (p.estimates.method === "none")
			return null;
		const key = `${JSON.stringify(form)} ${this.key(v, p)} ${depth}`;
		return this.levels.get(key, () => {
			const { groupOf, groups } = levelGroups(t, depth);
			return p.estimates.of(groupOf, groups)!;
		});
	}

	/* The interval of one node; the same figures as those of its level, without the others. */
	interval(v: View, form: TreeForm, p: Part, node: number): Confidence | null {
		const t = this.tree(form);
		if (!node || p.estimates.method === "none")
			return null;
		const key = `${JSON.stringify(form)} ${this.key(v, p)} ${node}`;
		return this.nodes.get(key, () => {
			const inside = new Int8Array(t.count).fill(-1);
			inside[node] = 0;
			for (let i = node + 1; i < t.count; i++)
				inside[i] = inside[t.parent[i]];
			return p.estimates.of(Int32Array.from(t.rowNode, (n) => inside[n]), 1)![0];
		});
	}

	/* Whether the shares of a node differ beyond chance, among `compared` nodes. */
	isChange(v: View, form: TreeForm, node: number, compared: number): boolean {
		const old = this.old(v), place = levelPlace(this.tree(form), node);
		const depth = this.tree(form).depth[node];
		const a = old && this.level(v, form, old, depth);
		const b = old && this.level(v, form, this.now(v), depth);
		return !!a && !!b && isBeyond(a[place], b[place], compared);
	}
}

export function isBeyond(a: Confidence, b: Confidence, compared: number): boolean {
	return chance(a, b) < FALSE_ALARM / Math.max(compared, 1);
}

const places = new WeakMap<Tree, Int32Array>();

/* Numbers the nodes of each level from 0. */
function levelPlace(t: Tree, node: number): number {
	let known = places.get(t);
	if (!known) {
		const next: number[] = [];
		known = Int32Array.from(t.depth, (d) => (next[d] = (next[d] ?? -1) + 1));
		places.set(t, known);
	}
	return known[node];
}

function levelGroups(t: Tree, depth: number): { groupOf: Int32Array; groups: number } {
	const above = new Int32Array(t.count).fill(-1);
	let groups = 0;
	for (let i = 1; i < t.count; i++) {
		if (t.depth[i] === depth)
			above[i] = groups++;
		else if (t.depth[i] > depth)
			above[i] = above[t.parent[i]];
	}
	return { groupOf: Int32Array.from(t.rowNode, (n) => above[n]), groups };
}
