/* SPDX-License-Identifier: GPL-2.0-or-later */
/* distributions: the tail of the normal distribution. */

/* The probability of a value above z. */
export function normalAbove(z: number): number {
	if (z < 0)
		return 1 - normalAbove(-z);
	const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
	if (z > 3) {
		/* Laplace's continued fraction. */
		let below = z;
		for (let k = 60; k > 0; k--)
			below = z + k / below;
		return density / below;
	}
	let sum = z, term = z;
	for (let k = 3; k < 100; k += 2) {
		term *= (z * z) / k;
		sum += term;
	}
	return 0.5 - density * sum;
}
