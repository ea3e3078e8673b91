/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main: reads the data of the page, shows it, and reads it again when `assay view` says so. */
import { render } from "preact";
import { Blob_ } from "./data/blob";
import { findSource, Source } from "./data/load";
import { App } from "./views/app";
import { FleetBar } from "./views/fleet_bar";

const root = document.getElementById("assay")!;

function say(text: string): void {
	root.textContent = "";
	const message = document.createElement("p");
	message.className = "message";
	message.setAttribute("role", "alert");
	message.textContent = text;
	root.append(message);
}

function show(b: Blob_, state: string, asks = false): void {
	document.title = `${b.head.title || "assay"} – assay`;
	render(<App b={b} state={state} asks={asks} />, root);
}

/* The bar stays, so that another part can be chosen. */
function refuse(text: string): void {
	render(<main><FleetBar head={null} /><p class="message" role="alert">{text}</p></main>, root);
}

/* Live mode: one reading at a time; a change during it is read after it. The state is that of the last event. */
function follow(source: Source, last: Blob_): void {
	const events = new EventSource(source.events!);
	let reading = false, again = false, state = "live";
	const update = async () => {
		if (reading) {
			again = true;
			return;
		}
		reading = true;
		do {
			again = false;
			try {
				last = await source.read();
				show(last, state);
			} catch {
				show(last, "no answer from assay view");
			}
		} while (again);
		reading = false;
	};
	events.addEventListener("update", update);
	events.addEventListener("end", () => {
		events.close();
		state = "the session ended";
		update(); /* the data of the whole session */
	});
	events.onerror = () => show(last, "connection lost");
}

async function start(): Promise<void> {
	let asks = false;
	try {
		const source = findSource(document);
		asks = source.asks;
		const b = await source.read();
		root.textContent = "";
		show(b, source.events ? "live" : "", asks);
		performance.mark("assay-first-picture");
		if (source.events)
			follow(source, b);
	} catch (e) {
		const text = e instanceof Error ? e.message : String(e);
		say(text);
		if (asks) {
			root.textContent = "";
			refuse(text);
		}
	}
}

/* On paper all parts of the report are open; of the annotated code those that the reader opened. */
window.addEventListener("beforeprint", () => {
	for (const part of document.querySelectorAll<HTMLDetailsElement>("details:not(.code)"))
		part.open = true;
});

if (typeof DecompressionStream !== "undefined")
	start();
