/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection: the amount of each row for a value, a stretch of time and a filter. A stretch is in
 * steps of the time axis, [from, to). Values that the time axis does not have are given for the
 * whole time: whole() says so, and the page prints it.
 */
import { Entries, entryAt } from "../data/entries";
import { Model } from "./model";

export interface Stretch {
	from: number;
	to: number;
}

export interface Filter {
	process: number; /* -1: all */
	idle: boolean; /* with the samples of idle CPUs */
}

/* Whether the rows of a stretch are known for this value; otherwise the whole time is shown. */
export function isTimed(m: Model, value: number): boolean {
	return !!m.times && (m.times.samplesValue === value || m.times.weightValue === value);
}

export function amountsOf(m: Model, value: number): ArrayLike<number> {
	const t = m.times!;
	return t.samplesValue === value ? t.entries.samples : t.entries.weight;
}

/* 1 for each row that the filter keeps. */
export function keptRows(m: Model, f: Filter): Uint8Array {
	const kept = new Uint8Array(m.processes.length || 1);
	/* A recording of idle CPUs alone, or the choice of the idle process, is not left empty. */
	const idle = f.idle || f.process >= 0 || m.processes.every((p) => p.idle);
	m.processes.forEach((p, i) => {
		kept[i] = +((f.process < 0 || f.process === i) && (idle || !p.idle));
	});
	if (!m.processes.length)
		kept.fill(1);
	return Uint8Array.from(m.rowProcess, (p) => kept[p]);
}

function sumEntries(m: Model, value: number, s: Stretch, out: Float64Array): void {
	const e: Entries = m.times!.entries, amounts = amountsOf(m, value);
	const end = entryAt(e, s.to);
	for (let i = entryAt(e, s.from); i < end; i++)
		out[e.row[i]] += amounts[i];
}

/* `side`: of a diff, 0 the rows after the change, 1 those before it; -1: all rows. */
export function rowAmounts(
	m: Model, value: number, stretch: Stretch | null, kept: Uint8Array, side: number,
): Float64Array {
	const out = new Float64Array(m.rows);
	if (stretch && isTimed(m, value))
		sumEntries(m, value, stretch, out);
	else
		out.set(m.rowValues[value]);
	for (let row = 0; row < m.rows; row++)
		if (!kept[row] || (side >= 0 && m.rowSide && m.rowSide[row] !== side))
			out[row] = 0;
	return out;
}

export function sum(amounts: ArrayLike<number>): number {
	let all = 0;
	for (let i = 0; i < amounts.length; i++)
		all += amounts[i];
	return all;
}
