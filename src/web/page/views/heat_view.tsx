/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat_view: the heatmap of the whole time. A drag selects a stretch, a drag with Ctrl the second
 * one; double click clears both. With the keyboard: arrows move a cell, Shift extends the stretch,
 * Enter begins and ends it, Ctrl+Enter those of the second one.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { amount, moment, share, time } from "../model/figure";
import { Heat, makeHeat, roundUp, stretchOf } from "../model/heat";
import { NO_CPU } from "../data/entries";
import { isTimed, Stretch } from "../model/selection";
import { heatColour, palette, Palette } from "./colours";
import { Context } from "./context";
import { Choice, PlainTable, TableButton } from "./controls";

type Cell = [column: number, line: number];
const CELL_PX = 7;
const AXIS_PX = 44;

function stretchText(c: Context, s: Stretch): string {
	const t = c.a.m.times!, step = (s.to - s.from) * t.stepNs;
	return `${moment(s.from * t.stepNs, step / 10)} to ${moment(s.to * t.stepNs, step / 10)} (${time(step)})`;
}

/* Rows that the heatmap counts: those of the view, without idle ones, and of a search the matches. */
function heatRows(c: Context): { rows: Uint8Array; text: string } {
	const m = c.a.m, kept = c.a.kept(c.v), matches = c.a.matches(c.v, c.a.form(c.v));
	const idle = m.processes.map((p) => p.idle);
	const busy = idle.some((is) => !is) && (c.v.process < 0 || !idle[c.v.process]);
	const rows = kept.map((keep, row) =>
		keep && (!busy || !idle[m.rowProcess[row]]) && (!matches || matches.rows[row]) ? 1 : 0);
	const what = busy && idle.some(Boolean) ? "samples of busy CPUs" : "samples";
	return { rows, text: matches ? `${what} with a match` : what };
}

function paint(
	canvas: HTMLCanvasElement, h: Heat, size: { width: number; line: number },
	marks: { stretch: Stretch; colour: string }[], cursor: Cell | null, p: Palette,
): void {
	const ratio = window.devicePixelRatio || 1, g = canvas.getContext("2d")!;
	const height = h.lines * size.line, cell = size.width / h.columns;
	canvas.width = Math.round(size.width * ratio);
	canvas.height = Math.round(height * ratio);
	g.setTransform(ratio, 0, 0, ratio, 0, 0);
	for (let column = 0; column < h.columns; column++)
		for (let line = 0; line < h.lines; line++) {
			const part = h.amount[column * h.lines + line] / h.most;
			g.fillStyle = part > 0 ? heatColour(part, p.dark) : p.paper;
			g.fillRect(column * cell, line * size.line, cell - (cell > 4 ? 1 : 0), size.line - 1);
		}
	const each = (s: Stretch, visit: (x: number, y: number, w: number, hh: number) => void) => {
		const a = Math.round(s.from / h.cellSteps), b = Math.round(s.to / h.cellSteps) - 1;
		const lines = h.byCpu ? 1 : h.lines;
		for (let column = Math.floor(a / lines); column <= Math.floor(b / lines); column++) {
			const top = Math.max(a - column * lines, 0), end = Math.min(b - column * lines, lines - 1);
			if (column >= 0 && column < h.columns)
				visit(column * cell, h.byCpu ? 0 : top * size.line, cell,
					h.byCpu ? height : (end - top + 1) * size.line);
		}
	};
	for (const m of marks)
		each(m.stretch, (x, y, w, hh) => {
			g.globalAlpha = 0.3;
			g.fillStyle = m.colour;
			g.fillRect(x, y, w, hh);
			g.globalAlpha = 1;
			g.fillRect(x, y, w, 2);
			g.fillRect(x, y + hh - 2, w, 2);
		});
	if (cursor) {
		g.strokeStyle = p.text;
		g.lineWidth = 2;
		g.strokeRect(cursor[0] * cell, cursor[1] * size.line, Math.max(cell, 2), size.line);
	}
}

function useHeat(c: Context, width: number): { heat: Heat; text: string } {
	const m = c.a.m, value = isTimed(m, c.a.value(c.v)) ? c.a.value(c.v) : timedValue(c);
	const { rows, text } = useMemo(() => heatRows(c), [c.a, c.v.process, c.v.idle, c.v.search]);
	const columns = Math.max(10, Math.floor(width / CELL_PX));
	const heat = useMemo(() => makeHeat(m, value, rows, columns, c.v.lanes),
		[m, value, rows, columns, c.v.lanes]);
	return { heat, text };
}

