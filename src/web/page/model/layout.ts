/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout: the frames of a flame graph that are wide enough to draw, as parts of the width (0 to
 * 1), and the number of those that are not. Children are side by side, the largest first. Frames
 * above the zoomed one have the whole width.
 */
import { pathTo, Tree } from "./tree";

export interface Frames {
	count: number;
	node: Int32Array;
	x: Float64Array;
	width: Float64Array;
	level: Uint16Array; /* the root has level 0 */
	levels: number;
	narrow: number; /* frames with a value that are not drawn */
	narrowShare: number; /* what they have themselves, of the zoomed frame */
}

/* The children of a node that have a value, the largest first; ties in the order of ids. */
function sortedChildren(t: Tree, size: Float64Array, node: number): number[] {
	const list: number[] = [];
	for (let i = t.childStart[node]; i < t.childStart[node + 1]; i++)
		if (size[t.childList[i]] > 0)
			list.push(t.childList[i]);
	return list.sort((a, b) => size[b] - size[a] || a - b);
}

/* Frames with a value at or below a node. */
function countBelow(t: Tree, size: Float64Array, node: number): number {
	const inside = new Uint8Array(t.count);
	let count = 0;
	inside[node] = 1;
	for (let i = node; i < t.count; i++) {
		if (i !== node && !inside[t.parent[i]])
			continue;
		inside[i] = 1;
		count += +(size[i] > 0);
	}
	return count;
}

export function layout(t: Tree, size: Float64Array, zoom: number, least: number): Frames {
	const node: number[] = [], x: number[] = [], width: number[] = [], level: number[] = [];
	const add = (n: number, at: number, w: number, l: number) => {
		node.push(n);
		x.push(at);
		width.push(w);
		level.push(l);
	};
	const above = pathTo(t, zoom);
	let narrowShare = 0, levels = above.length;

	above.forEach((n, l) => add(n, 0, 1, l));
	const whole = size[zoom];
	/* The frames are their own queue: a frame's children are added behind it. */
	for (let i = above.length - 1; whole > 0 && i < node.length; i++) {
		let at = x[i];
		for (const child of sortedChildren(t, size, node[i])) {
			const w = Math.min(size[child] / whole, 1);
			if (w >= least) {
				add(child, at, w, level[i] + 1);
				levels = Math.max(levels, level[i] + 2);
			} else {
				narrowShare += w;
			}
			at += w;
		}
	}
	return {
		count: node.length,
		node: Int32Array.from(node),
		x: Float64Array.from(x),
		width: Float64Array.from(width),
		level: Uint16Array.from(level),
		levels,
		narrow: whole > 0 ? countBelow(t, size, zoom) - (node.length - above.length + 1) : 0,
		narrowShare,
	};
}
