/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series_view: CPU use by process over time, stacked (uPlot); a drag selects a stretch. */
import { useEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import { moment } from "../model/figure";
import { makeSeries, Series } from "../model/series";
import { keptRows, Stretch } from "../model/selection";
import { palette, seriesColour } from "./colours";
import { Context } from "./context";
import { PlainTable, TableButton } from "./controls";
import { useWidth } from "./width";

const HEIGHT = 220;

/* Sums from the last series to the first: uPlot fills each area down to the axis. */
function stacked(s: Series): Float64Array[] {
	const below = new Float64Array(s.seconds.length);
	return s.values.map((values) => {
		for (let i = 0; i < below.length; i++)
			below[i] += values[i];
		return below.slice();
	});
}

function options(c: Context, s: Series, width: number, onSelect: (from: number, to: number) => void): uPlot.Options {
	const p = palette(document.documentElement);
	const colour = (i: number) => seriesColour(s.process[i] < 0 ? -1 : i, c.dark);
	const axis = { stroke: p.dim, grid: { stroke: p.line, width: 1 }, ticks: { stroke: p.line, width: 1 } };
	return {
		width, height: HEIGHT,
		scales: {
			x: { time: false, range: [0, s.seconds[s.seconds.length - 1] + s.binSeconds] },
			y: { range: (_, __, max) => [0, s.cpus ? Math.max(c.a.m.cpus, max) : max || 1] },
		},
		legend: { show: false },
		cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
		axes: [
			{ ...axis, values: (_, list) => list.map((x) => `${+x.toFixed(6)} s`) },
			{ ...axis, size: 48, values: (_, list) => list.map((x) => `${+x.toFixed(2)}`) },
		],
		series: [
			{},
			...s.names.map((label, i) => ({
				label, stroke: colour(i), fill: colour(i), width: 0, points: { show: false },
				paths: uPlot.paths.stepped!({ align: 1 }),
			})).reverse(),
		],
		hooks: {
			setSelect: [
				(u) => {
					if (u.select.width > 2)
						onSelect(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
				},
			],
		},
	};
}

function SeriesTable(p: { s: Series }) {
	const { s } = p;
	return (
		<PlainTable label="CPU use by process over time" head={["from", ...s.names]} left={[]}
			rows={s.seconds.length}
			row={(i) => ({
				key: i,
				cells: [moment(s.seconds[i] * 1e9, s.binSeconds * 1e9), ...s.values.map((v) => v[i].toFixed(3))],
			})} />
	);
}

export function SeriesView(p: { c: Context }) {
	const { c } = p, t = c.a.m.times!, box = useRef<HTMLDivElement>(null);
	const width = useWidth(box);
	const rows = useMemo(() => {
		const kept = keptRows(c.a.m, c.v), idle = c.a.m.processes.map((q) => q.idle);
		return kept.map((keep, row) => (keep && !idle[c.a.m.rowProcess[row]] ? 1 : 0));
	}, [c.a, c.v.process, c.v.idle]);
	const s = useMemo(() => makeSeries(c.a.m, rows, 200), [c.a, rows]);
	const set = useRef(c.set);
	set.current = c.set;

	useEffect(() => {
		if (!width)
			return;
		const onSelect = (from: number, to: number) => {
			const step = (x: number) => Math.max(0, Math.round((x * 1e9) / t.stepNs));
			const first: Stretch = { from: step(from), to: step(to) };
			if (first.from < first.to)
				set.current({ first, second: null });
		};
		const sums = stacked(s).reverse() as unknown as uPlot.TypedArray[];
		const u = new uPlot(options(c, s, width, onSelect), [s.seconds, ...sums] as uPlot.AlignedData,
			box.current!);
		return () => u.destroy();
	}, [s, width, c.dark]);

	return (
		<>
			<div class="series" ref={box} role="img" aria-label="CPU use by process over time; the table has the same figures" />
			<ul class="legend" aria-label="processes">
				{s.names.map((name, i) => (
					<li key={name} title={name}>
						<i style={{ background: seriesColour(s.process[i] < 0 ? -1 : i, c.dark) }} />
						<span>{name}</span>
					</li>
				))}
			</ul>
			<p class="note">
				{s.cpus
					? `CPUs in use, of ${c.a.m.cpus}, idle time left out; a step is ${+s.binSeconds.toPrecision(3)} s.`
					: `Amounts per second; a step is ${+s.binSeconds.toPrecision(3)} s.`}{" "}
				Drag to select a stretch.
			</p>
			<TableButton name="CPU use" table={() => <SeriesTable s={s} />} />
		</>
	);
}
