/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load: the data of the page, from the element that holds them, or from the server of `assay
 * view` (live mode). The compressed text is dropped once it is decoded.
 */
import { selectionOf } from "../model/fleet";
import { Blob_ } from "./blob";

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
	const native = (Uint8Array as any).fromBase64;
	if (native)
		return native.call(Uint8Array, text);
	const raw = atob(text);
	const bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<ArrayBuffer> {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	try {
		return await new Response(stream).arrayBuffer();
	} catch {
		throw new Error("The data of this page are damaged: they cannot be decompressed.");
	}
}

export interface Source {
	/* Reads the data; in live mode again with each call. */
	read(): Promise<Blob_>;
	events: string | null;
	live: boolean;
	asks: boolean; /* the server makes the data of the selection in the address of the page */
}

export function findSource(root: Document): Source {
	const element = root.getElementById("assay-data");
	if (!element)
		throw new Error("This page has no data: assay report --html FILE writes a page with data.");
	const url = element.getAttribute("data-url"), asks = element.hasAttribute("data-asks");
	if (url)
		return {
			live: true,
			asks,
			events: element.getAttribute("data-events"),
			read: async () => {
				const answer = await fetch(url + (asks ? selectionOf(location.search) : ""), { cache: "no-store" });
				if (!answer.ok)
					throw new Error((asks && (await answer.text())) || `assay view answered with status ${answer.status}.`);
				const bytes = new Uint8Array(await answer.arrayBuffer());
				return new Blob_(await inflate(bytes));
			},
		};
	return {
		live: false,
		asks: false,
		events: null,
		read: async () => {
			const bytes = fromBase64((element.textContent ?? "").trim());
			element.textContent = "";
			return new Blob_(await inflate(bytes));
		},
	};
}
