/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * confidence: 95 % intervals for shares of samples, a port of src/view/confidence/confidence.c.
 * The reasons for each step are there; tests/vectors/confidence.txt holds both to the same figures.
 *
 * A sample belongs to one group, or to none (NO_GROUP), or is outside of the base (OUTSIDE). The
 * samples of one CPU are a sequence in the order of time. Samples are periodic, so the variance
 * follows from how the hits of a group cluster into runs and cycles.
 */
import { student975 } from "./distributions";

export const NO_GROUP = -1;
export const OUTSIDE = -2;

export interface Confidence {
	samples: number;
	share: number;
	low: number;
	high: number;
	variance: number; /* of the share */
	degrees: number; /* of freedom */
}

const Z95 = 1.959964;
const SLICES = 20;
const CYCLES_MIN = 5;
const CLEARLY_LESS = 3;
const LEAST_VARIANCE = 1 / 3;
const BLOCK_COUNTS = [0, 20, 8];

class Blocks {
	filled = 0;
	hits = 0;
	time = 0;
	count = 0;
	allTime = 0;
	hits2 = 0;
	hitsTime = 0;
	time2 = 0;
	hits2Time = 0;
	hitsTime2 = 0;
	time3 = 0;

	constructor(readonly size: number) {}

	add(hits: number, time: number): void {
		this.hits += hits;
		this.time += time;
		if (++this.filled < this.size)
			return;
		const h = this.hits, t = this.time;
		this.hits2 += h * h;
		this.hitsTime += h * t;
		this.time2 += t * t;
		this.hits2Time += h * h * t;
		this.hitsTime2 += h * t * t;
		this.time3 += t * t * t;
		this.allTime += t;
		this.count++;
		this.filled = this.hits = this.time = 0;
	}

	variance(p: number, length: number): number {
		const pull = this.hits2Time - 2 * p * this.hitsTime2 + p * p * this.time3;
		const sum = this.hits2 - 2 * p * this.hitsTime + p * p * this.time2 +
			(2 * pull) / this.allTime;
		return (((sum * this.count) / (this.count - 1)) * length) / this.allTime;
	}
}

/* The runs of one group in one sequence: [from, to) of the arrays. */
interface Runs {
	start: Int32Array;
	length: Int32Array;
	from: number;
	to: number;
}

class Tally {
	samples = 0;
	variance = 0;
	floor = 0;
	freedom = 0;
	slices = new Float64Array(SLICES);

	/* Adds what one sequence of `length` samples shows. */
	add(runs: Runs, length: number): void {
		const shape = shapeOf(runs, length), p = shape.hits / length;
		const floor = shape.edges / 12 + 1 / 6;
		let variance: number;

		if (shape.cycles < CYCLES_MIN) {
			variance = floor + shape.singleRuns * (1 - p) + shape.singleGaps * p;
			this.floor += floor;
		} else {
			const c = cycleVariance(fillBlocks(runs, shape), p, length, floor);
			variance = c.variance;
			this.freedom += (variance * variance) / c.degrees;
			this.floor += Math.min(floor, variance);
		}
		this.variance += variance;
		this.samples += shape.hits;
		for (let i = runs.from; i < runs.to; i++)
			this.addSlices(runs.start[i], runs.length[i], length);
	}

	private addSlices(start: number, run: number, length: number): void {
		for (let at = start; at < start + run; ) {
			const slice = Math.floor((at * SLICES) / length);
			const next = Math.floor(((slice + 1) * length + SLICES - 1) / SLICES);
			const end = Math.min(next, start + run);
			this.slices[slice] += end - at;
			at = end;
		}
	}
}

interface Shape {
	hits: number;
	edges: number;
	singleRuns: number;
	singleGaps: number;
	cycles: number;
	/* A gap ends a cycle if 4 * gap * gaps >= gaps2. */
	gaps: number;
	gaps2: number;
}

/* The gap before run i of the same group. */
function gapBefore(runs: Runs, i: number): number {
	return runs.start[i] - runs.start[i - 1] - runs.length[i - 1];
}

function shapeOf(runs: Runs, length: number): Shape {
	const s = { hits: 0, edges: 0, singleRuns: 0, singleGaps: 0, cycles: 0, gaps: 0, gaps2: 0 };
	for (let i = runs.from; i < runs.to; i++) {
		const run = runs.length[i];
		s.hits += run;
		s.singleRuns += +(run === 1);
		s.edges += +(i > runs.from || runs.start[i] > 0);
		s.edges += +(runs.start[i] + run < length);
		if (i === runs.from)
			continue;
		const gap = gapBefore(runs, i);
		s.gaps += gap;
		s.gaps2 += gap * gap;
		s.singleGaps += +(gap === 1);
	}
	for (let i = runs.from + 1; i < runs.to; i++)
		s.cycles += +(4 * gapBefore(runs, i) * s.gaps >= s.gaps2);
	return s;
}

function fillBlocks(runs: Runs, s: Shape): Blocks[] {
	const blocks = beginBlocks(s.cycles);
	let start = runs.start[runs.from], hits = runs.length[runs.from];
	for (let i = runs.from + 1; i < runs.to; i++) {
		if (4 * gapBefore(runs, i) * s.gaps >= s.gaps2) {
			for (const b of blocks)
				b.add(hits, runs.start[i] - start);
			start = runs.start[i];
			hits = 0;
		}
		hits += runs.length[i];
	}
	return blocks;
}

