/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * distributions: the quantiles that confidence.ts needs, ported from src/base/statistics. The
 * shared vectors (tests/vectors/confidence.txt) hold both to the same figures.
 */
const INFINITE_DEGREES = 1e6;
const TINY = 1e-290;

/* Lanczos's approximation; relative error about 1e-14. */
function logGamma(x: number): number {
	const c = [
		0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
		-176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
		1.5056327351493116e-7,
	];
	let sum = c[0];
	for (let i = 1; i < c.length; i++)
		sum += c[i] / (x - 1 + i);
	const t = x + 6.5;
	return Math.log(2 * Math.PI) / 2 + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

const notZero = (x: number) => (Math.abs(x) < TINY ? TINY : x);

/* The continued fraction of the incomplete beta function, by Lentz's method. */
function betaFraction(x: number, a: number, b: number): number {
	let c = 1, d = 1 / notZero(1 - ((a + b) * x) / (a + 1)), sum = d;
	for (let m = 1; m < 3000; m++) {
		const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
		const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 / notZero(1 + even * d);
		c = notZero(1 + even / c);
		sum *= d * c;
		d = 1 / notZero(1 + odd * d);
		c = notZero(1 + odd / c);
		sum *= d * c;
		if (Math.abs(d * c - 1) < 1e-14)
			break;
	}
	return sum;
}

function incompleteBeta(x: number, y: number, a: number, b: number): number {
	if (x <= 0 || y <= 0)
		return x > 0 ? 1 : 0;
	const front = Math.exp(
		logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(y),
	);
	if (x < (a + 1) / (a + b + 2))
		return (front * betaFraction(x, a, b)) / a;
	return 1 - (front * betaFraction(y, b, a)) / b;
}

/* The probability of a value above z. */
export function normalAbove(z: number): number {
	if (z < 0)
		return 1 - normalAbove(-z);
	/* The normal distribution is that of student with many degrees, to about 1e-7. */
	return studentTail(z, 1e7);
}

function studentTail(t: number, degrees: number): number {
	const x = degrees / (degrees + t * t), y = (t * t) / (degrees + t * t);
	const tail = incompleteBeta(x, y, degrees / 2, 0.5) / 2;
	return t > 0 ? tail : 1 - tail;
}

export function studentAbove(t: number, degrees: number): number {
	return degrees >= INFINITE_DEGREES ? normalAbove(t) : studentTail(t, degrees);
}

const NORMAL_975 = 1.9599639845400545;
const known = new Map<number, number>();

/* The quantile 0.975: half of the width of a 95 % interval. */
export function student975(degrees: number): number {
	if (!(degrees < INFINITE_DEGREES))
		return NORMAL_975;
	let t = known.get(degrees);
	if (t !== undefined)
		return t;
	let low = 0, high = 20;
	for (let i = 0; i < 60; i++) {
		const middle = (low + high) / 2;
		if (studentTail(middle, degrees) > 0.025)
			low = middle;
		else
			high = middle;
	}
	t = (low + high) / 2;
	known.set(degrees, t);
	return t;
}
