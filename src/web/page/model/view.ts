/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * view: what the page shows, and its form in the address (location.hash), so that an address leads
 * to the same picture. Parts that have their default are left out of the address.
 */
import { Stretch } from "./selection";

/* usual: what fits the recording; it is replaced before anything is drawn. */
export type Colour = "usual" | "function" | "image" | "group" | "kind" | "change";

export interface View {
	value: number; /* -1: the main value */
	up: boolean;
	flame: boolean; /* the root is at the bottom */
	colour: Colour;
	fold: boolean;
	processes: boolean;
	idle: boolean;
	process: number; /* -1: all */
	search: string;
	zoom: number; /* node of the tree */
	first: Stretch | null;
	second: Stretch | null;
	calls: Stretch | null; /* the time of the calls of each thread that is shown, in ns */
	ends: number; /* where the path of waits ends: a lane, or -2 - pid; -1: as in the report */
	wait: number; /* the wait that is explained; -1: none */
	others: boolean; /* lanes of threads that are not selected */
	func: number; /* whose neighbours are shown; -1: none */
	lanes: boolean; /* the heatmap has a line for each CPU */
	before: boolean; /* widths of a differential flame graph are those before */
	theme: "" | "light" | "dark";
}

export const START: View = {
	value: -1, up: false, flame: false, colour: "usual", fold: false, processes: true, idle: false,
	process: -1, search: "", zoom: 0, first: null, second: null, calls: null, ends: -1, wait: -1,
	others: false, func: -1, lanes: false,
	before: false, theme: "",
};

type Key = keyof View;

function put(value: View[Key]): string {
	if (value && typeof value === "object")
		return `${value.from}-${value.to}`;
	return typeof value === "boolean" ? (value ? "1" : "0") : String(value);
}

export function toHash(v: View): string {
	const out = new URLSearchParams();
	for (const key of Object.keys(START) as Key[])
		if (put(v[key]) !== put(START[key]))
			out.set(key, put(v[key]));
	const text = out.toString();
	return text ? "#" + text : "";
}

function stretch(text: string): Stretch | null {
	const parts = /^(\d+)-(\d+)$/.exec(text);
	return parts && +parts[1] < +parts[2] ? { from: +parts[1], to: +parts[2] } : null;
}

function get(key: Key, text: string): View[Key] {
	const start = START[key];
	if (key === "first" || key === "second" || key === "calls")
		return stretch(text);
	if (typeof start === "boolean")
		return text === "1";
	if (typeof start === "number")
		return /^-?\d+$/.test(text) ? +text : start;
	const known: Partial<Record<Key, string[]>> = {
		colour: ["function", "image", "group", "kind", "change"],
		theme: ["", "light", "dark"],
	};
	return known[key] && !known[key]!.includes(text) ? start : text;
}

export function fromHash(hash: string): View {
	const v = { ...START } as any, given = new URLSearchParams(hash.replace(/^#/, ""));
	for (const key of Object.keys(START) as Key[]) {
		const text = given.get(key);
		if (text !== null)
			v[key] = get(key, text);
	}
	if (!v.first)
		v.second = null;
	return v;
}
