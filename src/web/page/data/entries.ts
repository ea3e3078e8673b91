/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * entries: the samples in the order of time, decoded from varints into arrays. Times are steps
 * since the begin of the recording, weights those of the axis (ns, or counts of the event).
 */
export interface Entries {
	count: number;
	time: Float64Array;
	row: Uint32Array;
	cpu: Uint16Array; /* 0xffff: unknown */
	samples: Uint32Array;
	weight: Float64Array;
	single: boolean; /* each entry is one sample */
	uniform: boolean; /* each sample has the usual weight */
}

export const NO_CPU = 0xffff;

/* The five columns of varints; `weight` has an item only for entries of an unusual weight. */
export interface EntryBytes {
	time: Uint8Array;
	row: Uint8Array;
	cpu: Uint8Array;
	samples: Uint8Array;
	weight: Uint8Array;
}

/* Reads unsigned varints (LEB128). Values beyond 28 bits take the slow way; few have so many. */
export class Varints {
	private at = 0;

	constructor(private readonly bytes: Uint8Array) {}

	next(): number {
		const bytes = this.bytes;
		let byte = bytes[this.at++];
		if (byte < 0x80)
			return byte;
		let value = byte & 0x7f, shift = 7;
		do {
			byte = bytes[this.at++];
			value |= (byte & 0x7f) << shift;
			shift += 7;
		} while (byte & 0x80 && shift < 28);
		return byte & 0x80 ? this.long(value) : value;
	}

	private long(value: number): number {
		let factor = 2 ** 28, byte;
		do {
			byte = this.bytes[this.at++];
			value += (byte & 0x7f) * factor;
			factor *= 128;
		} while (byte & 0x80);
		return value;
	}

	/* Throws if more was read than there is. */
	end(): void {
		if (this.at > this.bytes.length)
			throw new Error("The data of this page are damaged: the samples end too early.");
	}
}

function times(bytes: Uint8Array, count: number): Float64Array {
	const out = new Float64Array(count), v = new Varints(bytes);
	let time = 0;
	for (let i = 0; i < count; i++) {
		time += v.next();
		out[i] = time;
	}
	v.end();
	return out;
}

function rows(bytes: Uint8Array, count: number, most: number): Uint32Array {
	const out = new Uint32Array(count), v = new Varints(bytes);
	let largest = 0;
	for (let i = 0; i < count; i++) {
		out[i] = v.next();
		largest = Math.max(largest, out[i]);
	}
	v.end();
	if (count && largest >= most)
		throw new Error("The data of this page are damaged: a sample has no row.");
	return out;
}

function cpus(bytes: Uint8Array, count: number): Uint16Array {
	const out = new Uint16Array(count), v = new Varints(bytes);
	for (let i = 0; i < count; i++) {
		const cpu = v.next();
		out[i] = cpu ? cpu - 1 : NO_CPU;
	}
	v.end();
	return out;
}

/* `period`: the usual weight of one sample; `rowCount`: rows to which entries may refer. */
export function decodeEntries(
	bytes: EntryBytes, count: number, period: number, rowCount: number,
): Entries {
	const samples = new Uint32Array(count), weight = new Float64Array(count);
	const many = new Varints(bytes.samples), own = new Varints(bytes.weight);
	let single = true, uniform = true;

	for (let i = 0; i < count; i++) {
		const item = many.next();
		samples[i] = Math.floor(item / 2);
		single = single && samples[i] === 1;
		uniform = uniform && item % 2 === 0;
		weight[i] = item % 2 ? own.next() : samples[i] * period;
	}
	many.end();
	own.end();
	return {
		count,
		time: times(bytes.time, count),
		row: rows(bytes.row, count, rowCount),
		cpu: cpus(bytes.cpu, count),
		samples, weight, single, uniform,
	};
}

/* The first entry at or after a time. */
export function entryAt(e: Entries, time: number): number {
	let low = 0, high = e.count;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (e.time[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
