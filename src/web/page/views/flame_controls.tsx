/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_controls: the choices above the flame graph, and the legend of its colours. */
import { share } from "../model/figure";
import { Tree } from "../model/tree";
import { Colour } from "../model/view";
import { byChange, frameColour, legendWord } from "./colours";
import { Context } from "./context";
import { Choice, Switch } from "./controls";
import { nodeName } from "./frame_facts";

const SHOWN = 12;

function Direction(p: { c: Context }) {
	const { c } = p;
	return (
		<>
			<Choice label="order" value={c.v.up ? 1 : 0}
				options={[[0, "callers first"], [1, "functions first (bottom-up)"]]}
				onChange={(up) => c.set({ up: up === 1, zoom: 0 })} />
			<Choice label="root" value={c.v.flame ? 1 : 0}
				options={[[0, "at the top (icicle)"], [1, "at the bottom (flame)"]]}
				onChange={(flame) => c.set({ flame: flame === 1 })} />
		</>
	);
}

function colours(c: Context): [Colour, string][] {
	const list: [Colour, string][] = [
		["image", "image"], ["function", "function"], ["group", "group"], ["kind", "user or kernel"],
	];
	return c.a.old(c.v) ? [["change", "change"], ...list] : list;
}

export function FlameControls(p: { c: Context }) {
	const { c } = p, m = c.a.m, old = c.a.old(c.v);
	const colour = c.v.colour === "change" && !old ? "image" : c.v.colour;
	return (
		<div class="controls" role="group" aria-label="choices for the flame graph">
			<label class="choice search">
				<span>search</span>
				<input id="search" type="search" value={c.v.search} spellcheck={false}
					placeholder="regular expression ( / )" aria-label="search by regular expression"
					onInput={(e) => c.set({ search: e.currentTarget.value })} />
			</label>
			<Direction c={c} />
			<Choice label="colours" value={colour} options={colours(c)}
				onChange={(to) => c.set({ colour: to })} />
			{old && (
				<Choice label="widths" value={c.v.before ? 1 : 0}
					options={m.rowSide
						? [[0, "after"], [1, "before"]]
						: [[0, "of the second stretch"], [1, "of the first stretch"]]}
					onChange={(before) => c.set({ before: before === 1 })} />
			)}
			{m.processes.length > 1 && (
				<Switch label="processes" on={c.v.processes} title="the first level is the process"
					onChange={(processes) => c.set({ processes, zoom: 0 })} />
			)}
			<Switch label="fold recursion" on={c.v.fold} title="repeated rounds are drawn once"
				onChange={(fold) => c.set({ fold, zoom: 0 })} />
			{c.v.zoom > 0 && (
				<button type="button" class="chip" onClick={() => c.set({ zoom: 0 })}>
					{nodeName(c, c.a.form(c.v), c.v.zoom).slice(0, 40)} ✕
				</button>
			)}
		</div>
	);
}

/* Words and their part of the picture, the largest first. */
function words(c: Context, tree: Tree, colour: Colour): [string, string, number][] {
	const sums = c.a.sums(c.v, tree.form, c.a.now(c.v)), all = c.a.now(c.v).all || 1;
	const found = new Map<string, { colour: string; part: number }>();
	for (let node = 1; node < tree.count; node++) {
		if (!sums.self[node] || tree.key[node] < 0)
			continue;
		const f = c.a.m.func(tree.key[node]), word = legendWord(colour, f);
		const known = found.get(word);
		if (known)
			known.part += sums.self[node] / all;
		else
			found.set(word, {
				colour: frameColour(colour, { ...f, name: "" }, c.dark),
				part: sums.self[node] / all,
			});
	}
	return [...found]
		.map(([word, f]): [string, string, number] => [word, f.colour, f.part])
		.sort((a, b) => b[2] - a[2]);
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

export function Legend(p: { c: Context; tree: Tree }) {
	const { c } = p;
	const colour = c.v.colour === "change" && !c.a.old(c.v) ? "image" : c.v.colour;
	if (colour === "change")
		return <Scale c={c} />;
	if (colour === "function" || c.v.up)
		return null;
	const list = words(c, p.tree, colour);
	return (
		<ul class="legend" aria-label="colours">
			{list.slice(0, SHOWN).map(([word, shown, part]) => (
				<li key={word} title={word}>
					<i style={{ background: shown }} />
					<span>{word.replace(/^.*\/(?=[^/])/, "")}</span> {share(part)}
				</li>
			))}
			{list.length > SHOWN && <li>and {list.length - SHOWN} more</li>}
		</ul>
	);
}
