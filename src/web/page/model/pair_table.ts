/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pair_table: ids of pairs of numbers (a hash table in typed arrays, which a Map of strings or of
 * large numbers would be several times slower than). Values are given by the caller.
 */
export class PairTable {
	private mask: number;
	private used = 0;
	private a: Int32Array;
	private b: Int32Array;
	private value: Int32Array;

	constructor(expected = 1024) {
		const size = 1 << Math.max(4, Math.ceil(Math.log2(expected * 2)));
		this.mask = size - 1;
		this.a = new Int32Array(size);
		this.b = new Int32Array(size);
		this.value = new Int32Array(size).fill(-1);
	}

	private slot(a: number, b: number): number {
		let h = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
		h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
		let i = (h ^ (h >>> 13)) & this.mask;
		while (this.value[i] >= 0 && (this.a[i] !== a || this.b[i] !== b))
			i = (i + 1) & this.mask;
		return i;
	}

	/* -1: there is none. */
	get(a: number, b: number): number {
		return this.value[this.slot(a, b)];
	}

	set(a: number, b: number, value: number): void {
		const i = this.slot(a, b);
		if (this.value[i] < 0 && ++this.used * 3 > this.mask * 2) {
			this.grow();
			this.set(a, b, value);
			this.used--;
			return;
		}
		this.a[i] = a;
		this.b[i] = b;
		this.value[i] = value;
	}

	private grow(): void {
		const { a, b, value } = this;
		this.mask = this.mask * 2 + 1;
		this.a = new Int32Array(this.mask + 1);
		this.b = new Int32Array(this.mask + 1);
		this.value = new Int32Array(this.mask + 1).fill(-1);
		for (let i = 0; i < value.length; i++) {
			if (value[i] < 0)
				continue;
			const to = this.slot(a[i], b[i]);
			this.a[to] = a[i];
			this.b[to] = b[i];
			this.value[to] = value[i];
		}
	}
}
