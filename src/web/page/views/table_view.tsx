/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * table_view: any table of the document: sorted by a click on a title, filtered by a text, with bars
 * of shares, error bars of intervals, and the lines below the rows (rest, total).
 */
import { useMemo, useState } from "preact/hooks";
import { Blob_ } from "../data/blob";
import { Column, Line, TableSection } from "../data/contract";
import { safeText } from "../data/texts";
import { rowAddress } from "../model/fleet";
import { columnNamed, Grid, gridOf, shareColumn, shownColumns } from "./cells";
import { Bar } from "./controls";

const FIRST = 40;
const FILTERED_FROM = 12;
const BEFORE_HOTTEST = 12;
const KINDS = ["", "warm", "hot", "part", "total"];

interface Sort {
	column: number;
	down: boolean;
}

function order(g: Grid, sort: Sort | null, filter: string, columns: number[]): number[] {
	let rows = Array.from({ length: g.rows }, (_, i) => i);
	const wanted = filter.toLowerCase();
	if (wanted)
		rows = rows.filter((row) => columns.some((c) => g.text(row, c).toLowerCase().includes(wanted)));
	if (!sort)
		return rows;
	const { column, down } = sort, sign = down ? -1 : 1;
	if (g.hasValues(column))
		return rows.sort((a, b) => {
			const x = g.value(a, column), y = g.value(b, column);
			if (Number.isNaN(x) || Number.isNaN(y))
				return +Number.isNaN(x) - +Number.isNaN(y) || a - b;
			return sign * (x - y) || a - b;
		});
	return rows.sort((a, b) => {
		const x = g.text(a, column), y = g.text(b, column);
		return x === y ? a - b : sign * (x < y ? -1 : 1);
	});
}

interface CellProps {
	g: Grid;
	row: number;
	column: number;
	low: number;
	high: number;
	bars: boolean;
	full: number; /* what fills the bar */
	href: string; /* "": no link */
}

function Cell(p: CellProps) {
	const { g, row, column } = p, c = g.columns[column], text = g.text(row, column);
	const value = g.value(row, column);
	const bounds = p.low >= 0 && p.high >= 0 && c.unit === "share" && p.bars
		? { low: g.value(row, p.low), high: g.value(row, p.high) } : {};
	return (
		<td class={`${c.left ? "left" : ""} ${text.length < 24 ? "short" : ""}`}>
			<span class={text.length > 200 ? "clamp" : undefined} title={text.length > 200 ? text : undefined}>
				{p.href ? <a href={p.href}>{text}</a> : text}
			</span>
			{p.bars && text === "" && <span class="no-bar" />}
			{p.bars && text !== "" && !Number.isNaN(value) && (
				<Bar share={value} full={p.full} {...bounds} />
			)}
		</td>
	);
}

function Below(p: { line: Line | null; columns: number[]; all: Column[]; tone: string }) {
	const { line } = p;
	if (!line)
		return null;
	const at = p.columns.findIndex((c) => p.all[c].left);
	const label = at < 0 ? p.columns.length - 1 : at;
	return (
		<tr class={p.tone}>
			{p.columns.map((c, i) => (
				<td key={c} class={p.all[c].left ? "left" : undefined}>
					{safeText(i === label ? line.label || line.texts[c] : (line.texts[c] ?? ""))}
				</td>
			))}
		</tr>
	);
}

function Head(p: { g: Grid; columns: number[]; sort: Sort | null; onSort: (s: Sort | null) => void }) {
	const press = (column: number) => {
		if (p.sort?.column !== column)
			p.onSort({ column, down: p.g.hasValues(column) });
		else
			p.onSort(p.sort.down === p.g.hasValues(column) ? { column, down: !p.sort.down } : null);
	};
	return (
		<thead>
			<tr>
				{p.columns.map((c) => {
					const sorted = p.sort?.column === c ? (p.sort.down ? "descending" : "ascending") : undefined;
					return (
						<th key={c} scope="col" class={p.g.columns[c].left ? "left" : undefined} aria-sort={sorted}>
							<button type="button" class="sort" onClick={() => press(c)}>
								{safeText(p.g.columns[c].title) || <span class="hidden">{p.g.columns[c].name.replaceAll("_", " ")}</span>}
								{sorted && (p.sort!.down ? " ▾" : " ▴")}
							</button>
						</th>
					);
				})}
			</tr>
		</thead>
	);
}

