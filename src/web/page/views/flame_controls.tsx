/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_controls: the choices above the flame graph. */
import { Colour } from "../model/view";
import { Context } from "./context";
import { Choice, Switch } from "./controls";

function Direction(p: { c: Context }) {
	const { c } = p;
	return (
		<>
			<Choice label="order" value={c.v.up ? 1 : 0}
				options={[[0, "callers first"], [1, "functions first (bottom-up)"]]}
				onChange={(up) => c.set({ up: up === 1, processes: up !== 1, zoom: 0 })} />
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
			{!c.second && (
				<label class="choice search">
					<span>search</span>
					<input id="search" type="search" value={c.v.search} spellcheck={false}
						placeholder="regular expression ( / )" aria-label="search by regular expression"
						onInput={(e) => c.set({ search: e.currentTarget.value })} />
				</label>
			)}
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
