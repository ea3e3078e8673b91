/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * series: the use of CPUs by process over time, for a stacked picture. The largest processes have
 * a series each, the others one together. If weights are ns, a value is a number of CPUs; else it is
 * an amount per second.
 */
import { Model } from "./model";
import { amountsOf } from "./selection";
import { roundUp } from "./heat";

export interface Series {
	seconds: Float64Array; /* the begin of each bin */
	binSeconds: number;
	names: string[];
	process: number[]; /* -1: the others */
	values: Float64Array[]; /* by process, then bin */
	cpus: boolean;
}

const SHOWN = 9;

/* The processes with the largest amounts of their rows. */
function largest(m: Model, rows: Uint8Array, value: number): number[] {
	const all = new Float64Array(m.processes.length);
	for (let row = 0; row < m.rows; row++)
		if (rows[row])
			all[m.rowProcess[row]] += m.rowValues[value][row];
	return [...all.keys()]
		.filter((p) => all[p] > 0)
		.sort((a, b) => all[b] - all[a] || a - b)
		.slice(0, SHOWN);
}

export function makeSeries(m: Model, rows: Uint8Array, bins: number): Series {
	const t = m.times!, e = t.entries;
	const value = t.weightValue >= 0 ? t.weightValue : t.samplesValue;
	const binNs = roundUp(Math.max(t.durationNs / bins, (8 * t.durationNs) / Math.max(e.count, 1)));
	const count = Math.max(1, Math.ceil(t.durationNs / binNs));
	const shown = largest(m, rows, value), amounts = amountsOf(m, value);
	const place = new Int32Array(m.processes.length || 1).fill(shown.length);
	const values = Array.from({ length: shown.length + 1 }, () => new Float64Array(count));
	const cpus = t.weightIsNs && value === t.weightValue;
	const unit = cpus ? binNs : binNs / 1e9;

	shown.forEach((p, i) => (place[p] = i));
	for (let i = 0; i < e.count; i++) {
		const row = e.row[i];
		if (!rows[row])
			continue;
		const bin = Math.min(Math.floor((e.time[i] * t.stepNs) / binNs), count - 1);
		values[place[m.rowProcess[row]]][bin] += amounts[i] / unit;
	}
	const names = shown.map((p) => m.processes[p].name);
	if (values[shown.length].some((v) => v > 0)) {
		names.push("others");
		shown.push(-1);
	} else {
		values.pop();
	}
	const seconds = Float64Array.from({ length: count }, (_, i) => (i * binNs) / 1e9);
	return { seconds, binSeconds: binNs / 1e9, names, process: shown, values, cpus };
}
