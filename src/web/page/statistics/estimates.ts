/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimates: the intervals of shares in one selection, by the best method that its data permit:
 *
 *	ordered      the order of all samples is known: confidence.ts
 *	weighted     only coarse times are known, or samples have different weights: independent samples,
 *	             as many as have the same variance
 *	independent  no times are known: samples are assumed to be independent
 *	none         the values are not samples
 */
import { entryAt } from "../data/entries";
import { Model } from "../model/model";
import { amountsOf, isTimed, Stretch } from "../model/selection";
import { Confidence, independent, intervals, OUTSIDE } from "./confidence";
import { normalAbove } from "./distributions";

export type Method = "ordered" | "weighted" | "independent" | "none";

export const METHODS: Record<Method, string> = {
	ordered: "95 % intervals from the order of the samples of each CPU. They are about this run alone.",
	weighted:
		"95 % intervals as of independent samples, since the samples have different weights or no exact order: the true intervals may be narrower. They are about this run alone.",
	independent:
		"95 % intervals as of independent samples, since the times of the samples are not in this page: the true intervals may be narrower. They are about this run alone.",
	none: "No intervals: these values do not come from samples.",
};

export function methodOf(m: Model, value: number): Method {
	const t = m.times;
	if (t && isTimed(m, value)) {
		const equal = t.entries.uniform || value === t.samplesValue;
		return t.ordered && equal ? "ordered" : "weighted";
	}
	return perSample(m, value) > 0 ? "independent" : "none";
}

const scales = new WeakMap<Model, Map<number, number>>();

/* What one sample has of a value, if all have the same; 0: the value does not come from samples. */
export function perSample(m: Model, value: number): number {
	const byValue = scales.get(m) ?? new Map<number, number>();
	let scale = byValue.get(value);
	scales.set(m, byValue);
	if (scale === undefined) {
		scale = findScale(m.rowValues[m.values.findIndex((v) => v.name === "samples")],
			m.rowValues[value], m.rowProcess.map((p) => +m.processes[p].idle));
		byValue.set(value, scale);
	}
	return scale;
}

/* Idle time is left out: reports measure it by switches. */
function findScale(samples: Float64Array | undefined, values: Float64Array, idle: Uint32Array): number {
	let scale = 0;
	for (let row = 0; samples && row < values.length; row++) {
		if (idle[row] || (!samples[row] && !values[row]))
			continue;
		scale ||= values[row] / samples[row];
		if (!(Math.abs(values[row] - scale * samples[row]) <= 1e-6 * values[row]))
			return 0;
	}
	return scale;
}

/* The rows of each CPU's samples in a stretch. */
function sequencesOf(m: Model, stretch: Stretch | null): Uint32Array[] {
	const e = m.times!.entries;
	const begin = stretch ? entryAt(e, stretch.from) : 0;
	const end = stretch ? entryAt(e, stretch.to) : e.count;
	const counts = new Map<number, number>();
	for (let i = begin; i < end; i++)
		counts.set(e.cpu[i], (counts.get(e.cpu[i]) ?? 0) + 1);
	const lists: Uint32Array[] = [], at: number[] = [], place: number[] = [];
	for (const [cpu, n] of [...counts].sort((a, b) => a[0] - b[0])) {
		place[cpu] = lists.length;
		at.push(0);
		lists.push(new Uint32Array(n));
	}
	for (let i = begin; i < end; i++) {
		const list = place[e.cpu[i]];
		lists[list][at[list]++] = e.row[i];
	}
	return lists;
}

export class Estimates {
	readonly method: Method;
	private sequences: Uint32Array[] | null = null;

	constructor(
		private readonly m: Model,
		private readonly value: number,
		private readonly stretch: Stretch | null,
		private readonly kept: Uint8Array,
		private readonly amounts: Float64Array,
	) {
		this.method = methodOf(m, value);
	}

	/* groupOf: the group of each row, or NO_GROUP. null: there are no intervals. */
	of(groupOf: Int32Array, groups: number): Confidence[] | null {
		if (this.method === "none")
			return null;
		if (this.method === "independent")
			return this.independent(groupOf, groups);
		if (this.method === "weighted")
			return this.weighted(groupOf, groups);
		const inBase = groupOf.map((g, row) => (this.kept[row] ? g : OUTSIDE));
		this.sequences ??= sequencesOf(this.m, this.stretch);
		return intervals(this.sequences, inBase, groups);
	}

	private independent(groupOf: Int32Array, groups: number): Confidence[] {
		const hits = new Float64Array(groups), scale = perSample(this.m, this.value);
		let base = 0;
		for (let row = 0; row < this.amounts.length; row++) {
			base += this.amounts[row];
			if (groupOf[row] >= 0)
				hits[groupOf[row]] += this.amounts[row];
		}
		return Array.from(hits, (h) => independent(h / scale, base / scale));
	}

	private weighted(groupOf: Int32Array, groups: number): Confidence[] {
		const e = this.m.times!.entries, s = this.stretch, amounts = amountsOf(this.m, this.value);
		const begin = s ? entryAt(e, s.from) : 0, end = s ? entryAt(e, s.to) : e.count;
		const hits = new Float64Array(groups);
		let base = 0, squares = 0;
		for (let i = begin; i < end; i++) {
			const row = e.row[i], x = amounts[i];
			if (!this.kept[row])
				continue;
			base += x;
			squares += (x * x) / Math.max(e.samples[i], 1);
			if (groupOf[row] >= 0)
				hits[groupOf[row]] += x;
		}
		return Array.from(hits, (amount) => ofWeights(amount, base, squares));
	}
}

/* squares: the sum of the squared weights of the base's samples. */
export function ofWeights(amount: number, base: number, squares: number): Confidence {
	const n = squares > 0 ? (base * base) / squares : 0;
	return { ...independent(base > 0 ? (amount / base) * n : 0, n), samples: amount };
}

/* The probability that chance alone gives two shares that differ at least that much. */
export function chance(a: Confidence, b: Confidence): number {
	const variance = a.variance + b.variance;
	if (!(variance > 0))
		return 1;
	const t = Math.abs(a.share - b.share) / Math.sqrt(variance);
	return Math.min(1, 2 * normalAbove(t));
}

/* Changes count as beyond chance if, over all that are compared, one false one is found in twenty. */
export const FALSE_ALARM = 0.05;
