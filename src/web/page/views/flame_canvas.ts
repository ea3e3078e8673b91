/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_canvas: draws frames (model/layout.ts) on a canvas that has the size of the visible part;
 * the page scrolls a taller element behind it, so that deep trees need no large canvas.
 */
import { Frames } from "../model/layout";
import { emptyCanvas } from "./canvas";
import { Palette } from "./colours";

export const LINE = 18;
const FONT = "11.5px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

export interface Picture {
	frames: Frames;
	flame: boolean;
	colour: (frame: number) => string;
	label: (frame: number) => string;
	/* null: no search; else whether the frame matches */
	matches: ((frame: number) => boolean) | null;
	above: number; /* frames above the zoomed one: dimmed */
	focus: number; /* frame with the keyboard's focus; -1 */
	hover: number;
}

export interface Window_ {
	width: number;
	height: number;
	scroll: number;
}

export function heightOf(frames: Frames): number {
	return frames.levels * LINE;
}

/* The top of a level in the whole picture. */
export function topOf(p: Picture, level: number): number {
	return p.flame ? (p.frames.levels - 1 - level) * LINE : level * LINE;
}

let charWidth = 0;

export function draw(canvas: HTMLCanvasElement, p: Picture, w: Window_, c: Palette): void {
	const g = emptyCanvas(canvas, w.width, w.height, FONT);
	charWidth ||= g.measureText("0").width;
	for (let i = 0; i < p.frames.count; i++) {
		const y = topOf(p, p.frames.level[i]) - w.scroll;
		if (y > -LINE && y < w.height)
			drawFrame(g, p, i, y, w.width, c);
	}
	outline(g, p, p.hover, w, c.text, 1);
	outline(g, p, p.focus, w, c.accent, 2);
}

function drawFrame(
	g: CanvasRenderingContext2D, p: Picture, i: number, y: number, all: number, c: Palette,
): void {
	const x = p.frames.x[i] * all, width = Math.max(p.frames.width[i] * all - 1, 0.5);
	const hit = p.matches?.(i) ?? false;
	g.globalAlpha = i < p.above || (p.matches && !hit) ? 0.45 : 1;
	g.fillStyle = hit ? c.match : p.colour(i);
	g.fillRect(x, y, width, LINE - 1);
	g.globalAlpha = i < p.above ? 0.7 : 1;
	const room = Math.floor((width - 6) / charWidth);
	if (room < 2)
		return;
	const label = p.label(i);
	g.fillStyle = hit ? "#1a1a1a" : c.text;
	g.fillText(label.length > room ? label.slice(0, room - 1) + "…" : label, x + 3, y + LINE / 2);
	g.globalAlpha = 1;
}

function outline(
	g: CanvasRenderingContext2D, p: Picture, i: number, w: Window_, colour: string, size: number,
): void {
	g.globalAlpha = 1;
	if (i < 0 || i >= p.frames.count)
		return;
	const x = p.frames.x[i] * w.width, width = Math.max(p.frames.width[i] * w.width - 1, 1);
	g.strokeStyle = colour;
	g.lineWidth = size;
	g.strokeRect(x + size / 2, topOf(p, p.frames.level[i]) - w.scroll + size / 2,
		Math.max(width - size, 1), LINE - 1 - size);
}

/* The frame at a place of the visible part; -1: none. */
export function frameAt(p: Picture, w: Window_, x: number, y: number): number {
	const line = Math.floor((y + w.scroll) / LINE);
	const level = p.flame ? p.frames.levels - 1 - line : line, at = x / w.width;
	for (let i = 0; i < p.frames.count; i++)
		if (p.frames.level[i] === level && at >= p.frames.x[i] &&
			at < p.frames.x[i] + p.frames.width[i])
			return i;
	return -1;
}

export type Way = "parent" | "child" | "left" | "right";

/* The neighbour of a frame on the screen: its parent, its first child, or the frame beside it. */
export function neighbourOf(f: Frames, i: number, way: Way): number {
	const step = way === "parent" ? -1 : way === "child" ? 1 : 0, level = f.level[i] + step;
	let best = -1;
	for (let j = 0; j < f.count; j++) {
		if (f.level[j] !== level || j === i)
			continue;
		const inside = step < 0
			? f.x[j] <= f.x[i] + 1e-9 && f.x[j] + f.width[j] > f.x[i] + 1e-9
			: f.x[j] >= f.x[i] - 1e-9 && f.x[j] < f.x[i] + f.width[i] - 1e-9;
		if (way === "left" && f.x[j] < f.x[i] && (best < 0 || f.x[j] > f.x[best]))
			best = j;
		if (way === "right" && f.x[j] > f.x[i] && (best < 0 || f.x[j] < f.x[best]))
			best = j;
		if (step && inside && (best < 0 || f.width[j] > f.width[best]))
			best = j;
	}
	return best;
}