function timedValue(c: Context): number {
	const t = c.a.m.times!;
	return t.samplesValue >= 0 ? t.samplesValue : t.weightValue;
}

function HeatTable(p: { c: Context; heat: Heat }) {
	const { c, heat } = p, t = c.a.m.times!;
	return (
		<PlainTable label="columns of the heatmap" head={["from", "to", "amount", "share"]} left={[]}
			rows={heat.columns}
			row={(i) => {
				let all = 0;
				for (let line = 0; line < heat.lines; line++)
					all += heat.amount[i * heat.lines + line];
				const step = heat.columnSteps * t.stepNs;
				return {
					key: i,
					cells: [moment(i * step, step), moment((i + 1) * step, step), amount(all, "count"),
						share(heat.total ? all / heat.total : 0)],
				};
			}} />
	);
}

/* The labels of the lines: CPUs, or the time within a column. */
function Lines(p: { heat: Heat; line: number; step: number }) {
	const { heat } = p, labels: [number, string][] = [];
	if (heat.byCpu)
		heat.cpus.forEach((cpu, i) => labels.push([i, cpu === NO_CPU ? "?" : `CPU ${cpu}`]));
	else
		for (let i = 0; i < heat.lines; i += heat.lines / 5)
			labels.push([i, `+${time(i * heat.cellSteps * p.step)}`.replace(/\.0+ /, " ")]);
	const every = Math.ceil(12 / p.line);
	return (
		<div class="lines" aria-hidden="true" style={{ width: `${AXIS_PX + 16}px` }}>
			{labels.filter((_, i) => !heat.byCpu || i % every === 0).map(([i, text]) => (
				<span key={i} style={{ top: `${i * p.line}px` }}>{text}</span>
			))}
		</div>
	);
}

/* Times below the columns: round ones, not too close to each other. */
function Ticks(p: { heat: Heat; width: number; step: number }) {
	const length = p.heat.columnSteps * p.step, all = length * p.heat.columns;
	const every = roundUp(Math.max((90 * all) / p.width, length)), ticks: number[] = [];
	for (let ns = 0; ns < all - every / 3; ns += every)
		ticks.push(ns);
	return (
		<div class="ticks" aria-hidden="true">
			{ticks.map((ns) => (
				<span key={ns} style={{ left: `${(100 * ns) / all}%` }}>{moment(ns, every)}</span>
			))}
		</div>
	);
}

