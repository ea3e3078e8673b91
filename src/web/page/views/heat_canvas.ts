/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_canvas: draws the cells of the heatmap, the selected stretches and the cursor. */
import { Heat } from "../model/heat";
import { Stretch } from "../model/selection";
import { emptyCanvas } from "./canvas";
import { heatColour, Palette } from "./colours";

export type Cell = [column: number, line: number];

export interface Mark {
	stretch: Stretch;
	colour: string;
}

interface Scale {
	cell: number; /* width of a column in pixels */
	line: number; /* height of a line */
	height: number;
}

export function paint(
	canvas: HTMLCanvasElement, h: Heat, size: { width: number; line: number }, marks: Mark[],
	cursor: Cell | null, p: Palette,
): void {
	const s: Scale = { cell: size.width / h.columns, line: size.line, height: h.lines * size.line };
	const g = emptyCanvas(canvas, size.width, s.height);
	for (let column = 0; column < h.columns; column++)
		for (let line = 0; line < h.lines; line++) {
			const part = h.amount[column * h.lines + line] / h.most;
			g.fillStyle = part > 0 ? heatColour(part, p.dark) : p.paper;
			g.fillRect(column * s.cell, line * s.line, s.cell - (s.cell > 4 ? 1 : 0), s.line - 1);
		}
	for (const m of marks)
		paintMark(g, h, s, m);
	if (cursor) {
		g.strokeStyle = p.text;
		g.lineWidth = 2;
		g.strokeRect(cursor[0] * s.cell, cursor[1] * s.line, Math.max(s.cell, 2), s.line);
	}
}

/* A stretch: its part of each column. */
function paintMark(g: CanvasRenderingContext2D, h: Heat, s: Scale, m: Mark): void {
	const lines = h.byCpu ? 1 : h.lines, high = h.byCpu ? s.height : s.line;
	const first = Math.round(m.stretch.from / h.cellSteps);
	const last = Math.round(m.stretch.to / h.cellSteps) - 1;
	g.fillStyle = m.colour;
	for (let column = Math.floor(first / lines); column <= Math.floor(last / lines); column++) {
		const top = Math.max(first - column * lines, 0) * high;
		const end = (Math.min(last - column * lines, lines - 1) + 1) * high;
		g.globalAlpha = 0.3;
		g.fillRect(column * s.cell, top, s.cell, end - top);
		g.globalAlpha = 1;
		g.fillRect(column * s.cell, top, s.cell, 2);
		g.fillRect(column * s.cell, end - 2, s.cell, 2);
	}
}