/* The largest value of a column, or bound of its interval. */
function most(g: Grid, columns: number[]): number {
	let largest = 0;
	for (let row = 0; row < g.rows; row++)
		for (const c of columns)
			largest = Math.max(largest, c >= 0 && g.value(row, c) > 0 ? g.value(row, c) : 0);
	return Math.min(largest || 1, 1);
}

/* The row with the largest share; the table of a long function begins near it. */
function hottest(g: Grid, shares: number): number {
	let best = 0;
	for (let row = 1; row < g.rows; row++)
		if (g.value(row, shares) > (g.value(best, shares) || 0))
			best = row;
	return best;
}

/* `code`: the rows are lines or instructions. */
export function TableView(p: { b: Blob_; s: TableSection; code?: boolean }) {
	const g = gridOf(p.b, p.s), columns = useMemo(() => shownColumns(g), [g]);
	const kinds = useMemo(() => p.s.row_kinds && p.b.u8(p.s.row_kinds), [p.s]);
	const [sort, setSort] = useState<Sort | null>(null), [filter, setFilter] = useState("");
	const [more, setMore] = useState(0), [less, setLess] = useState(0);
	const rows = useMemo(() => order(g, sort, filter, columns), [g, sort, filter, columns]);
	const low = columnNamed(g, "low"), high = columnNamed(g, "high"), shares = shareColumn(g);
	const full = useMemo(() => most(g, [shares, low >= 0 ? high : -1]), [g, shares, low, high]);
	const start = p.code && !sort && !filter && shares >= 0
		? Math.max(0, hottest(g, shares) - BEFORE_HOTTEST - less) : 0;
	const shown = rows.slice(start, start + FIRST + more + less);
	const bars = (c: number) => g.columns[c].bar || (c === shares && (low >= 0 || !!p.code));
	const fullOf = (c: number) => (g.columns[c].bar && low < 0 ? g.columns[c].bar_full || 1 : full);
	return (
		<div class="scroll">
			{g.rows > FILTERED_FROM && (
				<div class="controls">
					<label class="choice search">
						<span>filter</span>
						<input type="search" value={filter} onInput={(e) => setFilter(e.currentTarget.value)}
							aria-label={`filter the rows of ${p.s.title || p.s.key || "the table"}`} />
					</label>
				</div>
			)}
			{start > 0 && (
				<button type="button" class="more" onClick={() => setLess(less + 200)}>
					{start.toLocaleString("en")} rows above
				</button>
			)}
			<table aria-label={p.s.title || p.s.key || "table"}>
				<Head g={g} columns={columns} sort={sort} onSort={setSort} />
				<tbody>
					{shown.map((row) => (
						<tr key={row} class={KINDS[kinds?.[row] ?? 0]}>
							{columns.map((c) => (
								<Cell key={c} g={g} row={row} column={c} low={low} high={high} bars={bars(c)}
									full={fullOf(c)}
									href={rowAddress(p.b.head, p.s.key, g.columns[c].name, g.text(row, c), location.search)} />
							))}
						</tr>
					))}
				</tbody>
				<tfoot>
					<Below line={p.s.rest} columns={columns} all={g.columns} tone="part" />
					<Below line={p.s.unselected} columns={columns} all={g.columns} tone="part" />
					<Below line={p.s.removed} columns={columns} all={g.columns} tone="part" />
					<Below line={p.s.total} columns={columns} all={g.columns} tone="total" />
				</tfoot>
			</table>
			{start + shown.length < rows.length && (
				<button type="button" class="more" onClick={() => setMore(more + 200)}>
					{(rows.length - start - shown.length).toLocaleString("en")} more rows
				</button>
			)}
		</div>
	);
}
