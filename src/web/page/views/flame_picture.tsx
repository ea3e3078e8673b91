/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flame_picture: the canvas of the flame graph, with pointer and keyboard. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Frames } from "../model/layout";
import { TreeForm } from "../model/tree";
import { palette } from "./colours";
import { Context } from "./context";
import { draw, frameAt, heightOf, LINE, neighbourOf, Picture, topOf, Way, Window_ } from "./flame_canvas";
import { Tip } from "./flame_tip";
import { frameFacts, nodeName } from "./frame_facts";

const HEIGHT_MOST = 640;

interface PictureProps {
	c: Context;
	form: TreeForm;
	frames: Frames;
	width: number;
	zoom: number;
	colour: (node: number) => string;
	changes: Set<number>;
}

interface Hover {
	frame: number;
	x: number;
	y: number;
}

const NOWHERE: Hover = { frame: -1, x: 0, y: 0 };

function pictureOf(p: PictureProps, focus: number, hover: number): Picture {
	const { c, form, frames } = p, matches = c.a.matches(c.v, form);
	const mark = (node: number) => (c.v.colour === "change" && p.changes.has(node) ? "◆ " : "");
	return {
		frames, flame: c.v.flame, above: c.a.tree(form).depth[p.zoom], focus, hover,
		colour: (i) => p.colour(frames.node[i]),
		label: (i) => mark(frames.node[i]) + nodeName(c, form, frames.node[i]),
		matches: matches && ((i) => !!matches.own[frames.node[i]]),
	};
}

/* The way of an arrow key: the root is at the top, or at the bottom. */
function wayOf(key: string, flame: boolean): Way | undefined {
	const ways: Record<string, Way> = {
		ArrowDown: flame ? "parent" : "child", ArrowUp: flame ? "child" : "parent",
		ArrowLeft: "left", ArrowRight: "right",
	};
	return ways[key];
}

/* Scrolls so that a frame is in sight. */
function reveal(box: HTMLElement, top: number): void {
	if (top < box.scrollTop)
		box.scrollTop = top;
	else if (top + LINE > box.scrollTop + box.clientHeight)
		box.scrollTop = top + LINE - box.clientHeight;
}

interface Keys {
	picture: Picture;
	focus: (frame: number) => void;
	zoom: (frame: number) => void;
}

function pressKey(e: KeyboardEvent, k: Keys): void {
	const { picture } = k, at = picture.focus >= 0 ? picture.focus : picture.above;
	const way = wayOf(e.key, picture.flame);
	if (way)
		k.focus(picture.focus < 0 ? at : neighbourOf(picture.frames, at, way));
	else if (e.key === "Enter")
		k.zoom(at);
	else if (e.key === "Home")
		k.focus(picture.above);
	else
		return;
	e.preventDefault();
}

/* What a screen reader says about the frame with the focus. */
function Spoken(p: { c: Context; form: TreeForm; frames: Frames; node: number }) {
	const facts = p.node >= 0 ? frameFacts(p.c, p.form, p.node, p.frames.count) : null;
	const lines = facts?.lines.map((l) => l.filter(Boolean).join(" ")).join("; ");
	return (
		<p id={p.c.second ? undefined : "flame-status"} class="status" role="status">{facts ? `${facts.name}: ${lines}` : ""}</p>
	);
}

export function FlamePicture(p: PictureProps) {
	const { c, form, frames, width, zoom } = p;
	const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
	const [scroll, setScroll] = useState(0), [focus, setFocus] = useState(-1);
	const [hover, setHover] = useState(NOWHERE);
	const height = Math.min(heightOf(frames), HEIGHT_MOST), window_: Window_ = { width, height, scroll };
	const picture = pictureOf(p, focus < 0 ? -1 : frames.node.indexOf(focus), hover.frame);

	useLayoutEffect(() => {
		if (width)
			draw(canvas.current!, picture, window_, palette(document.documentElement));
	});
	useEffect(() => {
		box.current!.scrollTop = c.v.flame ? heightOf(frames) : 0;
	}, [c.v.flame, c.v.up, zoom, width > 0, c.v.flame && frames.levels]);
	useEffect(() => setHover(NOWHERE), [frames]);

	const place = (e: MouseEvent) => {
		const r = canvas.current!.getBoundingClientRect();
		return frameAt(picture, window_, e.clientX - r.left, e.clientY - r.top);
	};
	const focusOn = (frame: number) => {
		if (frame < 0)
			return;
		setFocus(frames.node[frame]);
		reveal(box.current!, topOf(picture, frames.level[frame]));
	};
	const zoomTo = (frame: number) => {
		if (frame < 0)
			return;
		setFocus(frames.node[frame]);
		c.set({ zoom: frames.node[frame] });
	};
	const pointed = hover.frame >= 0 && hover.frame < frames.count ? frames.node[hover.frame] : -1;

	return (
		<>
			<div class="flame" ref={box} style={{ height: `${height}px` }}
				onScroll={(e) => setScroll(e.currentTarget.scrollTop)}>
				<div style={{ height: `${heightOf(frames)}px` }}>
					<canvas ref={canvas} tabIndex={0} role="application"
						style={{ width: `${width}px`, height: `${height}px` }}
						aria-label="Flame graph: arrows move, Enter zooms, Escape goes back, slash searches"
						aria-describedby="flame-status"
						onMouseMove={(e) => setHover({ frame: place(e), x: e.clientX, y: e.clientY })}
						onMouseLeave={() => setHover(NOWHERE)}
						onClick={(e) => zoomTo(place(e))}
						onDblClick={() => c.set({ zoom: 0 })}
						onKeyDown={(e) => pressKey(e, { picture, focus: focusOn, zoom: zoomTo })} />
				</div>
			</div>
			{pointed >= 0 && <Tip c={c} form={form} node={pointed} x={hover.x} y={hover.y}
				compared={frames.count} />}
			<Spoken c={c} form={form} frames={frames} node={picture.focus >= 0 ? focus : -1} />
		</>
	);
}
