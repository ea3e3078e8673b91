/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * search: functions whose name matches a regular expression (capital letters count only if the
 * expression has some), and the share of the paths that contain at least one of them.
 */
import { Model } from "./model";
import { keyProcess, Tree } from "./tree";

export interface Search {
	text: string;
	error: string; /* not a regular expression */
	test: (name: string) => boolean;
}

export function makeSearch(text: string): Search | null {
	if (!text)
		return null;
	try {
		const expression = new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu");
		return { text, error: "", test: (name) => expression.test(name) };
	} catch {
		return { text, error: "not a regular expression", test: () => false };
	}
}

export interface Matches {
	own: Uint8Array; /* the node itself matches */
	functions: number;
	/* Rows with a matching function on their path. */
	rows: Uint8Array;
}

export function findMatches(m: Model, t: Tree, search: Search): Matches {
	const known = new Map<number, number>(), own = new Uint8Array(t.count);
	const below = new Uint8Array(t.count);
	let functions = 0;
	for (let i = 1; i < t.count; i++) {
		const key = t.key[i];
		let hit = known.get(key);
		if (hit === undefined) {
			hit = +search.test(key >= 0 ? m.func(key).name : m.processes[keyProcess(key)].name);
			known.set(key, hit);
			functions += key >= 0 ? hit : 0;
		}
		own[i] = hit;
		below[i] = hit | below[t.parent[i]];
	}
	return { own, functions, rows: Uint8Array.from(t.rowNode, (n) => below[n]) };
}

export function matchedSum(matches: Matches, amounts: Float64Array): number {
	let all = 0;
	for (let row = 0; row < amounts.length; row++)
		if (matches.rows[row])
			all += amounts[row];
	return all;
}
