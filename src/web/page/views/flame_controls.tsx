/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_controls: the choices above the flame graph, and the legend of its colours. */
import { useMemo } from "preact/hooks";
import { share } from "../model/figure";
import { sumsBy } from "../model/functions";
import { Colour } from "../model/view";
import { byChange, frameColour, legendWord } from "./colours";
import { Context } from "./context";
import { Choice, Switch } from "./controls";

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
		</div>
	);
}

interface Word {
	word: string;
	colour: string;
	part: number;
}

/* Words and their part of the samples, the largest first. */
function words(c: Context, colour: Colour): Word[] {
	const m = c.a.m, now = c.a.now(c.v), found = new Map<string, Word>();
	sumsBy(c.a.leaves(), m.functions, now.amounts).forEach((self, id) => {
		if (!self)
			return;
		const f = m.func(id), word = legendWord(colour, f), known = found.get(word);
		const part = self / (now.all || 1);
		if (known)
			known.part += part;
		else
			found.set(word, { word, colour: frameColour(colour, { ...f, name: "" }, c.dark), part });
	});
	return [...found.values()].sort((x, y) => y.part - x.part);
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
		[now, colour, c.dark]);
	if (colour === "change")
		return <Scale c={c} />;
	return (
		<ul class="legend" aria-label="colours">
			{list.slice(0, SHOWN).map((w) => (
				<li key={w.word} title={w.word}>
					<i style={{ background: w.colour }} />
					<span>{w.word.replace(/^.*\/(?=[^/])/, "")}</span> {share(w.part)}
				</li>
			))}
			{list.length > SHOWN && <li>and {list.length - SHOWN} more</li>}
		</ul>
	);
}
