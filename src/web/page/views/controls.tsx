/* SPDX-License-Identifier: GPL-2.0-or-later */
/* controls: the small parts that the views share: choices, switches, sections, paged tables. */
import { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export function Choice<T extends string | number>(p: {
	label: string; value: T; options: [T, string][]; onChange: (value: T) => void;
}) {
	return (
		<label class="choice">
			<span>{p.label}</span>
			<select
				value={String(p.value)}
				onChange={(e) => {
					const chosen = p.options.find(([v]) => String(v) === e.currentTarget.value);
					if (chosen)
						p.onChange(chosen[0]);
				}}
			>
				{p.options.map(([v, text]) => (
					<option key={String(v)} value={String(v)}>{text}</option>
				))}
			</select>
		</label>
	);
}

export function Switch(p: {
	label: string; on: boolean; title?: string; onChange: (on: boolean) => void;
}) {
	return (
		<label class="switch" title={p.title}>
			<input type="checkbox" checked={p.on} onChange={(e) => p.onChange(e.currentTarget.checked)} />
			<span>{p.label}</span>
		</label>
	);
}

export function Part(p: {
	id: string; title: string; note?: string; closed?: boolean; picture?: boolean;
	children: ComponentChildren;
}) {
	return (
		<details id={p.id} class={p.picture ? "block picture" : "block"} open={!p.closed}>
			<summary>
				<h2>{p.title}</h2>
				{p.note && <span class="note">{p.note}</span>}
			</summary>
			{p.children}
		</details>
	);
}

/* A button that shows the table behind a picture. */
export function TableButton(p: { name: string; table: () => ComponentChildren }) {
	const [open, setOpen] = useState(false);
	return (
		<>
			<button type="button" aria-expanded={open} onClick={() => setOpen(!open)}
				aria-label={`table of the ${p.name}`}>
				table
			</button>
			{open && <div class="behind">{p.table()}</div>}
		</>
	);
}

export interface Shown {
	key: string | number;
	cells: ComponentChildren[];
	onClick?: () => void;
	marked?: boolean;
}

/* A table for computed rows; the reader asks for more rows than the first ones. */
export function PlainTable(p: {
	label: string; head: string[]; left: number[]; rows: number; row: (i: number) => Shown;
	first?: number; foot?: ComponentChildren[];
	sort?: { by: number; onSort: (column: number) => void; can: number[] };
}) {
	const [more, setMore] = useState(0);
	const shown = Math.min(p.rows, (p.first ?? 25) + more);
	const side = (i: number) => (p.left.includes(i) ? "left" : undefined);
	return (
		<div class="scroll">
			<table aria-label={p.label}>
				<thead>
					<tr>
						{p.head.map((text, i) => (
							<th key={i} class={side(i)} scope="col"
								aria-sort={p.sort?.by === i ? "descending" : undefined}>
								{p.sort?.can.includes(i) ? (
									<button type="button" class="sort" onClick={() => p.sort!.onSort(i)}>
										{text}{p.sort.by === i ? " ▾" : ""}
									</button>
								) : text}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{Array.from({ length: shown }, (_, i) => {
						const row = p.row(i);
						return (
							<tr key={row.key} class={row.marked ? "marked" : undefined}>
								{row.cells.map((cell, c) => (
									<td key={c} class={side(c)}>{cell}</td>
								))}
							</tr>
						);
					})}
				</tbody>
				{p.foot && (
					<tfoot>
						<tr class="total">
							{p.foot.map((cell, c) => <td key={c} class={side(c)}>{cell}</td>)}
						</tr>
					</tfoot>
				)}
			</table>
			{shown < p.rows && (
				<button type="button" class="more" onClick={() => setMore(more + 100)}>
					{(p.rows - shown).toLocaleString("en")} more rows
				</button>
			)}
		</div>
	);
}

/* A share as a bar, with its interval as a line with ends. */
export function Bar(p: { share: number; low?: number; high?: number; full: number; tone?: string }) {
	const place = (x: number) => `${Math.min(Math.max((100 * x) / p.full, 0), 100)}%`;
	return (
		<span class={`bar ${p.tone ?? ""}`} aria-hidden="true">
			<i style={{ width: place(p.share) }} />
			{p.low !== undefined && p.high !== undefined && (
				<b style={{ left: place(p.low), width: `calc(${place(p.high)} - ${place(p.low)})` }} />
			)}
		</span>
	);
}
