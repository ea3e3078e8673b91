/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_view: the flame graph with its choices, legend, notes, and the table behind it. */
import { useMemo, useRef } from "preact/hooks";
import { amount, counted, share } from "../model/figure";
import { Frames } from "../model/layout";
import { matchedSum } from "../model/search";
import { TreeForm } from "../model/tree";
import { METHODS } from "../statistics/estimates";
import { Context, unitOf } from "./context";
import { PlainTable, TableButton } from "./controls";
import { FlameControls } from "./flame_controls";
import { colourer, useChanges, useFrames } from "./flame_frames";
import { Legend } from "./flame_legend";
import { FlamePicture } from "./flame_picture";
import { nodeName } from "./frame_facts";
import { useWidth } from "./width";

function Narrow(p: { frames: Frames }) {
	const { narrow, narrowShare } = p.frames;
	if (!narrow)
		return <span>Each frame with a value is drawn. </span>;
	return (
		<span>
			{counted(narrow, "frame is", "frames are")} too narrow to draw: {share(narrowShare)} of this
			picture {narrow === 1 ? "is in it" : "is in them"}.{" "}
		</span>
	);
}

function Found(p: { c: Context; form: TreeForm }) {
	const { c, form } = p, now = c.a.now(c.v);
	const matches = c.a.matches(c.v, form)!;
	const part = useMemo(() => matchedSum(matches, now.amounts), [matches, now]);
	return (
		<output class="found">
			{share(now.all ? part / now.all : 0)} matched ({amount(part / now.work, unitOf(c))}, in{" "}
			{counted(matches.functions, "function", "functions")})
		</output>
	);
}

/* The line above the picture: the zoomed frame and the matched share. It is always there, so that the
 * picture does not move. */
function Above(p: { c: Context; form: TreeForm; zoom: number }) {
	const { c, form, zoom } = p, search = c.a.search(c.v);
	return (
		<div class="above">
			{zoom > 0 ? (
				<button type="button" class="chip zoomed" onClick={() => c.set({ zoom: 0 })}>
					{nodeName(c, form, zoom).slice(0, 60)} ✕
				</button>
			) : <span class="note">click a frame to zoom</span>}
			{search && (search.error
				? <output class="found wrong">{search.error}</output>
				: <Found c={c} form={form} />)}
		</div>
	);
}

function FlameTable(p: { c: Context; form: TreeForm; frames: Frames }) {
	const { c, form, frames } = p, tree = c.a.tree(form), now = c.a.now(c.v);
	const sums = c.a.sums(c.v, form, now), unit = unitOf(c);
	const old = c.a.old(c.v), before = old && c.a.sums(c.v, form, old).total;
	const order = useMemo(
		() => [...frames.node.keys()].sort((a, b) => frames.level[a] - frames.level[b] ||
			frames.x[a] - frames.x[b]),
		[frames],
	);
	return (
		<PlainTable label="frames of the flame graph" first={50}
			head={["level", "total", "share", ...(old ? ["share before"] : []), "self", "function", "caller"]}
			left={old ? [5, 6] : [4, 5]} rows={order.length}
			row={(i) => {
				const node = frames.node[order[i]];
				return {
					key: node,
					cells: [
						frames.level[order[i]],
						amount(sums.total[node], unit),
						share(now.all ? sums.total[node] / now.all : 0),
						...(old ? [share(old.all ? before![node] / old.all : 0)] : []),
						amount(sums.self[node], unit),
						nodeName(c, form, node),
						node ? nodeName(c, form, tree.parent[node]) : "",
					],
				};
			}}
		/>
	);
}

/* How sure the figures are, and what is not drawn. */
function Notes(p: { c: Context; frames: Frames }) {
	const { c, frames } = p, { method } = c.a.now(c.v).estimates;
	const compared = c.a.old(c.v) && method !== "none";
	return (
		<p class="note">
			<Narrow frames={frames} />
			{METHODS[method]}{" "}
			{compared && `◆ marks the frames whose share differs beyond chance: one false mark in twenty pictures, over all ${counted(frames.count, "frame", "frames")} on the screen.`}
		</p>
	);
}

export function FlameView(p: { c: Context }) {
	const { c } = p, form = c.a.form(c.v), tree = c.a.tree(form), box = useRef<HTMLDivElement>(null);
	const width = useWidth(box), zoom = c.v.zoom < tree.count ? c.v.zoom : 0;
	const frames = useFrames(c, form, zoom, Math.max(width, 1));
	const changes = useChanges(c, form, frames);
	return (
		<>
			<FlameControls c={c} />
			<Above c={c} form={form} zoom={zoom} />
			<div ref={box}>
				<FlamePicture c={c} form={form} frames={frames} width={width} zoom={zoom}
					colour={colourer(c, form, tree, changes)} changes={changes} />
			</div>
			<Legend c={c} />
			<Notes c={c} frames={frames} />
			<TableButton name="flame graph" table={() => <FlameTable c={c} form={form} frames={frames} />} />
		</>
	);
}
