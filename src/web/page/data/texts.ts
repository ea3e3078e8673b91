/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * texts: strings in one array of bytes, decoded when they are used. Control characters except tabs, and those
 * that change the direction of writing, are shown as \xNN: a name cannot change the page.
 */
const decoder = new TextDecoder();
const unsafe = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/;
const unsafeAll = new RegExp(unsafe.source, "g");

function escape(c: string): string {
	const code = c.charCodeAt(0);
	return code < 256 ? "\\x" + code.toString(16).padStart(2, "0") : "\\u" + code.toString(16);
}

export function safeText(text: string): string {
	return unsafe.test(text) ? text.replace(unsafeAll, escape) : text;
}

export class Texts {
	private readonly known: (string | undefined)[] = [];
	readonly count: number;

	constructor(
		private readonly offsets: Uint32Array,
		private readonly bytes: Uint8Array,
	) {
		this.count = Math.max(offsets.length - 1, 0);
	}

	get(id: number): string {
		let text = this.known[id];
		if (text === undefined) {
			const part = this.bytes.subarray(this.offsets[id], this.offsets[id + 1]);
			text = id < this.count ? safeText(decoder.decode(part)) : "";
			this.known[id] = text;
		}
		return text;
	}
}
