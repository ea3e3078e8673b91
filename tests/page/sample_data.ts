/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample_data: recordings made by hand, in the form of a page. A path is a text "a;b;c"; a function
 * may have an image ("a@libc"). stacks() makes the model from samples in the order of time.
 */
import { BlobWriter, Varint } from "./blob_writer";

export interface Sample {
	path: string;
	process?: string;
	pid?: number;
	cpu?: number;
	time: number; /* steps */
	samples?: number;
	weight?: number;
}

export interface StackOptions {
	stepNs?: number;
	finestNs?: number;
	periodNs?: number;
	windowNs?: number;
	times?: boolean;
	blocked?: (row: number) => number;
	work?: number;
	workUnit?: string;
	cpus?: number;
}

class Ids<T> {
	private readonly known = new Map<string, number>();
	readonly list: T[] = [];

	of(key: string, make: () => T): number {
		let id = this.known.get(key);
		if (id === undefined) {
			id = this.list.push(make()) - 1;
			this.known.set(key, id);
		}
		return id;
	}
}

const KERNEL = "[kernel]";

export function stacks(w: BlobWriter, all: Sample[], o: StackOptions = {}) {
	const texts = new Ids<string>(), images = new Ids<number>();
	const text = (t: string) => texts.of(t, () => t);
	text("");
	const functions = new Ids<{ name: number; image: number; kind: number; group: number }>();
	const nodes = new Ids<{ parent: number; function: number }>();
	const owners = new Ids<{ process: number; pid: number; tid: number }>();
	const rows = new Ids<{ node: number; owner: number; samples: number; weight: number }>();
	const period = o.periodNs ?? 1e6;
	nodes.of("", () => ({ parent: 0, function: 0 }));

	const functionOf = (word: string) =>
		functions.of(word, () => {
			const [name, image] = word.split("@");
			return {
				name: text(name),
				image: image ? images.of(image, () => text(image)) : 0xffffffff,
				kind: image === KERNEL ? 2 : image ? 1 : 0,
				group: text(image === KERNEL ? "kernel" : name.startsWith("std::") ? "standard library" : ""),
			};
		});
	const rowOf = (s: Sample) => {
		let node = 0, path = "";
		for (const word of s.path ? s.path.split(";") : []) {
			path += ";" + word;
			const parent = node;
			node = nodes.of(path, () => ({ parent, function: functionOf(word) }));
		}
		const pid = s.pid ?? 100, process = s.process ?? "prog";
		const owner = owners.of(`${process} ${pid}`, () => ({ process: text(process), pid, tid: pid }));
		return rows.of(`${node} ${owner}`, () => ({ node, owner, samples: 0, weight: 0 }));
	};

	const time = new Varint(), row = new Varint(), cpu = new Varint(), samples = new Varint();
	const weight = new Varint();
	let last = 0;
	for (const s of all) {
		const id = rowOf(s), many = s.samples ?? 1, own = s.weight ?? many * period;
		rows.list[id].samples += many;
		rows.list[id].weight += own;
		time.put(s.time - last);
		row.put(id);
		cpu.put((s.cpu ?? 0) + 1);
		samples.put(many * 2 + +(own !== many * period));
		if (own !== many * period)
			weight.put(own);
		last = s.time;
	}
	const u32 = (list: number[]) => w.array(Uint32Array.from(list));
	const f64 = (list: number[]) => w.array(Float64Array.from(list));
	const i32 = (list: number[]) => w.array(Int32Array.from(list));
	const u8 = (list: number[]) => w.array(Uint8Array.from(list));
	const zeros = functions.list.map(() => 0), step = o.stepNs ?? 1e6;
	return {
		values: [
			{ name: "samples", unit: "count" },
			{ name: "cpu-clock", unit: "nanoseconds" },
			...(o.blocked ? [{ name: "blocked", unit: "nanoseconds" }] : []),
		],
		main: 0, runs: 1, work: o.work ?? 1, work_unit: o.workUnit ?? "", cpus: o.cpus ?? 2,
		texts: w.texts(texts.list),
		images: { name: u32(images.list) },
		functions: {
			name: u32(functions.list.map((f) => f.name)), image: u32(functions.list.map((f) => f.image)),
			file: u32(zeros), line: u32(zeros), group: u32(functions.list.map((f) => f.group)),
			kind: u8(functions.list.map((f) => f.kind)),
		},
		nodes: {
			parent: u32(nodes.list.map((n) => n.parent)), function: u32(nodes.list.map((n) => n.function)),
			inlined: u8(nodes.list.map(() => 0)),
		},
		owners: {
			process: u32(owners.list.map((x) => x.process)), pid: i32(owners.list.map((x) => x.pid)),
			thread: u32(owners.list.map((x) => x.process)), tid: i32(owners.list.map((x) => x.tid)),
		},
		rows: {
			node: u32(rows.list.map((r) => r.node)), owner: u32(rows.list.map((r) => r.owner)),
			values: [
				f64(rows.list.map((r) => r.samples)), f64(rows.list.map((r) => r.weight)),
				...(o.blocked ? [f64(rows.list.map((_, i) => o.blocked!(i)))] : []),
			],
		},
		calls: null,
		times: o.times === false ? null : {
			begin_ns: 0, duration_ns: (last + 1) * step, step_ns: step, finest_ns: o.finestNs ?? step, period_ns: period,
			window_ns: o.windowNs ?? 0, recordings: 1, count: all.length, weight_is_ns: true,
			time: w.varint(time), row: w.varint(row), cpu: w.varint(cpu), samples: w.varint(samples),
			weight: w.varint(weight),
		},
	};
}

export function head(more: object) {
	return {
		format: 1, assay: "0.1.0", title: "hand.data", kind: "samples", document: { sections: [] },
		code: [], stacks: null, ...more,
	};
}

/* A generator of numbers from 0 to 1, the same in each run. */
export function random(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let t = Math.imul(state ^ (state >>> 15), state | 1);
		t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
		return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
	};
}
