/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * make_page PAGE OUT [SAMPLES] [diff]: writes a page with a generated recording: a build on two CPUs,
 * with phases, bursts, recursion, hostile names and idle time. The same arguments give the same page.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { BlobWriter, pageWith } from "./blob_writer";
import { head, random, Sample, stacks } from "./sample_data";
import { sampleCode, sampleDocument } from "./sample_document";

export const LONG = `std::vector<${"std::pair<int, ".repeat(260)}int${">".repeat(260)}>::push_back`;
export const NAMES = ["parse", "hot", "a</script><img src=x onerror=alert(1)>", "operator<<", LONG, "esc\u001b[31mred"];

const IMAGES = ["/usr/lib/gcc/cc1", "/usr/lib/x86_64-linux-gnu/libc.so.6", "[kernel]", "/usr/bin/ld"];

/* Call paths by a random walk: the next path differs from the one before near its end. */
function paths(count: number, next: () => number, slow: number): string[] {
	const functions = Math.max(40, Math.floor(count / 20)), list: string[] = [], path: string[] = [];
	const name = (i: number) =>
		i < NAMES.length ? `${NAMES[i]}@${IMAGES[i % 2]}` : `${i % 7 ? "" : "std::"}function_${i}@${IMAGES[i % 4]}`;
	for (let i = 0; i < count; i++) {
		path.length = Math.min(path.length, Math.floor(next() * 24));
		while (path.length < 4 || (next() < 0.7 && path.length < 40))
			path.push(name(next() < 0.2 ? i % NAMES.length : Math.floor(functions * next() ** (1 + slow))));
		list.push(["main@/usr/lib/gcc/cc1", ...path].join(";"));
	}
	return list;
}

/*
 * A few paths have most of the samples, and many have one or two, as in recordings of builds: 1
 * million samples have about 100,000 paths. Each quarter of the time has paths of its own.
 */
export function recording(count: number, seed: number, slow = 1): Sample[] {
	const next = random(seed), samples: Sample[] = [];
	const known = paths(Math.max(200, Math.floor(count / 9)), next, slow);
	for (let i = 0; i < count; i++) {
		const cpu = i & 1, time = (i >> 1) * 1000 + Math.floor(next() * 20) + cpu;
		const phase = Math.floor((4 * i) / count);
		if (next() < (cpu ? 0.35 : 0.1)) {
			samples.push({ path: `cpu_startup_entry@[kernel];default_idle@[kernel]`, process: "swapper", pid: 0, cpu, time });
			continue;
		}
		const at = Math.floor(known.length * (phase * 0.1 + 0.7 * next() ** 4));
		samples.push({ path: known[at], process: phase === 3 ? "ld" : "cc1", pid: 100 + phase + 10 * cpu, cpu, time });
	}
	samples.sort((a, b) => a.time - b.time);
	return samples;
}

export function makeBlob(count: number, diff: boolean): Uint8Array {
	const w = new BlobWriter();
	const options = { stepNs: 1024, finestNs: 512, periodNs: 1e6, cpus: 2, blocked: (row: number) => (row % 5) * 1e6 };
	const s = stacks(w, recording(count, 1), options);
	const before = diff
		? stacks(w, recording(count, 2, 1.4), { ...options, times: false, work: 3, workUnit: "run" }) : null;
	return w.blob(head({
		title: diff ? "before.data -- after.data" : "build.data",
		kind: diff ? "diff" : "samples",
		document: sampleDocument(w, [...NAMES, ...Array.from({ length: 20 }, (_, i) => `function_${i}`)]),
		code: sampleCode(w),
		stacks: diff ? { ...s, times: null, work: 3, work_unit: "run" } : s,
		...(before ? { before } : {}),
	}));
}

if (process.argv[1]?.includes("make_page")) {
	const [page, out, count, kind] = process.argv.slice(2);
	if (!out) {
		console.error("usage: node make_page.cjs PAGE OUT [SAMPLES] [diff]");
		process.exit(2);
	}
	writeFileSync(out, pageWith(readFileSync(page, "utf8"), makeBlob(+(count ?? 20000), kind === "diff")));
}
