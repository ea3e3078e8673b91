/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bars_view: tables of the document as pictures, with the table behind each: a histogram, with the
 * part of each bar that is marked; two measurements of each row with their intervals; lines of block
 * characters over time.
 */
import { Blob_ } from "../data/blob";
import { TableSection } from "../data/contract";
import { columnNamed, Grid, gridOf, nameColumn } from "./cells";
import { TableButton } from "./controls";
import { TableView } from "./table_view";

const HEIGHT = 120, ROWS = 40, LEVELS = " ▁▂▃▄▅▆▇█";

interface BarsProps {
	b: Blob_;
	s: TableSection;
}

function Behind(p: BarsProps & { name: string }) {
	return <TableButton name={p.name} table={() => <TableView b={p.b} s={p.s} />} />;
}

export function HistogramView(p: BarsProps) {
	const g = gridOf(p.b, p.s), marks = columnNamed(g, "marked");
	const [from, to, count] = ["from", "to", "count"].map((name) => columnNamed(g, name));
	if (from < 0 || to < 0 || count < 0 || !g.rows)
		return <TableView b={p.b} s={p.s} />;
	const rows = Array.from({ length: g.rows }, (_, i) => i), values = rows.map((row) => g.value(row, count));
	const most = Math.max(...values, 1), width = 100 / g.rows, height = (n: number) => (HEIGHT * n) / most;
	const bar = (row: number, of: number, tone: string) => (
		<rect key={tone + row} x={`${row * width + 0.1}%`} width={`${width - 0.2}%`} y={HEIGHT - height(of)} height={height(of)}
			class={tone} />
	);
	return (
		<>
			<svg class="bars" role="img" width="100%" height={HEIGHT} aria-label="histogram; the table has the same figures">
				{rows.map((row) => (
					<g key={row}>
						<title>
							{`${g.text(row, from)} to ${g.text(row, to)}: ${g.text(row, count)}`}
							{marks >= 0 ? `, ${g.text(row, marks)} ${g.columns[marks].title}` : ""}
						</title>
						<rect x={`${row * width}%`} width={`${width}%`} y="0" height={HEIGHT} class="ground" />
						{bar(row, values[row], "count")}
						{marks >= 0 && bar(row, g.value(row, marks), "marked")}
					</g>
				))}
			</svg>
			<div class="ends">
				<span>{g.text(0, from)}</span>
				<span>{g.columns[from].title.replace(/^from\s*/, "")}</span>
				<span>{g.text(g.rows - 1, to)}</span>
			</div>
			<ul class="legend" aria-label="colours">
				<li><i class="count" /><span>{g.columns[count].title}: at most {most.toLocaleString("en")} in a bar</span></li>
				{marks >= 0 && <li><i class="marked" /><span>{g.columns[marks].title}</span></li>}
			</ul>
			<Behind {...p} name="histogram" />
		</>
	);
}

/* The columns of a measurement: its value and interval in ns. */
function measured(g: Grid, name: string) {
	return { name, columns: [`${name}_ns`, `${name}_low_ns`, `${name}_high_ns`].map((c) => columnNamed(g, c)) };
}

export function isPair(b: Blob_, s: TableSection): boolean {
	const g = gridOf(b, s);
	return ["sampled", "counted"].every((name) => measured(g, name).columns.every((c) => c >= 0));
}

/* For each row a bar of each measurement, with its interval as an error bar. */
export function PairsView(p: BarsProps) {
	const g = gridOf(p.b, p.s), sides = [measured(g, "sampled"), measured(g, "counted")];
	const verdict = columnNamed(g, "judgement"), name = ["function", "process"].map((n) => columnNamed(g, n)).find((c) => c >= 0);
	const rows = Array.from({ length: Math.min(g.rows, ROWS) }, (_, i) => i);
	const most = Math.max(...rows.flatMap((row) => sides.map((s) => g.value(row, s.columns[2]) || 0)), 1);
	const place = (x: number) => Math.min(Math.max((100 * x) / most, 0), 100);
	return (
		<>
			<div class="pairs" role="img" aria-label="sampled and counted times with their intervals; the table has the same figures">
				{rows.map((row) => (
					<div class="pair" key={row} title={sides.map((s) => `${s.name} ${g.text(row, columnNamed(g, s.name))} ${g.text(row, columnNamed(g, `${s.name}_interval`))}`).join(", ")}>
						<span class="long">{g.text(row, name ?? nameColumn(g))}</span>
						<span>
							{sides.map((s) => {
								const [value, low, high] = s.columns.map((c) => place(g.value(row, c)));
								return Number.isNaN(value) ? <i key={s.name} class="none" /> : (
									<i key={s.name} class={s.name}>
										<b style={{ width: `${value}%` }} />
										<u style={{ left: `${low}%`, width: `${Math.max(high - low, 0)}%` }} />
									</i>
								);
							})}
						</span>
						<span class="note">{verdict >= 0 ? g.text(row, verdict) : ""}</span>
					</div>
				))}
			</div>
			<ul class="legend" aria-label="colours">
				{sides.map((s) => <li key={s.name}><i class={s.name} /><span>{s.name}</span></li>)}
				<li><span>lines with ends: 95 % intervals{g.rows > ROWS ? `; the first ${ROWS} of ${g.rows} rows` : ""}</span></li>
			</ul>
			<Behind {...p} name="sampled and counted times" />
		</>
	);
}

/* The use of each process over time as an area; a table has it in block characters. */
export function TimelineView(p: BarsProps) {
	const g = gridOf(p.b, p.s), [name, use, most] = ["process", "use", "most"].map((n) => columnNamed(g, n));
	if (name < 0 || use < 0)
		return <TableView b={p.b} s={p.s} />;
	const area = (text: string) => {
		const levels = [...text].map((c) => Math.max(LEVELS.indexOf(c), 0));
		const steps = levels.map((l, i) => `V${8 - l}H${i + 1}`).join("");
		return { d: `M0 8${steps}V8Z`, count: Math.max(levels.length, 1) };
	};
	return (
		<>
			<div class="pairs over">
				{Array.from({ length: g.rows }, (_, row) => {
					const a = area(g.text(row, use));
					return (
						<div class="pair" key={row}>
							<span class="long">{g.text(row, name)}</span>
							<svg class="bars" role="img" height="26" viewBox={`0 0 ${a.count} 8`} preserveAspectRatio="none"
								aria-label={`use over time of ${g.text(row, name)}, at most ${g.text(row, most)}`}>
								<path class="count" d={a.d} />
							</svg>
							<span class="note">at most {g.text(row, most)}</span>
						</div>
					);
				})}
			</div>
			<Behind {...p} name="use over time" />
		</>
	);
}
