/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_legend: the colours of a flame graph in words, the largest areas first. */
import { useMemo } from "preact/hooks";
import { share } from "../model/figure";
import { sumsBy } from "../model/functions";
import { Colour, START, View } from "../model/view";
import { byChange, frameColour, kindOf, legendWord, Ranks } from "./colours";
import { Context } from "./context";

const SHOWN = 12;

/* Sums by word: of an amount for each function. */
function byWord(c: Context, colour: Colour, amounts: Float64Array): Map<string, number> {
	const found = new Map<string, number>();
	amounts.forEach((amount, id) => {
		if (amount) {
			const word = legendWord(colour, c.a.m.func(id));
			found.set(word, (found.get(word) ?? 0) + amount);
		}
	});
	return found;
}

/* The area that each function has in the picture. */
function areas(c: Context, v: View): Float64Array {
	const form = c.a.form(v), t = c.a.tree(form), out = new Float64Array(c.a.m.functions);
	const { total } = c.a.sums(v, form, c.a.now(v));
	for (let i = 1; i < t.count; i++)
		if (t.key[i] >= 0)
			out[t.key[i]] += total[i];
	return out;
}

const known = new WeakMap<object, Map<Colour, Ranks>>();

/* The words of all data by their area: a selection does not change the colours. */
export function ranksOf(c: Context, colour: Colour): Ranks {
	const byColour = known.get(c.a) ?? new Map<Colour, Ranks>();
	let ranks = byColour.get(colour);
	known.set(c.a, byColour);
	if (!ranks) {
		const whole = { ...START, processes: c.v.processes, fold: c.v.fold };
		const sums = [...byWord(c, colour, areas(c, whole))].sort((a, b) => b[1] - a[1]);
		ranks = new Map(sums.map(([word], i) => [word, i]));
		byColour.set(colour, ranks);
	}
	return ranks;
}

interface Word {
	word: string;
	colour: string;
	part: number;
}

/* The words of the selection, the largest areas first, with their own parts of the value. */
function words(c: Context, colour: Colour): Word[] {
	const now = c.a.now(c.v), ranks = ranksOf(c, colour);
	const self = byWord(c, colour, sumsBy(c.a.leaves(), c.a.m.functions, now.amounts));
	return [...byWord(c, colour, areas(c, c.v))]
		.sort((a, b) => b[1] - a[1])
		.map(([word]) => {
			const f = { name: "", image: word, group: word, file: "", line: 0, kind: kindOf(word) };
			const part = (self.get(word) ?? 0) / (now.all || 1);
			return { word, colour: frameColour(colour, f, ranks, c.dark), part };
		});
}

function Scale(p: { c: Context }) {
	const parts = [[0.01, 0.04], [0.01, 0.02], [0.01, 0.01], [0.02, 0.01], [0.04, 0.01]];
	return (
		<ul class="legend" aria-label="colours of changes">
			<li>less</li>
			{parts.map(([now, old], i) => (
				<li key={i}><i style={{ background: byChange(now, old, true, p.c.dark) }} /></li>
			))}
			<li>more (full colour from a quarter to four times; pale: may be chance)</li>
		</ul>
	);
}

export function Legend(p: { c: Context }) {
	const { c } = p, now = c.a.now(c.v);
	const colour = c.v.colour === "change" && !c.a.old(c.v) ? "image" : c.v.colour;
	const list = useMemo(() => (colour === "change" || colour === "function" ? [] : words(c, colour)),
		[now, colour, c.dark, c.v.up, c.v.processes]);
	if (colour === "change")
		return <Scale c={c} />;
	return (
		<ul class="legend" aria-label="colours, with their own parts of the value">
			{list.slice(0, SHOWN).map((w) => (
				<li key={w.word} title={w.word}>
					<i style={{ background: w.colour }} />
					<span>{w.word.replace(/^.*\/(?=[^/])/, "")}</span>{" "}
					{w.part > 0 && share(w.part)}
				</li>
			))}
			{list.length > SHOWN && <li>and {list.length - SHOWN} more</li>}
		</ul>
	);
}