export function HeatView(p: { c: Context }) {
	const { c } = p, t = c.a.m.times!;
	const box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
	const [width, setWidth] = useState(0);
	const [drag, setDrag] = useState<{ from: Cell; to: Cell; second: boolean } | null>(null);
	const [cursor, setCursor] = useState<Cell | null>(null);
	const [hover, setHover] = useState<Cell | null>(null);
	const { heat, text } = useHeat(c, width || 600);
	const line = heat.byCpu ? Math.max(4, Math.min(16, Math.floor(320 / heat.lines))) : 7;

	useLayoutEffect(() => {
		const observer = new ResizeObserver(() => setWidth(box.current?.clientWidth ?? 0));
		setWidth(box.current!.clientWidth);
		observer.observe(box.current!);
		return () => observer.disconnect();
	}, []);

	const dragged = drag && stretchOf(heat, drag.from, drag.to);
	const first = drag && !drag.second ? dragged : c.v.first;
	const second = drag?.second ? dragged : drag ? null : c.v.second;
	useLayoutEffect(() => {
		if (!width)
			return;
		const colours = palette(document.documentElement);
		const marks = [];
		if (first)
			marks.push({ stretch: first, colour: "hsl(211 90% 50%)" });
		if (second)
			marks.push({ stretch: second, colour: "hsl(285 80% 55%)" });
		paint(canvas.current!, heat, { width, line }, marks, cursor, colours);
	});

	const cellAt = (e: MouseEvent): Cell => {
		const r = canvas.current!.getBoundingClientRect();
		const column = Math.floor(((e.clientX - r.left) / r.width) * heat.columns);
		const at = Math.floor((e.clientY - r.top) / line);
		return [Math.min(Math.max(column, 0), heat.columns - 1), Math.min(Math.max(at, 0), heat.lines - 1)];
	};
	const select = (s: Stretch, isSecond: boolean) =>
		isSecond && c.v.first
			? c.set({ second: s, colour: "change" })
			: c.set({ first: s, second: null });
	const begin = (e: PointerEvent) => {
		if (e.button)
			return;
		canvas.current!.setPointerCapture(e.pointerId);
		const at = cellAt(e);
		setDrag({ from: at, to: at, second: (e.ctrlKey || e.metaKey) && !!c.v.first });
	};
	const end = () => {
		if (drag)
			select(stretchOf(heat, drag.from, drag.to), drag.second);
		setDrag(null);
	};
	const onKey = (e: KeyboardEvent) => {
		const moves: Record<string, Cell> = {
			ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
		};
		const at = cursor ?? [0, 0];
		if (moves[e.key]) {
			const to: Cell = [
				Math.min(Math.max(at[0] + (cursor ? moves[e.key][0] : 0), 0), heat.columns - 1),
				Math.min(Math.max(at[1] + (cursor ? moves[e.key][1] : 0), 0), heat.lines - 1),
			];
			setCursor(to);
			if (drag)
				setDrag({ ...drag, to });
		} else if (e.key === "Enter") {
			if (drag)
				end();
			else
				setDrag({ from: at, to: at, second: e.ctrlKey && !!c.v.first });
		} else {
			return;
		}
		e.preventDefault();
	};
	const pointed = hover ?? cursor;
	const value = pointed && heat.amount[pointed[0] * heat.lines + pointed[1]];

	return (
		<>
			<div class="controls" role="group" aria-label="choices for the heatmap">
				<Choice label="lines" value={c.v.lanes ? 1 : 0} options={[[0, "time"], [1, "CPUs"]]}
					onChange={(lanes) => c.set({ lanes: lanes === 1 })} />
				{first && <span class="chip first">first: {stretchText(c, first)}</span>}
				{second && <span class="chip second">second: {stretchText(c, second)}</span>}
				{c.v.first && (
					<button type="button" onClick={() => c.set({ first: null, second: null })}>clear</button>
				)}
			</div>
			<div class="heat">
				<Lines heat={heat} line={line} step={t.stepNs} />
				<div class="heat-box" ref={box}>
					<canvas ref={canvas} tabIndex={0} role="application"
						style={{ width: "100%", height: `${heat.lines * line}px` }}
						aria-label="Heatmap of the whole time: arrows move, Enter begins and ends a stretch, Ctrl and Enter a second one, Escape clears"
						aria-describedby="heat-status"
						onPointerDown={begin}
						onPointerMove={(e) => {
							setHover(cellAt(e));
							if (drag)
								setDrag({ ...drag, to: cellAt(e) });
						}}
						onPointerUp={end}
						onPointerLeave={() => setHover(null)}
						onDblClick={() => c.set({ first: null, second: null })}
						onKeyDown={onKey} />
					<Ticks heat={heat} width={width || 600} step={t.stepNs} />
				</div>
			</div>
			<p id="heat-status" class="status" role="status">
				{pointed
					? `${moment((heat.byCpu ? pointed[0] : pointed[0] * heat.lines + pointed[1]) * heat.cellSteps * t.stepNs, heat.cellSteps * t.stepNs)}${heat.byCpu ? `, ${heat.cpus[pointed[1]] === NO_CPU ? "CPU unknown" : `CPU ${heat.cpus[pointed[1]]}`}` : ""}: ${amount(value!, c.a.m.values[timedValue(c)].unit)}`
					: ""}
			</p>
			<p class="note">
				A cell is {time(heat.cellSteps * t.stepNs)}: {text}
				{heat.byCpu ? "" : `; a column is ${time(heat.columnSteps * t.stepNs)}, its time runs downward`}.
				Drag to select a stretch, drag with Ctrl to compare a second one with it; double click or
				Escape clears.
				{c.v.first && !isTimed(c.a.m, c.a.value(c.v)) &&
					" The chosen value is not known by time: flame graph and tables show all of it."}
			</p>
			<TableButton name="heatmap" table={() => <HeatTable c={c} heat={heat} />} />
		</>
	);
}
