/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ledger_view: the account of all time as bars that close: each term begins where the one before
 * ended, so that the last one ends at the total. Per CPU, the terms are one bar.
 */
import { Blob_ } from "../data/blob";
import { TableSection } from "../data/contract";
import { Grid, gridOf, nameColumn, shareColumn, shownColumns } from "./cells";
import { TableButton } from "./controls";
import { TableView } from "./table_view";

const PART = 3, TOTAL = 4;

const TONES: [RegExp, string][] = [
	[/on cpu/, "other"], [/runnable|preempted/, "steal"], [/blocked/, "idle"],
	[/user/, "user"], [/kernel|syscall|fault/, "kernel"], [/irq|interrupt|hard|soft/, "irq"],
	[/idle/, "idle"], [/steal/, "steal"], [/unobserved/, "unobserved"], [/residual/, "residual"],
];

export function toneOf(name: string): string {
	return TONES.find(([r]) => r.test(name.toLowerCase()))?.[1] ?? "other";
}

interface Term {
	row: number;
	name: string;
	level: number;
	begin: number;
	share: number;
	kind: number;
}

/* Parts begin at the begin of the row that they are a part of. */
export function terms(g: Grid, kinds: Uint8Array | null): Term[] {
	const name = nameColumn(g), shares = shareColumn(g), list: Term[] = [];
	const next: number[] = [0];
	for (let row = 0; row < g.rows; row++) {
		const text = g.text(row, name), kind = kinds?.[row] ?? 0;
		const share = Number.isNaN(g.value(row, shares)) ? 0 : g.value(row, shares);
		const level = kind === TOTAL ? 0 : Math.floor((text.length - text.trimStart().length) / 2) ||
			+(kind === PART);
		const begin = kind === TOTAL ? 0 : (next[level] ?? next[level - 1] ?? 0);
		next.length = level + 1;
		next[level] = begin + share;
		next[level + 1] = begin;
		list.push({ row, name: text.trim(), level, begin, share, kind });
	}
	return list;
}

export function LedgerView(p: { b: Blob_; s: TableSection }) {
	const g = gridOf(p.b, p.s), kinds = p.s.row_kinds && p.b.u8(p.s.row_kinds);
	const list = terms(g, kinds), shares = shareColumn(g), name = nameColumn(g);
	const others = shownColumns(g).filter((c) => c !== name && c !== shares);
	if (shares < 0 || name < 0)
		return <TableView b={p.b} s={p.s} />;
	const total = p.s.total;
	return (
		<>
			<table class="ledger" aria-label={p.s.title || "ledger"}>
				<tbody>
					{list.map((t) => (
						<tr key={t.row} class={t.kind === PART || t.level ? "part" : t.kind === TOTAL ? "total" : ""}>
							<th scope="row" style={{ paddingLeft: `${t.level}em` }}>{t.name}</th>
							{others.map((c) => <td key={c}>{g.text(t.row, c)}</td>)}
							<td>{g.text(t.row, shares)}</td>
							<td class="track" aria-hidden="true">
								<i class={`tone ${t.kind === TOTAL ? "whole" : toneOf(t.name)}`}
									style={{ left: `${100 * t.begin}%`, width: `${100 * Math.max(t.share, 0)}%` }} />
							</td>
						</tr>
					))}
					{total && (
						<tr class="total">
							<th scope="row">{total.label}</th>
							{others.map((c) => <td key={c}>{total.texts[c]}</td>)}
							<td>{total.texts[shares]}</td>
							<td class="track" aria-hidden="true"><i class="tone whole" style={{ left: 0, width: "100%" }} /></td>
						</tr>
					)}
				</tbody>
			</table>
		</>
	);
}

export function CpusView(p: { b: Blob_; s: TableSection }) {
	const g = gridOf(p.b, p.s);
	const parts = shownColumns(g).filter((c) => g.hasValues(c) && g.columns[c].unit === "share");
	const name = g.columns.findIndex((_, i) => !parts.includes(i));
	if (!parts.length)
		return <TableView b={p.b} s={p.s} />;
	return (
		<>
			<table class="ledger" aria-label={p.s.title || "time by CPU"}>
				<tbody>
					{Array.from({ length: g.rows }, (_, row) => (
						<tr key={row}>
							<th scope="row">{g.columns[name]?.title} {g.text(row, name)}</th>
							<td class="track" title={parts.map((c) => `${g.columns[c].title} ${g.text(row, c)}`).join(", ")}>
								<span class="stack">
									{parts.map((c) => (
										<i key={c} class={`tone ${toneOf(g.columns[c].title)}`}
											style={{ width: `${100 * Math.max(g.value(row, c) || 0, 0)}%` }} />
									))}
								</span>
							</td>
						</tr>
					))}
				</tbody>
			</table>
			<ul class="legend" aria-label="terms">
				{parts.map((c) => (
					<li key={c}><i class={`tone ${toneOf(g.columns[c].title)}`} /><span>{g.columns[c].title}</span></li>
				))}
			</ul>
			<TableButton name="time by CPU" table={() => <TableView b={p.b} s={p.s} />} />
		</>
	);
}
