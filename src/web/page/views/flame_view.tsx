/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_view: the flame graph with its tooltip, keyboard, legend and the table behind it. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { amount, counted, share } from "../model/figure";
import { Frames, layout } from "../model/layout";
import { matchedSum } from "../model/search";
import { Tree, TreeForm } from "../model/tree";
import { METHODS } from "../statistics/estimates";
import { byChange, frameColour, palette, processColour } from "./colours";
import { Context, unitOf } from "./context";
import { PlainTable, TableButton } from "./controls";
import { draw, frameAt, heightOf, LINE, neighbourOf, Picture, topOf, Window_ } from "./flame_canvas";
import { FlameControls, Legend, ranksOf } from "./flame_controls";
import { frameFacts, nodeName } from "./frame_facts";
import { useLater } from "./later";

const LEAST_PX = 0.75;
const HEIGHT_MOST = 640;

/* Frames on the screen that are wide enough to be compared with their earlier share. */
function useFrames(c: Context, form: TreeForm, zoom: number, width: number): Frames {
	const side = c.v.before ? (c.a.old(c.v) ?? c.a.now(c.v)) : c.a.now(c.v);
	const sums = c.a.sums(c.v, form, side), tree = c.a.tree(form);
	return useMemo(() => layout(tree, sums.total, zoom, LEAST_PX / width), [tree, sums, zoom, width]);
}

