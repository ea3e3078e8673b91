/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob: the inflated data of a page: a head in JSON, and arrays of numbers to which it refers.
 * Arrays are views of the buffer, not copies. Each reference is checked against the size of the
 * blob; damaged data throw an Error with a sentence for the reader.
 */
import { Head, Ref, TextsRef } from "./contract";
import { Texts } from "./texts";

const MAGIC = "assaypg1";
const HEAD_AT = 16;

type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const forms = {
	u8: Uint8Array,
	u16: Uint16Array,
	u32: Uint32Array,
	i32: Int32Array,
	f64: Float64Array,
	varint: Uint8Array,
};

export class Blob_ {
	readonly head: Head;
	private readonly base: number;

	constructor(private readonly buffer: ArrayBuffer) {
		const start = new Uint8Array(buffer, 0, Math.min(HEAD_AT, buffer.byteLength));
		if (start.length < HEAD_AT || String.fromCharCode(...start.subarray(0, 8)) !== MAGIC)
			throw new Error("The data of this page do not begin as data of assay do.");
		const size = new DataView(buffer).getUint32(8, true);
		if (HEAD_AT + size > buffer.byteLength)
			throw new Error("The data of this page are truncated.");
		this.head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, HEAD_AT, size)));
		this.base = (HEAD_AT + size + 7) & ~7;
		if (this.head.format !== 1)
			throw new Error(`The data of this page have format ${this.head.format}; this viewer reads 1.`);
	}

	private numbers(ref: Ref): Numbers {
		const form = forms[ref.type];
		const end = this.base + ref.at + ref.count * (form?.BYTES_PER_ELEMENT ?? 0);
		if (!form || !(ref.at >= 0) || !(ref.count >= 0) || end > this.buffer.byteLength)
			throw new Error("The data of this page are damaged: an array is outside of them.");
		return new form(this.buffer, this.base + ref.at, ref.count);
	}

	u8(ref: Ref) {
		return this.numbers(ref) as Uint8Array<ArrayBuffer>;
	}

	u16(ref: Ref) {
		return this.numbers(ref) as Uint16Array<ArrayBuffer>;
	}

	u32(ref: Ref) {
		return this.numbers(ref) as Uint32Array<ArrayBuffer>;
	}

	i32(ref: Ref) {
		return this.numbers(ref) as Int32Array<ArrayBuffer>;
	}

	f64(ref: Ref) {
		return this.numbers(ref) as Float64Array<ArrayBuffer>;
	}

	texts(ref: TextsRef) {
		return new Texts(this.u32(ref.offsets), this.u8(ref.bytes));
	}
}
