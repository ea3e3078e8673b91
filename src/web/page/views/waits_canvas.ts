/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits_canvas: draws the states of threads in time, the arrows of wake-ups, and the path that decided
 * the elapsed time. The canvas has the size of the visible part. Times that are narrower than a pixel
 * share it in proportion: nothing is left out.
 */
import { Stretch } from "../model/selection";
import { Arrows, eachState, RUNNABLE } from "../model/wait_lanes";
import { WaitPath } from "../model/wait_path";
import { inAt, wakerOf, WaitLane, Waits, wokenAt } from "../model/waits";
import { emptyCanvas } from "./canvas";
import { Palette } from "./colours";
import { Drag, drawDrag } from "./time_canvas";

export const LANE = 19, TOP = 20, GUTTER = 190;
const BAR = 13, FONT = "11.5px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

export interface WaitsPicture {
	w: Waits;
	lanes: WaitLane[];
	kindState: Map<number, number>;
	colours: string[]; /* by state */
	path: WaitPath | null;
	arrows: Arrows;
	shown: Stretch;
	width: number;
	height: number;
	scroll: number;
	wait: number; /* the selected one; -1: none */
	hover: number; /* likewise, below the pointer */
	lane: number; /* in which the path ends; -1: none */
	drag: Drag | null;
}

const HUES: Record<string, [number, number]> = {
	lock: [2, 62], condition: [28, 62], semaphore: [45, 60], pipe: [170, 38], socket: [190, 42], event: [262, 38],
	child: [310, 32], file: [95, 36], device: [70, 42], timer: [225, 14], sleep: [225, 10], page_fault: [335, 52], other: [0, 0],
};

/* Blocked times are pale and differ by kind; a CPU is strong. */
export function stateColour(kind: string, dark: boolean): string {
	if (kind === "on_cpu")
		return dark ? "hsl(211 62% 52%)" : "hsl(211 68% 52%)";
	if (kind === "runnable")
		return dark ? "hsl(40 78% 52%)" : "hsl(40 92% 55%)";
	const [hue, strength] = HUES[kind] ?? HUES.other;
	return dark ? `hsl(${hue} ${strength * 0.5}% 29%)` : `hsl(${hue} ${strength}% 85%)`;
}

export const pathColour = (dark: boolean) => (dark ? "#ff7ad9" : "#d1147f");

const xOf = (p: WaitsPicture, ns: number) =>
	GUTTER + ((ns - p.shown.from) / (p.shown.to - p.shown.from)) * (p.width - GUTTER);
const yOf = (p: WaitsPicture, row: number) => TOP + row * LANE - p.scroll;

function shorten(g: CanvasRenderingContext2D, text: string, room: number): string {
	if (g.measureText(text).width <= room)
		return text;
	let length = text.length;
	while (length > 1 && g.measureText(text.slice(0, length) + "…").width > room)
		length--;
	return text.slice(0, length) + "…";
}

function drawLane(g: CanvasRenderingContext2D, p: WaitsPicture, row: number, c: Palette): void {
	const l = p.lanes[row], y = yOf(p, row), columns = Math.ceil(p.width - GUTTER) + 1, states = p.colours.length;
	const small = new Float64Array(columns * states), perPixel = (p.shown.to - p.shown.from) / (p.width - GUTTER);
	g.fillStyle = l.id === p.lane ? pathColour(c.dark) : c.text;
	g.fillText(shorten(g, `${l.name} ${l.tid}`, GUTTER - (l.tid === l.pid ? 12 : 24)), l.tid === l.pid ? 4 : 16, y + LANE / 2);
	eachState(p.w, l, p.kindState, p.shown, (state, from, to, wait) => {
		const x = xOf(p, from), width = xOf(p, to) - x;
		if (width < 1.5) {
			small[Math.min(Math.floor(x - GUTTER), columns - 1) * states + state] += to - from;
			return;
		}
		g.fillStyle = p.colours[state];
		g.fillRect(x, y + (LANE - BAR) / 2, width, BAR);
		if (width > 42 && wait >= 0 && state !== RUNNABLE) {
			const cause = p.w.cause[wait], name = p.w.texts.get(p.w.causes.name[cause]);
			g.fillStyle = c.text;
			g.fillText(shorten(g, `${p.w.texts.get(p.w.causes.kind[cause])} ${name}`.trim(), width - 8), x + 4, y + LANE / 2);
		}
	});
	for (let x = 0; x < columns; x++)
		for (let state = 0, top = y + (LANE + BAR) / 2; state < states; state++) {
			const part = Math.min((small[x * states + state] / perPixel) * BAR, BAR);
			if (part <= 0)
				continue;
			g.fillStyle = p.colours[state];
			g.fillRect(GUTTER + x, top - part, 1, part);
			top -= part;
		}
}

function middle(p: WaitsPicture, rows: Map<number, number>, lane: number): number {
	const row = rows.get(lane);
	return row === undefined ? NaN : yOf(p, row) + LANE / 2;
}