/* The frames of a differential flame graph whose change is beyond chance, found between pictures. */
function useChanges(c: Context, form: TreeForm, frames: Frames): Set<number> {
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
			const end = performance.now() + 12;
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

function useWidth(element: { current: HTMLElement | null }): number {
	const [width, setWidth] = useState(0);
	useLayoutEffect(() => {
		const measure = () => setWidth(element.current?.clientWidth ?? 0);
		const observer = new ResizeObserver(measure);
		measure();
		observer.observe(element.current!);
		return () => observer.disconnect();
	}, []);
	return width;
}

function colourer(c: Context, form: TreeForm, tree: Tree, changes: Set<number>) {
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

function Tip(p: { c: Context; form: TreeForm; node: number; x: number; y: number; compared: number }) {
	const box = useRef<HTMLDivElement>(null);
	const full = useLater(() => ({ node: p.node, facts: frameFacts(p.c, p.form, p.node, p.compared) }),
		[p.node, p.c.v, p.compared], 60);
	const facts = full?.node === p.node ? full.facts : frameFacts(p.c, p.form, p.node, 0);
	useLayoutEffect(() => {
		const e = box.current!, w = document.documentElement.clientWidth;
		e.style.left = `${Math.max(8, Math.min(p.x + 14, w - e.offsetWidth - 8))}px`;
		const below = p.y + 18 + e.offsetHeight < window.innerHeight;
		e.style.top = `${below ? p.y + 18 : Math.max(8, p.y - e.offsetHeight - 12)}px`;
	});
	return (
		<div class="tip" ref={box} role="tooltip">
			<strong>{facts.name}</strong>
			<dl>
				{facts.lines.map(([label, text]) => (
					<><dt>{label}</dt><dd>{text}</dd></>
				))}
			</dl>
		</div>
	);
}

export function FlameView(p: { c: Context }) {
	const { c } = p, form = c.a.form(c.v), tree = c.a.tree(form);
	const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
	const width = useWidth(box), zoom = c.v.zoom < tree.count ? c.v.zoom : 0;
	const frames = useFrames(c, form, zoom, Math.max(width, 1));
	const changes = useChanges(c, form, frames);
	const [scroll, setScroll] = useState(0);
	const [focus, setFocus] = useState(-1);
	const [hover, setHover] = useState({ frame: -1, x: 0, y: 0 });
	const matches = c.a.matches(c.v, form), colour = colourer(c, form, tree, changes);
	const above = tree.depth[zoom], height = Math.min(heightOf(frames), HEIGHT_MOST);
	const window_: Window_ = { width, height, scroll };
	const focused = focus < 0 ? -1 : frames.node.indexOf(focus);
	const mark = (node: number) => (c.v.colour === "change" && changes.has(node) ? "◆ " : "");
	const picture: Picture = {
		frames, flame: c.v.flame, above, focus: focused, hover: hover.frame,
		colour: (i) => colour(frames.node[i]),
		label: (i) => mark(frames.node[i]) + nodeName(c, form, frames.node[i]),
		matches: matches && ((i) => !!matches.own[frames.node[i]]),
	};

	useLayoutEffect(() => {
		if (width)
			draw(canvas.current!, picture, window_, palette(document.documentElement));
	});
	useEffect(() => {
		if (box.current)
			box.current.scrollTop = c.v.flame ? heightOf(frames) : 0;
	}, [c.v.flame, c.v.up, zoom, width > 0, c.v.flame && frames.levels]);
	useEffect(() => setHover({ frame: -1, x: 0, y: 0 }), [frames]);

	const place = (e: MouseEvent) => {
		const r = canvas.current!.getBoundingClientRect();
		return frameAt(picture, window_, e.clientX - r.left, e.clientY - r.top);
	};
	const zoomTo = (frame: number) => {
		if (frame >= 0) {
			setFocus(frames.node[frame]);
			c.set({ zoom: frames.node[frame] });
		}
	};
	const show = (frame: number) => {
		const y = topOf(picture, frames.level[frame]), b = box.current!;
		if (y < b.scrollTop)
			b.scrollTop = y;
		else if (y + LINE > b.scrollTop + height)
			b.scrollTop = y + LINE - height;
	};
	const onKey = (e: KeyboardEvent) => {
		const at = focused >= 0 ? focused : above;
		const down = c.v.flame ? "parent" : "child", up = c.v.flame ? "child" : "parent";
		const ways: Record<string, "parent" | "child" | "left" | "right"> = {
			ArrowDown: down, ArrowUp: up, ArrowLeft: "left", ArrowRight: "right",
		};
		if (ways[e.key]) {
			const next = focused < 0 ? at : neighbourOf(frames, at, ways[e.key]);
			if (next >= 0) {
				setFocus(frames.node[next]);
				show(next);
			}
		} else if (e.key === "Enter") {
			zoomTo(at);
		} else if (e.key === "Home") {
			setFocus(frames.node[above]);
		} else {
			return;
		}
		e.preventDefault();
	};
	const pointed = hover.frame >= 0 && hover.frame < frames.count ? frames.node[hover.frame] : -1;
	const spoken = focused >= 0 ? frameFacts(c, form, focus, frames.count) : null;

	return (
		<>
			<FlameControls c={c} />
			<Above c={c} form={form} zoom={zoom} />
			<div class="flame" ref={box} style={{ height: `${height}px` }}
				onScroll={(e) => setScroll(e.currentTarget.scrollTop)}>
				<div style={{ height: `${heightOf(frames)}px` }}>
					<canvas ref={canvas} tabIndex={0} role="application"
						style={{ width: `${width}px`, height: `${height}px` }}
						aria-label="Flame graph: arrows move, Enter zooms, Escape goes back, slash searches"
						aria-describedby="flame-status"
						onMouseMove={(e) => setHover({ frame: place(e), x: e.clientX, y: e.clientY })}
						onMouseLeave={() => setHover({ frame: -1, x: 0, y: 0 })}
						onClick={(e) => zoomTo(place(e))}
						onDblClick={() => c.set({ zoom: 0 })}
						onKeyDown={onKey} />
				</div>
			</div>
			{pointed >= 0 && <Tip c={c} form={form} node={pointed} x={hover.x} y={hover.y}
				compared={frames.count} />}
			<p id="flame-status" class="status" role="status">
				{spoken
					? `${spoken.name}: ${spoken.lines.map((l) => l.filter(Boolean).join(" ")).join("; ")}`
					: ""}
			</p>
			<Legend c={c} />
			<p class="note">
				<Narrow frames={frames} />
				{METHODS[c.a.now(c.v).estimates.method]}{" "}
				{c.a.old(c.v) && c.a.now(c.v).estimates.method !== "none" &&
					`◆ marks the frames whose share differs beyond chance: one false mark in twenty pictures, over all ${counted(frames.count, "frame", "frames")} on the screen.`}
			</p>
			<TableButton name="flame graph" table={() => <FlameTable c={c} form={form} frames={frames} />} />
		</>
	);
}

