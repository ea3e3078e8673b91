/* SPDX-License-Identifier: GPL-2.0-or-later */
/* colours: of frames, by what the reader chose, for a light or a dark page. */
import { Func } from "../model/model";
import { Colour } from "../model/view";

export interface Palette {
	dark: boolean;
	text: string;
	dim: string;
	line: string;
	paper: string;
	accent: string;
	match: string;
}

export function palette(element: Element): Palette {
	const style = getComputedStyle(element);
	const get = (name: string) => style.getPropertyValue(name).trim();
	return {
		dark: get("--dark") === "1",
		text: get("--text"),
		dim: get("--dim"),
		line: get("--line"),
		paper: get("--paper"),
		accent: get("--accent"),
		match: get("--match"),
	};
}

function hash(text: string): number {
	let h = 2166136261;
	for (let i = 0; i < text.length; i++)
		h = Math.imul(h ^ text.charCodeAt(i), 16777619);
	h ^= h >>> 15;
	return (Math.imul(h, 0x2c1b3c6d) ^ (h >>> 12)) >>> 0;
}

function hsl(hue: number, saturation: number, light: number): string {
	return `hsl(${hue.toFixed(0)} ${saturation}% ${light}%)`;
}

/* The hues of the largest images or groups: easy to distinguish; the others get one by their name. */
const HUES = [212, 28, 140, 285, 52, 340, 178, 95, 248, 8, 195, 68];

export type Ranks = Map<string, number>;

function ranked(word: string, ranks: Ranks, dark: boolean, shade: number): string {
	const rank = ranks.get(word) ?? Infinity;
	if (!word || word === "[no group]" || word === "[no image]")
		return dark ? hsl(0, 0, 33 + shade) : hsl(0, 0, 82 - shade);
	if (rank < HUES.length)
		return dark ? hsl(HUES[rank], 42, 34 + shade) : hsl(HUES[rank], 66, 78 - shade);
	const hue = (hash(word) % 24) * 15;
	return dark ? hsl(hue, 18, 32 + shade) : hsl(hue, 32, 80 - shade);
}

/* The functions of the kernel and of libraries are known by their images. */
const KINDS = ["other", "user", "kernel"];
const KIND_HUES = [[40, 15], [205, 55], [28, 75]];

function byKind(kind: number, dark: boolean, shade: number): string {
	const [hue, saturation] = KIND_HUES[kind] ?? KIND_HUES[0];
	return dark ? hsl(hue, saturation * 0.7, 34 + shade) : hsl(hue, saturation, 76 - shade);
}

/* From blue (less) over grey to red (more). */
export function byChange(now: number, old: number, beyond: boolean, dark: boolean): string {
	const ratio = Math.log2((now + 0.0005) / (old + 0.0005));
	const size = Math.min(Math.abs(ratio) / 2, 1);
	const hue = ratio > 0 ? 6 : 216, strength = beyond ? 25 + 60 * size : 30 * size;
	const light = beyond ? 22 * size : 6 * size;
	return dark ? hsl(hue, strength * 0.8, 36 - light * 0.2) : hsl(hue, strength, 86 - light);
}

/* The colour of a function; neighbours of one kind differ a little in lightness. */
export function frameColour(colour: Colour, f: Func, ranks: Ranks, dark: boolean): string {
	const shade = hash(f.name) % 7;
	if (colour === "kind")
		return byKind(f.kind, dark, shade);
	if (colour === "function") {
		const hue = hash(f.name) % 55;
		return dark ? hsl(hue, 45, 36 + shade) : hsl(hue, 85, 70 - shade);
	}
	return ranked(legendWord(colour, f), ranks, dark, shade);
}

/* The words of the legend, the largest parts first; `by` gives the word of a function. */
export function legendWord(colour: Colour, f: Func): string {
	if (colour === "kind")
		return KINDS[f.kind] ?? KINDS[0];
	if (colour === "group")
		return f.group || "[no group]";
	return colour === "image" ? f.image || "[no image]" : "";
}

export function kindOf(word: string): number {
	return Math.max(KINDS.indexOf(word), 0);
}

export function processColour(dark: boolean): string {
	return dark ? "hsl(220 8% 30%)" : "hsl(220 14% 86%)";
}

/* The colours of stacked areas; the last one is for the others. */
export function seriesColour(i: number, dark: boolean): string {
	const hues = [211, 28, 142, 0, 265, 45, 187, 320, 95];
	return i < 0 ? hsl(0, 0, dark ? 45 : 70) : hsl(hues[i % hues.length], 55, dark ? 52 : 58);
}

export function heatColour(part: number, dark: boolean): string {
	const p = Math.sqrt(Math.min(Math.max(part, 0), 1));
	return dark ? hsl(32 - 10 * p, 30 + 45 * p, 15 + 42 * p) : hsl(42 - 26 * p, 75 + 5 * p, 95 - 43 * p);
}
