/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blob_writer: writes the data of a page (format 1) for tests and benchmarks: the head as JSON, and
 * the arrays behind it. put() takes any structure in which arrays are given as typed arrays.
 */
import { deflateSync } from "node:zlib";

type Numbers = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float64Array;

const types: [any, string][] = [
	[Uint8Array, "u8"], [Uint16Array, "u16"], [Uint32Array, "u32"], [Int32Array, "i32"],
	[Float64Array, "f64"],
];

export class Varint {
	bytes: number[] = [];

	put(value: number): this {
		while (value >= 128) {
			this.bytes.push((value % 128) | 128);
			value = Math.floor(value / 128);
		}
		this.bytes.push(value);
		return this;
	}
}

export class BlobWriter {
	private parts: { at: number; bytes: Uint8Array }[] = [];
	private size = 0;

	array(numbers: Numbers, type = types.find(([t]) => numbers instanceof t)![1]) {
		const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
		const ref = { type, at: this.size, count: numbers.length };
		this.parts.push({ at: this.size, bytes });
		this.size += (bytes.length + 7) & ~7;
		return ref;
	}

	varint(v: Varint) {
		return this.array(Uint8Array.from(v.bytes), "varint");
	}

	texts(list: string[]) {
		const encoded = list.map((t) => new TextEncoder().encode(t));
		const offsets = new Uint32Array(list.length + 1);
		encoded.forEach((e, i) => (offsets[i + 1] = offsets[i] + e.length));
		const bytes = new Uint8Array(offsets[list.length]);
		encoded.forEach((e, i) => bytes.set(e, offsets[i]));
		return { offsets: this.array(offsets), bytes: this.array(bytes) };
	}

	blob(head: object): Uint8Array {
		const json = new TextEncoder().encode(JSON.stringify(head));
		const base = (16 + json.length + 7) & ~7, out = new Uint8Array(base + this.size);
		out.set(new TextEncoder().encode("assaypg1"));
		new DataView(out.buffer).setUint32(8, json.length, true);
		out.set(json, 16);
		for (const { at, bytes } of this.parts)
			out.set(bytes, base + at);
		return out;
	}
}

/* The page with the data in it. */
export function pageWith(page: string, blob: Uint8Array): string {
	const base64 = deflateSync(blob).toString("base64");
	return page.replace("<!--assay-data-->",
		`<script type="application/octet-stream" id="assay-data" data-format="1">${base64}</script>`);
}
