/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port of the intervals against the figures of the C code, and the estimates of selections. */
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { intervals, NO_GROUP, OUTSIDE } from "../../src/web/page/statistics/confidence";
import { normalAbove } from "../../src/web/page/statistics/distributions";
import { chance, ofWeights } from "../../src/web/page/statistics/estimates";

const GROUPS = 8, NONE_ROW = GROUPS, OUTSIDE_ROW = GROUPS + 1;

/* "3a2." as rows. */
function rowsOf(runs: string): number[] {
	const rows: number[] = [];
	for (const [, count, letter] of runs.matchAll(/(\d+)([a-h.-])/g)) {
		const row = letter === "." ? NONE_ROW : letter === "-" ? OUTSIDE_ROW : letter.charCodeAt(0) - 97;
		for (let i = 0; i < +count; i++)
			rows.push(row);
	}
	return rows;
}

function near(got: number, want: number, what: string): void {
	assert.ok(Math.abs(got - want) <= 1e-9 * Math.max(Math.abs(want), 1e-6), `${what}: ${got}, not ${want}`);
}

test("the intervals are those of the C code", () => {
	const groupOf = Int32Array.from({ length: GROUPS + 2 }, (_, row) =>
		row < GROUPS ? row : row === NONE_ROW ? NO_GROUP : OUTSIDE);
	let name = "", cpus: number[][] = [], compared = 0;
	for (const line of readFileSync("tests/vectors/confidence.txt", "utf8").split("\n")) {
		const words = line.split(" ");
		if (words[0] === "case") {
			name = line.slice(5);
			cpus = [];
		} else if (words[0] === "cpu") {
			cpus.push(rowsOf(words[1]));
		} else if (words[0] === "group") {
			const c = intervals(cpus, groupOf, GROUPS)[words[1].charCodeAt(0) - 97];
			const [samples, share, low, high, variance] = words.slice(2).map(Number);
			assert.equal(c.samples, samples, `${name}: samples`);
			near(c.share, share, `${name}: share`);
			near(c.low, low, `${name}: low`);
			near(c.high, high, `${name}: high`);
			near(c.variance, variance, `${name}: variance`);
			compared++;
		}
	}
	assert.ok(compared >= 17, `${compared} groups`);
});

test("tails are those of the tables", () => {
	assert.ok(Math.abs(normalAbove(1.959963984540054) - 0.025) < 1e-12);
	assert.ok(Math.abs(normalAbove(-1) - 0.8413447460685429) < 1e-12);
	assert.ok(Math.abs(normalAbove(5) / 2.866515718791939e-7 - 1) < 1e-9);
});

test("samples of different weights count as fewer samples", () => {
	const equal = ofWeights(200, 1000, 1000), unequal = ofWeights(200, 1000, 2000);
	assert.equal(equal.share, 0.2);
	assert.equal(unequal.share, 0.2);
	assert.ok(Math.abs(equal.variance - 0.2 * 0.8 / 1000) < 1e-12);
	assert.ok(Math.abs(unequal.variance - 0.2 * 0.8 / 500) < 1e-12);
});

test("a change is beyond chance only if the intervals are narrow enough", () => {
	const c = (share: number, variance: number) =>
		({ samples: 1, share, low: 0, high: 1, variance });
	assert.ok(chance(c(0.1, 1e-6), c(0.2, 1e-6)) < 1e-6);
	assert.ok(chance(c(0.1, 0.01), c(0.2, 0.01)) > 0.4);
	assert.equal(chance(c(0.1, 0), c(0.1, 0)), 1);
});
