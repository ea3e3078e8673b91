/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat_view: the heatmap of the whole time. A drag selects a stretch, a drag with Ctrl the second
 * one; double click clears both. With the keyboard: arrows move a cell, Enter begins and ends a
 * stretch, Ctrl+Enter the second one.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { NO_CPU } from "../data/entries";
import { amount, moment, share, time } from "../model/figure";
import { Heat, makeHeat, stretchOf } from "../model/heat";
import { isTimed, Stretch } from "../model/selection";
import { palette } from "./colours";
import { Context } from "./context";
import { Choice, PlainTable, TableButton } from "./controls";
import { Lines, Ticks } from "./heat_axes";
import { Cell, Mark, paint } from "./heat_canvas";
import { useWidth } from "./width";

const CELL_PX = 7;
const FIRST = "hsl(211 90% 50%)", SECOND = "hsl(285 80% 55%)";

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

/* The chosen value if it is known by time, else the samples. */
function heatValue(c: Context): number {
	const t = c.a.m.times!, value = c.a.value(c.v);
	return isTimed(c.a.m, value) ? value : t.samplesValue >= 0 ? t.samplesValue : t.weightValue;
}

function useHeat(c: Context, width: number): { heat: Heat; text: string } {
	const m = c.a.m, value = heatValue(c);
	const { rows, text } = useMemo(() => heatRows(c), [c.a, c.v.process, c.v.idle, c.v.search]);
	const columns = Math.max(10, Math.floor(width / CELL_PX));
	const heat = useMemo(() => makeHeat(m, value, rows, columns, c.v.lanes),
		[m, value, rows, columns, c.v.lanes]);
	return { heat, text };
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
					cells: [moment(i * step, step), moment((i + 1) * step, step), amount(all, c.a.m.values[heatValue(c)].unit),
						share(heat.total ? all / heat.total : 0)],
				};
			}} />
	);
}

interface Drag {
	from: Cell;
	to: Cell;
	second: boolean;
}

/* Stretches as they are, or as a drag that is not ended makes them. */
function stretches(c: Context, heat: Heat, drag: Drag | null): [Stretch | null, Stretch | null] {
	if (!drag)
		return [c.v.first, c.v.second];
	const dragged = stretchOf(heat, drag.from, drag.to);
	return drag.second ? [c.v.first, dragged] : [dragged, null];
}

function useDrag(c: Context, heat: Heat) {
	const [drag, setDrag] = useState<Drag | null>(null);
	const begin = (at: Cell, second: boolean) => setDrag({ from: at, to: at, second: second && !!c.v.first });
	const move = (to: Cell) => drag && setDrag({ ...drag, to });
	const end = () => {
		if (drag) {
			const stretch = stretchOf(heat, drag.from, drag.to);
			c.set(drag.second ? { second: stretch, colour: "change" } : { first: stretch, second: null });
		}
		setDrag(null);
	};
	return { drag, begin, move, end };
}

const within = (x: number, count: number) => Math.min(Math.max(x, 0), count - 1);

