/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confidence: 95 % intervals for shares of samples, a port of src/view/confidence/confidence.c.
 * The reasons for each step are there; tests/vectors/confidence.txt holds both to the same figures.
 *
 * A sample belongs to one group, or to none (NO_GROUP), or is outside of the base (OUTSIDE). The
 * samples of one CPU are a sequence in the order of time. Samples are periodic, so the variance
 * follows from how often a sample and one of the next four belong to different groups.
 */
export const NO_GROUP = -1;
export const OUTSIDE = -2;

export interface Confidence {
	samples: number;
	share: number;
	low: number;
	high: number;
	variance: number; /* of the share */
}

const Z95 = 1.959964;
const LAGS = 4;
const SINGLES_ERRORS = 0.7;
const EDGE = 1 / 12;
const FALLS = [0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/* One group, or the base as a group. */
class Tally {
	samples = 0;
	ends = 0;
	changes = new Float64Array(LAGS);
	borders = new Float64Array(LAGS);
}

class Count {
	readonly base = new Tally();
	readonly tallies: Tally[];
	private readonly pairs = new Float64Array(LAGS);
	private samples = 0;

	constructor(groups: number) {
		this.tallies = Array.from({ length: groups }, () => new Tally());
	}

	add(rows: ArrayLike<number>, groupOf: Int32Array): void {
		for (let at = 0; at < rows.length; at++) {
			const state = groupOf[rows[at]];
			for (let lag = 0; lag < LAGS && lag < at; lag++) {
				const other = groupOf[rows[at - lag - 1]];
				this.pairs[lag]++;
				if (other === state)
					continue;
				this.change(lag, state, other);
				this.change(lag, other, state);
			}
			this.base.samples += +(state !== OUTSIDE);
			if (state >= 0)
				this.tallies[state].samples++;
		}
		if (rows.length) {
			this.end(groupOf[rows[0]]);
			this.end(groupOf[rows[rows.length - 1]]);
		}
		this.samples += rows.length;
	}

	private change(lag: number, state: number, other: number): void {
		if (state === OUTSIDE)
			return;
		this.base.borders[lag] += +(other === OUTSIDE);
		if (state === NO_GROUP)
			return;
		this.tallies[state].changes[lag]++;
		this.tallies[state].borders[lag] += +(other === OUTSIDE);
	}

	private end(state: number): void {
		this.base.ends += +(state !== OUTSIDE);
		if (state >= 0)
			this.tallies[state].ends++;
	}

	/* The variance of the number of hits. */
	variance(t: Tally): number {
		const n = this.base.samples, p = t.samples / n, independent = n * p * (1 - p);
		const half = new Float64Array(LAGS);
		for (let i = 0; i < LAGS; i++) {
			const squares = t.changes[i] - t.borders[i] +
				borderSquares(t.borders[i], this.base.borders[i], p);
			half[i] = this.pairs[i] ? ((squares / 2) * this.samples) / this.pairs[i] : independent;
		}
		const singles = 4 * half[0] - 2 * half[1];
		if (singles > 0)
			half[0] += (SINGLES_ERRORS * Math.sqrt(singles)) / 2;
		return Math.min(bestFit(half), independent) + EDGE * borderSquares(t.ends, this.base.ends, p);
	}
}

function borderSquares(group: number, base: number, p: number): number {
	return group * (1 - p) * (1 - p) + (base - group) * p * p;
}

function samplingError(r: number): number {
	return r < 1 ? (1 + r) / (1 - r) + 2 / Math.log(r) : 2 * EDGE;
}

function changesOf(r: number, lag: number): number {
	return r < 1 ? 1 - r ** lag : lag;
}

/* The variance by the best of the least squares fits. */
function bestFit(half: Float64Array): number {
	let least = Infinity, variance = 0;
	for (const r of FALLS) {
		const f = fit(half, r);
		if (f.rest >= least)
			continue;
		least = f.rest;
		variance = f.independent + f.correlated * samplingError(r);
	}
	return variance;
}

function fit(half: Float64Array, r: number) {
	let w = 0, wx = 0, wxx = 0, wy = 0, wxy = 0, rest = 0;
	for (let lag = 1; lag <= LAGS; lag++) {
		const x = changesOf(r, lag), y = half[lag - 1], weight = 1 / lag;
		w += weight;
		wx += weight * x;
		wxx += weight * x * x;
		wy += weight * y;
		wxy += weight * x * y;
	}
	const determinant = w * wxx - wx * wx;
	let independent = (wy * wxx - wxy * wx) / determinant;
	let correlated = (wxy * w - wy * wx) / determinant;
	if (independent < 0) {
		independent = 0;
		correlated = wxy / wxx;
	}
	if (correlated < 0) {
		correlated = 0;
		independent = wy / w;
	}
	for (let lag = 1; lag <= LAGS; lag++)
		rest += (half[lag - 1] - independent - correlated * changesOf(r, lag)) ** 2 / lag;
	return { independent, correlated, rest };
}

function wilson(share: number, n: number): [number, number] {
	const q2 = Z95 * Z95, d = 1 + q2 / n, middle = (share + q2 / (2 * n)) / d;
	const half = (Z95 * Math.sqrt((share * (1 - share)) / n + q2 / (4 * n * n))) / d;
	const low = middle - half > 1e-12 ? middle - half : 0;
	return [low, share >= 1 ? 1 : Math.min(middle + half, 1)];
}

/* For samples whose order is not known: they are assumed to be independent. */
export function independent(samples: number, base: number): Confidence {
	if (!(base > 0))
		return { samples, share: 0, low: 0, high: 1, variance: 0 };
	const share = samples / base;
	const [low, high] = wilson(share, base);
	const variance = Math.max((share * (1 - share)) / base, 1 / (base * base));
	return { samples, share, low, high, variance };
}

/*
 * The intervals of all groups. A sequence has the rows of the samples of one CPU, in order; groupOf
 * gives the group of a row.
 */
export function intervals(
	sequences: ArrayLike<number>[], groupOf: Int32Array, groups: number,
): Confidence[] {
	const count = new Count(groups);
	for (const rows of sequences)
		count.add(rows, groupOf);
	const n = count.base.samples;
	return count.tallies.map((t) => {
		if (!t.samples || t.samples === n)
			return independent(t.samples, n);
		const share = t.samples / n, variance = count.variance(t) / n / n;
		const [low, high] = wilson(share, Math.max((share * (1 - share)) / variance, 1));
		return { samples: t.samples, share, low, high, variance };
	});
}
