/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_figures FILE [FROM TO]...: what a page of assay shows about waits, as a line of JSON for each
 * range in ns since the begin of the waits (none: the whole time): the path of the report's process,
 * and the sums of the call paths of waits.
 */
import { readFileSync } from "node:fs";
import { inflateSync } from "node:zlib";
import { Blob_ } from "../../src/web/page/data/blob";
import { sum } from "../../src/web/page/model/selection";
import { waitModel } from "../../src/web/page/model/wait_model";
import { findPath, usualEnd } from "../../src/web/page/model/wait_path";
import { readWaits, Waits } from "../../src/web/page/model/waits";

function open(file: string): Waits {
	const data = /id="assay-data"[^>]*>([^<]*)</.exec(readFileSync(file, "utf8"))![1];
	const bytes = inflateSync(Buffer.from(data, "base64"));
	return readWaits(new Blob_(new Uint8Array(bytes).buffer as ArrayBuffer))!;
}

const [file, ...ends] = process.argv.slice(2);
const w = open(file), ranges = ends.length ? ends : ["0", String(w.durationNs)];
for (let i = 0; i + 1 < ranges.length; i += 2) {
	const s = { from: +ranges[i], to: +ranges[i + 1] };
	const path = findPath(w, usualEnd(w), s), [blocked, runnable, waits] = waitModel(w, s).rowValues.map(sum);
	console.log(JSON.stringify({
		clock_ns: w.ref.clock_ns, duration_ns: w.durationNs, blocked_ns: blocked, runnable_ns: runnable, waits,
		path_ns: path && path.to - path.from,
		path: (path?.rows ?? []).map((r) => ({
			thread: r.thread, kind: r.kind, name: r.name || null, function: r.func || null, ns: r.ns, count: r.count,
			saves_ns: Number.isNaN(r.saves) ? null : r.saves,
		})),
	}));
}
