/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main: reads the data of the page, shows it, and reads it again when `assay view` says so. */
import { render } from "preact";
import { Blob_ } from "./data/blob";
import { findSource, Source } from "./data/load";
import { App } from "./views/app";

const root = document.getElementById("assay")!;

function say(text: string): void {
	root.textContent = "";
	const message = document.createElement("p");
	message.className = "message";
	message.setAttribute("role", "alert");
	message.textContent = text;
	root.append(message);
}

function show(b: Blob_, state: string): void {
	document.title = `${b.head.title || "assay"} – assay`;
	render(<App b={b} state={state} />, root);
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
	try {
		const source = findSource(document), b = await source.read();
		root.textContent = "";
		show(b, source.events ? "live" : "");
		performance.mark("assay-first-picture");
		if (source.events)
			follow(source, b);
	} catch (e) {
		say(e instanceof Error ? e.message : String(e));
	}
}

/* On paper all parts of the report are open; of the annotated code those that the reader opened. */
window.addEventListener("beforeprint", () => {
	for (const part of document.querySelectorAll<HTMLDetailsElement>("details:not(.code)"))
		part.open = true;
});

if (typeof DecompressionStream !== "undefined")
	start();