function drawArrow(g: CanvasRenderingContext2D, p: WaitsPicture, rows: Map<number, number>, wait: number): void {
	const x = xOf(p, wokenAt(p.w, wait)), from = middle(p, rows, wakerOf(p.w, wait)), at = middle(p, rows, p.w.lane[wait]);
	if (Number.isNaN(from) || Number.isNaN(at) || x < GUTTER)
		return;
	const way = at > from ? 1 : -1, tip = at - way * (BAR / 2 - 1);
	g.beginPath();
	g.moveTo(x, from);
	g.lineTo(x, tip - way * 4);
	g.stroke();
	g.beginPath();
	g.moveTo(x, tip);
	g.lineTo(x - 3, tip - way * 5);
	g.lineTo(x + 3, tip - way * 5);
	g.fill();
	g.fillRect(x - 1.5, from - 1.5, 3, 3);
}

function drawDensity(g: CanvasRenderingContext2D, p: WaitsPicture, c: Palette): void {
	const { density } = p.arrows, most = Math.max(...density), size = (p.width - GUTTER) / density.length;
	g.fillStyle = c.dim;
	g.fillText("wake-ups", 4, TOP / 2);
	for (let i = 0; i < density.length && most; i++) {
		const height = density[i] ? Math.max((density[i] / most) * (TOP - 6), 1) : 0;
		g.fillRect(GUTTER + i * size, TOP - 3 - height, Math.max(size - 1, 1), height);
	}
}

/* A line below the states of the threads that decided, and from thread to thread at wake-ups. */
function drawPath(g: CanvasRenderingContext2D, p: WaitsPicture, rows: Map<number, number>, c: Palette): void {
	if (!p.path)
		return;
	const inView = p.path.segments.filter((s) => s.to > p.shown.from && s.from < p.shown.to);
	const crowded = inView.length > (p.width - GUTTER) / 8;
	let last = -1, lastX = -1;
	g.fillStyle = pathColour(c.dark);
	for (const s of inView) {
		const x = Math.max(xOf(p, s.from), GUTTER), end = xOf(p, s.to), row = rows.get(s.lane);
		if (row === undefined || end < GUTTER)
			continue;
		const y = yOf(p, row) + LANE - 2.5;
		if (end - lastX >= 0.5 || row !== last)
			g.fillRect(x, y, Math.max(end - x, 1), s.kind === "unknown" ? 1 : 2.5);
		if (last >= 0 && row !== last) {
			const other = yOf(p, last) + LANE - 2.5;
			g.globalAlpha = crowded ? 0.35 : 1;
			g.fillRect(x - 0.5, Math.min(y, other), crowded ? 1 : 1.5, Math.abs(y - other) + 2.5);
			g.globalAlpha = 1;
		}
		last = row;
		lastX = end;
	}
}

function outline(g: CanvasRenderingContext2D, p: WaitsPicture, rows: Map<number, number>, wait: number, colour: string): void {
	const row = wait < 0 ? undefined : rows.get(p.w.lane[wait]);
	if (row === undefined)
		return;
	const x = Math.max(xOf(p, p.w.out[wait]), GUTTER), end = Math.min(xOf(p, inAt(p.w, wait)), p.width);
	if (end < GUTTER || x > p.width)
		return;
	g.strokeStyle = colour;
	g.lineWidth = 2;
	g.strokeRect(x, yOf(p, row) + (LANE - BAR) / 2 - 1, Math.max(end - x, 2), BAR + 2);
	g.lineWidth = 1.5;
	g.fillStyle = colour;
	if (wakerOf(p.w, wait) >= 0)
		drawArrow(g, p, rows, wait);
}

export function drawWaits(canvas: HTMLCanvasElement, p: WaitsPicture, c: Palette): void {
	const g = emptyCanvas(canvas, p.width, p.height, FONT);
	const rows = new Map(p.lanes.map((l, i): [number, number] => [l.id, i]));
	p.lanes.forEach((_, row) => {
		if (yOf(p, row) > -LANE && yOf(p, row) < p.height)
			drawLane(g, p, row, c);
	});
	g.globalAlpha = p.arrows.left ? 0.5 : 0.75;
	g.lineWidth = 1;
	g.strokeStyle = g.fillStyle = c.text;
	for (const wait of p.arrows.waits)
		drawArrow(g, p, rows, wait);
	g.globalAlpha = 1;
	drawPath(g, p, rows, c);
	outline(g, p, rows, p.hover, c.dim);
	outline(g, p, rows, p.wait, c.accent);
	g.clearRect(0, 0, p.width, TOP - 1);
	drawDensity(g, p, c);
	drawDrag(g, p.drag, p.height, c);
}

/* The row at a height of the visible part; -1: none. */
export function rowAt(p: WaitsPicture, y: number): number {
	const row = Math.floor((y + p.scroll - TOP) / LANE);
	return y >= TOP && row < p.lanes.length ? row : -1;
}

export const statesOf = (kinds: string[], dark: boolean) =>
	["on_cpu", "runnable", ...kinds].map((kind) => stateColour(kind, dark));
