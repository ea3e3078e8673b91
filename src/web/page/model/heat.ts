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

export const LINES = 25;
const SAMPLES_PER_CELL = 4;

/* The next of 1, 2, 5, 10, 20 ... at or above x. */
export function roundUp(x: number): number {
	const power = 10 ** Math.floor(Math.log10(x));
	const factor = [1, 2, 5, 10].find((f) => f * power >= x * (1 - 1e-9)) ?? 10;
	return factor * power;
}

export function stepsTotal(t: Times): number {
	return Math.max(1, Math.ceil(t.durationNs / t.stepNs));
}

/* The length of a cell in steps, not necessarily whole. */
function cellSize(t: Times, cells: number, samples: number): number {
	const least = Math.max(t.durationNs / cells, t.stepNs);
	const useful = (t.durationNs * SAMPLES_PER_CELL) / Math.max(samples, 1);
	return roundUp(Math.max(least, useful)) / t.stepNs;
}

/* A round length for which not more than `columns` columns are needed: doubled until it fits. */
function shape(t: Times, columns: number, samples: number, byCpu: boolean) {
	const lines = byCpu ? 1 : LINES;
	const cellSteps = cellSize(t, columns * lines, samples);
	const columnSteps = cellSteps * lines;
	return { cellSteps, columnSteps, count: Math.max(1, Math.ceil(stepsTotal(t) / columnSteps)) };
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
	const { cellSteps, columnSteps, count } = shape(t, columns, e.count, byCpu);
	const cpus = byCpu ? cpusOf(e.cpu) : [], lines = byCpu ? cpus.length : LINES;
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
