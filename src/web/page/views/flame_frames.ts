/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_frames: the frames of a view, their colours, and the changes among them that chance does not explain. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Frames, layout } from "../model/layout";
import { Tree, TreeForm } from "../model/tree";
import { byChange, frameColour, processColour } from "./colours";
import { Context } from "./context";
import { ranksOf } from "./flame_legend";

const LEAST_PX = 0.75;
const SLICE_MS = 12;

/* The frames that are wide enough to be drawn. */
export function useFrames(c: Context, form: TreeForm, zoom: number, width: number): Frames {
	const side = c.v.before ? (c.a.old(c.v) ?? c.a.now(c.v)) : c.a.now(c.v);
	const sums = c.a.sums(c.v, form, side), tree = c.a.tree(form);
	return useMemo(() => layout(tree, sums.total, zoom, LEAST_PX / width), [tree, sums, zoom, width]);
}

/* The frames of a differential flame graph whose change is beyond chance, found between pictures. */
export function useChanges(c: Context, form: TreeForm, frames: Frames): Set<number> {
	const [found, setFound] = useState<Set<number>>(new Set());
	const old = c.a.old(c.v), now = c.a.now(c.v);
	useEffect(() => {
		setFound(new Set());
		if (!old || old.estimates.method === "none")
			return;
		const order = [...frames.node].filter((n) => n > 0);
		const list = new Set<number>();
		let at = 0, timer = 0;
		const step = () => {
			const end = performance.now() + SLICE_MS;
			for (; at < order.length && performance.now() < end; at++)
				if (c.a.isChange(c.v, form, order[at], order.length))
					list.add(order[at]);
			if (at < order.length)
				timer = window.setTimeout(step, 0);
			else
				setFound(new Set(list));
		};
		timer = window.setTimeout(step, 0);
		return () => window.clearTimeout(timer);
	}, [old, now, frames]);
	return found;
}

/* The colour of each node. */
export function colourer(c: Context, form: TreeForm, tree: Tree, changes: Set<number>) {
	const old = c.a.old(c.v), now = c.a.now(c.v);
	const colour = c.v.colour === "change" && !old ? "image" : c.v.colour;
	const before = old && c.a.sums(c.v, form, old).total, after = c.a.sums(c.v, form, now).total;
	const ranks = ranksOf(c, colour);
	return (node: number): string => {
		if (colour === "change")
			return byChange(after[node] / (now.all || 1), before![node] / (old!.all || 1),
				changes.has(node), c.dark);
		const key = node ? tree.key[node] : -1;
		return key < 0 ? processColour(c.dark) : frameColour(colour, c.a.m.func(key), ranks, c.dark);
	};
}

