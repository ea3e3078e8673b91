/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lanes_canvas: draws the calls of each thread over time; the canvas has the size of the visible part. */
import { callAt, LANE_LINE, LANE_TITLE, Lanes, LEVELS_MOST, OUT } from "../model/lanes";
import { Stretch } from "../model/selection";
import { emptyCanvas } from "./canvas";
import { frameColour, Palette } from "./colours";
import { Drag, drawDrag } from "./time_canvas";

const FONT = "11px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

export interface LanesPicture {
	l: Lanes;
	tops: number[];
	shown: Stretch;
	width: number;
	height: number;
	scroll: number;
	hover: number; /* call; -1: none */
	matches: ((name: string) => boolean) | null;
	drag: Drag | null;
}

/* Colours and matches by name, since names repeat. */
type Look = { colour: string; hit: boolean; text: string };

function looks(p: LanesPicture, c: Palette): (call: number) => Look {
	const known = new Map<number, Look>();
	return (call) => {
		const name = p.l.name[call];
		let look = known.get(name);
		if (!look) {
			const text = p.l.names.get(name), out = p.l.kind[call] === OUT;
			const func = { name: text, image: "", file: "", line: 0, group: "", kind: p.l.switches ? 1 : 0 };
			look = {
				text, hit: p.matches?.(text) ?? false,
				colour: !out ? frameColour(p.l.switches ? "kind" : "function", func, new Map(), c.dark) : text === "(preempted)" ? c.dim : c.line,
			};
			known.set(name, look);
		}
		return look;
	};
}

/* Returns the number of calls that are too narrow to draw. */
export function drawLanes(canvas: HTMLCanvasElement, p: LanesPicture, c: Palette): number {
	const g = emptyCanvas(canvas, p.width, p.height, FONT), look = looks(p, c);
	let narrow = 0;
	for (let i = 0; i < p.l.lanes.length; i++)
		if (p.tops[i + 1] > p.scroll && p.tops[i] < p.scroll + p.height)
			narrow += drawLane(g, p, i, c, look);
	drawDrag(g, p.drag, p.height, c);
	return narrow;
}

function drawLane(
	g: CanvasRenderingContext2D, p: LanesPicture, at: number, c: Palette, look: (call: number) => Look,
): number {
	const { l, shown } = p, lane = l.lanes[at], top = p.tops[at] - p.scroll;
	const scale = p.width / (shown.to - shown.from), char = g.measureText("0").width;
	const last = new Int32Array(LEVELS_MOST).fill(-1); /* the last pixel of each level with a narrow call */
	let narrow = 0;
	g.fillStyle = c.dim;
	g.fillText(`${lane.process} · ${lane.thread}`, 2, top + LANE_TITLE / 2);
	for (let i = lane.first; i < lane.end && l.begin[i] < shown.to; i++) {
		const level = l.depth[i], end = l.begin[i] + l.length[i];
		if (end < shown.from || level >= LEVELS_MOST)
			continue;
		const x = Math.max((l.begin[i] - shown.from) * scale, 0);
		const width = Math.min((end - shown.from) * scale, p.width) - x;
		if (width < 1) {
			if (last[level] === Math.floor(x)) {
				narrow++;
				continue;
			}
			last[level] = Math.floor(x);
		}
		const y = top + LANE_TITLE + level * LANE_LINE, look_ = look(i);
		g.globalAlpha = p.matches && !look_.hit ? 0.4 : 1;
		g.fillStyle = look_.hit ? c.match : look_.colour;
		g.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 1), LANE_LINE - 1);
		const room = Math.floor((width - 6) / char);
		if (room > 1 && !l.switches) {
			g.fillStyle = look_.hit ? "#1a1a1a" : c.text;
			g.fillText(look_.text.length > room ? look_.text.slice(0, room - 1) + "…" : look_.text, x + 3, y + LANE_LINE / 2);
		}
		if (i === p.hover) {
			g.strokeStyle = c.accent;
			g.lineWidth = 2;
			g.strokeRect(x + 1, y + 1, Math.max(width - 2, 1), LANE_LINE - 3);
		}
		g.globalAlpha = 1;
	}
	return narrow;
}

/* The call at a place of the visible part, and its lane; -1: none. */
export function callAtPlace(p: LanesPicture, x: number, y: number): { call: number; lane: number } {
	const line = y + p.scroll, lane = p.l.lanes.findIndex((_, i) => line >= p.tops[i] && line < p.tops[i + 1]);
	if (lane < 0)
		return { call: -1, lane };
	const level = Math.floor((line - p.tops[lane] - LANE_TITLE) / LANE_LINE);
	const ns = p.shown.from + (x / p.width) * (p.shown.to - p.shown.from);
	return { call: level < 0 ? -1 : callAt(p.l, p.l.lanes[lane], ns, level), lane };
}
