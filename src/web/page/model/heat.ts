/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heat: cells of the heatmap: amounts by time. Time runs down a column, and then to the next
 * column; or columns are time alone and each CPU has a line. The length of a cell is a round number
 * (1, 2 or 5 times a power of ten) that fits the picture and has enough samples to mean something.
 */
import { NO_CPU } from "../data/entries";
import { Model, Times } from "./model";
import { amountsOf, Stretch } from "./selection";

export interface Heat {
	columns: number;
	lines: number;
	cellSteps: number; /* steps of the time axis per cell */
	columnSteps: number;
	byCpu: boolean;
	cpus: number[]; /* of the lines, if by CPU */
	amount: Float64Array; /* column * lines + line */
	most: number; /* the amount of the fullest colour: the 99th percentile */
	total: number;
}

const SAMPLES_PER_CELL = 2;

/* The next of 1, 2, 5, 10, 20 ... at or above x. */
export function roundUp(x: number): number {
	const power = 10 ** Math.floor(Math.log10(x));
	const factor = [1, 2, 5, 10].find((f) => f * power >= x * (1 - 1e-9)) ?? 10;
	return factor * power;
}

/* The shortest useful cell, in ns: as fine as the recording, and with some samples. */
function leastCell(t: Times, samples: number): number {
	return Math.max(t.stepNs, (t.durationNs * SAMPLES_PER_CELL) / Math.max(samples, 1));
}

/* Numbers of lines with which a column of cells of 1, 2 or 5 units has a round length too. */
const LINES: Record<number, number[]> = { 1: [20, 50], 2: [25, 50], 5: [20, 40] };

interface Shape {
	cellNs: number;
	lines: number;
}

/* The shape with the most cells, of those with not more than `columns` columns. */
function shape(t: Times, columns: number, samples: number, byCpu: boolean): Shape {
	const least = roundUp(leastCell(t, samples));
	let cellNs = least;
	for (;;) {
		const digit = Math.round(cellNs / 10 ** Math.floor(Math.log10(cellNs) + 1e-9));
		for (const lines of byCpu ? [1] : [...(LINES[digit] ?? [20])])
			if (t.durationNs <= cellNs * lines * columns)
				return { cellNs, lines };
		cellNs = roundUp(cellNs * 1.5);
	}
}

function cpusOf(cpu: Uint16Array): number[] {
	const seen = new Uint8Array(NO_CPU + 1);
	for (let i = 0; i < cpu.length; i++)
		seen[cpu[i]] = 1;
	const list: number[] = [];
	seen.forEach((is, i) => is && list.push(i));
	return list;
}

function percentile99(amount: Float64Array): number {
	const sorted = amount.filter((a) => a > 0).sort();
	return sorted.length ? sorted[Math.floor((sorted.length - 1) * 0.99)] : 1;
}

/* rows: 1 for the rows to count. */
export function makeHeat(
	m: Model, value: number, rows: Uint8Array, columns: number, byCpu: boolean,
): Heat {
	const t = m.times!, e = t.entries, amounts = amountsOf(m, value);
	const { cellNs, lines: perColumn } = shape(t, columns, e.count, byCpu);
	const cellSteps = cellNs / t.stepNs, columnSteps = cellSteps * perColumn;
	const count = Math.max(1, Math.ceil(t.durationNs / (cellNs * perColumn)));
	const cpus = byCpu ? cpusOf(e.cpu) : [], lines = byCpu ? cpus.length : perColumn;
	const line = new Uint16Array(NO_CPU + 1), amount = new Float64Array(count * lines);
	let total = 0;

	cpus.forEach((cpu, i) => (line[cpu] = i));
	for (let i = 0; i < e.count; i++) {
		if (!rows[e.row[i]])
			continue;
		const cell = Math.floor(e.time[i] / cellSteps);
		amount[byCpu ? cell * lines + line[e.cpu[i]] : cell] += amounts[i];
		total += amounts[i];
	}
	return {
		columns: count, lines, cellSteps, columnSteps, byCpu, cpus, amount,
		most: percentile99(amount), total,
	};
}

/* The stretch between two cells, both included, in any order. */
export function stretchOf(h: Heat, from: [number, number], to: [number, number]): Stretch {
	const at = ([column, line]: [number, number]) => (h.byCpu ? column : column * h.lines + line);
	const a = Math.min(at(from), at(to)), b = Math.max(at(from), at(to)) + 1;
	return { from: Math.round(a * h.cellSteps), to: Math.round(b * h.cellSteps) };
}