const MOVES: Record<string, Cell> = {
	ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

function HeatCanvas(p: {
	c: Context; heat: Heat; width: number; line: number; dragging: ReturnType<typeof useDrag>;
	onPoint: (cell: Cell | null) => void;
}) {
	const { c, heat, dragging, line } = p, canvas = useRef<HTMLCanvasElement>(null);
	const [cursor, setCursor] = useState<Cell | null>(null);
	const [first, second] = stretches(c, heat, dragging.drag);
	useLayoutEffect(() => {
		const marks: Mark[] = [];
		if (first)
			marks.push({ stretch: first, colour: FIRST });
		if (second)
			marks.push({ stretch: second, colour: SECOND });
		if (p.width)
			paint(canvas.current!, heat, p, marks, cursor, palette(document.documentElement));
	});
	const cellAt = (e: MouseEvent): Cell => {
		const r = canvas.current!.getBoundingClientRect();
		return [
			within(Math.floor(((e.clientX - r.left) / r.width) * heat.columns), heat.columns),
			within(Math.floor((e.clientY - r.top) / line), heat.lines),
		];
	};
	const onKey = (e: KeyboardEvent) => {
		const move = MOVES[e.key], at = cursor ?? [0, 0];
		if (move) {
			const to: Cell = cursor
				? [within(at[0] + move[0], heat.columns), within(at[1] + move[1], heat.lines)] : at;
			setCursor(to);
			p.onPoint(to);
			dragging.move(to);
		} else if (e.key === "Enter") {
			if (dragging.drag)
				dragging.end();
			else
				dragging.begin(at, e.ctrlKey);
		} else {
			return;
		}
		e.preventDefault();
	};
	return (
		<canvas ref={canvas} tabIndex={0} role="application"
			style={{ width: "100%", height: `${heat.lines * line}px` }}
			aria-label="Heatmap of the whole time: arrows move, Enter begins and ends a stretch, Ctrl and Enter a second one, Escape clears"
			aria-describedby="heat-status"
			onPointerDown={(e) => {
				if (e.button)
					return;
				canvas.current!.setPointerCapture(e.pointerId);
				dragging.begin(cellAt(e), e.ctrlKey || e.metaKey);
			}}
			onPointerMove={(e) => {
				p.onPoint(cellAt(e));
				dragging.move(cellAt(e));
			}}
			onPointerUp={dragging.end}
			onPointerLeave={() => p.onPoint(cursor)}
			onDblClick={() => c.set({ first: null, second: null })}
			onKeyDown={onKey} />
	);
}

function HeatControls(p: { c: Context; first: Stretch | null; second: Stretch | null }) {
	const { c, first, second } = p;
	return (
		<div class="controls" role="group" aria-label="choices for the heatmap">
			<Choice label="lines" value={c.v.lanes ? 1 : 0} options={[[0, "time"], [1, "CPUs"]]}
				onChange={(lanes) => c.set({ lanes: lanes === 1 })} />
			{first && <span class="chip first">first: {stretchText(c, first)}</span>}
			{second && <span class="chip second">second: {stretchText(c, second)}</span>}
			{c.v.first && (
				<button type="button" onClick={() => c.set({ first: null, second: null })}>clear</button>
			)}
		</div>
	);
}

/* The moment, the CPU and the amount of a cell. */
function cellText(c: Context, heat: Heat, [column, line]: Cell): string {
	const step = heat.cellSteps * c.a.m.times!.stepNs, cpu = heat.cpus[line];
	const at = moment((heat.byCpu ? column : column * heat.lines + line) * step, step);
	const where = heat.byCpu ? `, ${cpu === NO_CPU ? "CPU unknown" : `CPU ${cpu}`}` : "";
	const unit = c.a.m.values[heatValue(c)].unit;
	return `${at}${where}: ${amount(heat.amount[column * heat.lines + line], unit)}`;
}

export function HeatView(p: { c: Context }) {
	const { c } = p, t = c.a.m.times!, box = useRef<HTMLDivElement>(null);
	const width = useWidth(box), [point, setPoint] = useState<Cell | null>(null);
	const { heat, text } = useHeat(c, width || 600), dragging = useDrag(c, heat);
	const line = heat.byCpu ? Math.max(4, Math.min(16, Math.floor(320 / heat.lines))) : 7;
	const [first, second] = stretches(c, heat, dragging.drag);
	const inside = point && point[0] < heat.columns && point[1] < heat.lines;
	return (
		<>
			<HeatControls c={c} first={first} second={second} />
			<div class="heat">
				<Lines heat={heat} line={line} step={t.stepNs} />
				<div class="heat-box" ref={box}>
					<HeatCanvas c={c} heat={heat} width={width} line={line} dragging={dragging} onPoint={setPoint} />
					<Ticks heat={heat} width={width || 600} step={t.stepNs} />
				</div>
			</div>
			<p id="heat-status" class="status" role="status">{inside ? cellText(c, heat, point) : ""}</p>
			<p class="note">
				A cell is {time(heat.cellSteps * t.stepNs)}: {text}
				{t.stepNs > t.finestNs ? ` (the recording has steps of ${time(t.finestNs)}; the page adds them up, so that it is not too large)` : ""}
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