function beginBlocks(cycles: number): Blocks[] {
	return BLOCK_COUNTS.map((wanted) => {
		if (!wanted)
			return new Blocks(1);
		return new Blocks(cycles >= 2 * wanted ? Math.floor(cycles / wanted) : Infinity);
	});
}

function cycleVariance(blocks: Blocks[], p: number, length: number, floor: number) {
	let variance = Math.max(blocks[0].variance(p, length), floor), degrees = blocks[0].count - 1;
	for (let kind = 1; kind < blocks.length; kind++) {
		const b = blocks[kind];
		if (b.count < BLOCK_COUNTS[kind])
			break;
		const other = Math.max(b.variance(p, length), LEAST_VARIANCE);
		if (other * CLEARLY_LESS > variance)
			break;
		variance = other;
		degrees = b.count - 1;
	}
	return { variance, degrees };
}

function wilson(share: number, n: number, quantile: number): [number, number] {
	const q2 = quantile * quantile, d = 1 + q2 / n, middle = (share + q2 / (2 * n)) / d;
	const half = (quantile * Math.sqrt((share * (1 - share)) / n + q2 / (4 * n * n))) / d;
	const low = middle - half > 1e-12 ? middle - half : 0;
	return [low, share >= 1 ? 1 : Math.min(middle + half, 1)];
}

/* For samples whose order is not known: they are assumed to be independent. */
export function independent(samples: number, base: number): Confidence {
	if (!(base > 0))
		return { samples, share: 0, low: 0, high: 1, variance: 0, degrees: Infinity };
	const share = samples / base;
	const [low, high] = wilson(share, base, Z95);
	const variance = Math.max((share * (1 - share)) / base, 1 / (base * base));
	return { samples, share, low, high, variance, degrees: Infinity };
}

function sliceVariance(t: Tally, base: Float64Array, p: number): number {
	let sum = 0;
	for (let i = 0; i < SLICES; i++)
		sum += (t.slices[i] - p * base[i]) ** 2;
	return (sum * SLICES) / (SLICES - 1);
}

function conclude(t: Tally, base: number, sliceBase: Float64Array): Confidence {
	const n = base, p = t.samples / n;
	if (!t.samples || t.samples === n)
		return independent(t.samples, base);
	let v = t.variance, degrees = t.freedom > 0 ? (v * v) / t.freedom : Infinity;
	const slices = Math.max(sliceVariance(t, sliceBase, p), t.floor);
	if (n >= 20 * SLICES && slices < v / 4) {
		v = slices;
		degrees = SLICES - 1;
	}
	degrees = Math.max(degrees, 3);
	const variance = v / n / n, effective = Math.max((p * (1 - p)) / variance, 1);
	const [low, high] = wilson(p, effective, student975(degrees));
	return { samples: t.samples, share: p, low, high, variance, degrees };
}

/*
 * The intervals of all groups. A sequence has the rows of the samples of one CPU, in order; groupOf
 * gives the group of a row.
 */
export function intervals(
	sequences: ArrayLike<number>[], groupOf: Int32Array, groups: number,
): Confidence[] {
	const tallies: Tally[] = [], sliceBase = new Float64Array(SLICES);
	let base = 0;

	for (const rows of sequences) {
		const found = findRuns(rows, groupOf), length = found.samples;
		if (!length)
			continue;
		base += length;
		for (let i = 0; i < SLICES; i++)
			sliceBase[i] += Math.floor(((i + 1) * length + SLICES - 1) / SLICES) -
				Math.floor((i * length + SLICES - 1) / SLICES);
		const { runs, ends } = byGroup(found, groups);
		for (let g = 0, from = 0; g < groups; from = ends[g++])
			if (ends[g] > from)
				(tallies[g] ??= new Tally()).add({ ...runs, from, to: ends[g] }, length);
	}
	return Array.from({ length: groups }, (_, g) =>
		tallies[g] ? conclude(tallies[g], base, sliceBase) : independent(0, base),
	);
}

interface Found {
	count: number; /* of runs */
	group: Int32Array;
	start: Int32Array;
	length: Int32Array;
	samples: number; /* in the base */
}

function findRuns(rows: ArrayLike<number>, groupOf: Int32Array): Found {
	const group = new Int32Array(rows.length), start = new Int32Array(rows.length);
	const length = new Int32Array(rows.length);
	let count = 0, at = 0, current = NO_GROUP;
	for (let i = 0; i < rows.length; i++) {
		const g = groupOf[rows[i]];
		if (g === OUTSIDE)
			continue;
		if (g !== current) {
			if (g >= 0) {
				group[count] = g;
				start[count] = at;
				count++;
			}
			current = g;
		}
		if (g >= 0)
			length[count - 1]++;
		at++;
	}
	return { count, group, start, length, samples: at };
}

/* The runs sorted by group, each group's in their order; `ends`: where each group's runs end. */
function byGroup(f: Found, groups: number) {
	const ends = new Int32Array(groups), next = new Int32Array(groups);
	for (let i = 0; i < f.count; i++)
		ends[f.group[i]]++;
	for (let g = 1; g < groups; g++)
		ends[g] += ends[g - 1];
	next.set(ends.subarray(0, groups - 1), 1);
	const start = new Int32Array(f.count), length = new Int32Array(f.count);
	for (let i = 0; i < f.count; i++) {
		const to = next[f.group[i]]++;
		start[to] = f.start[i];
		length[to] = f.length[i];
	}
	return { runs: { start, length }, ends };
}
