/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * model: the call paths of a page. A row is a path with its owner (a thread) and its values. For a
 * diff, the rows of both sides are in one model, with one id for each function: `side` is 1 for
 * rows before the change. Immutable once made.
 */
import { Blob_ } from "../data/blob";
import { NONE, Stacks, Value } from "../data/contract";
import { decodeEntries, Entries } from "../data/entries";
import { Texts } from "../data/texts";

/* All processes of one name. */
export interface Process {
	name: string;
	pids: number;
	idle: boolean;
}

export interface Thread {
	process: string;
	pid: number;
	name: string;
	tid: number;
}

export interface Times {
	beginNs: number;
	durationNs: number;
	stepNs: number;
	finestNs: number; /* the step that the recording allows */
	periodNs: number;
	recordings: number;
	weightIsNs: boolean;
	ordered: boolean; /* the order of all samples is known */
	entries: Entries;
	/* The value of which an entry has the samples, and that of its weight; -1: none. */
	samplesValue: number;
	weightValue: number;
}

export interface Side {
	texts: Texts;
	functionName: Uint32Array;
	functionImage: Uint32Array;
	functionFile: Uint32Array;
	functionLine: Uint32Array;
	functionGroup: Uint32Array;
	functionKind: Uint8Array;
	imageName: Uint32Array;
	nodeParent: Uint32Array;
	nodeFunction: Uint32Array;
	nodeInlined: Uint8Array;
	ownerProcess: Uint32Array;
	ownerPid: Int32Array;
	ownerThread: Uint32Array;
	ownerTid: Int32Array;
	rowNode: Uint32Array;
	rowOwner: Uint32Array;
	rowValues: Float64Array[];
}

export interface Func {
	name: string;
	image: string;
	file: string;
	line: number;
	group: string;
	kind: number;
}

export interface Model {
	values: Value[];
	main: number;
	/* What the values are divided by, of each side of a diff; else 1. */
	work: number;
	workBefore: number;
	workUnit: string;
	cpus: number;
	functions: number;
	func(id: number): Func;
	nodes: number;
	nodeParent: Uint32Array;
	nodeFunction: Uint32Array;
	nodeInlined: Uint8Array;
	rows: number;
	rowNode: Uint32Array;
	rowOwner: Uint32Array; /* in `owners` */
	rowProcess: Uint32Array; /* in `processes` */
	rowSide: Uint8Array | null;
	rowValues: Float64Array[];
	calls: { p50: Float64Array; p90: Float64Array; p99: Float64Array; most: Float64Array } | null;
	processes: Process[];
	owners: Thread[];
	times: Times | null;
}

export function readSide(b: Blob_, s: Stacks): Side {
	return {
		texts: b.texts(s.texts),
		functionName: b.u32(s.functions.name),
		functionImage: b.u32(s.functions.image),
		functionFile: b.u32(s.functions.file),
		functionLine: b.u32(s.functions.line),
		functionGroup: b.u32(s.functions.group),
		functionKind: b.u8(s.functions.kind),
		imageName: b.u32(s.images.name),
		nodeParent: b.u32(s.nodes.parent),
		nodeFunction: b.u32(s.nodes.function),
		nodeInlined: b.u8(s.nodes.inlined),
		ownerProcess: b.u32(s.owners.process),
		ownerPid: b.i32(s.owners.pid),
		ownerThread: b.u32(s.owners.thread),
		ownerTid: b.i32(s.owners.tid),
		rowNode: b.u32(s.rows.node),
		rowOwner: b.u32(s.rows.owner),
		rowValues: s.rows.values.map((v) => b.f64(v)),
	};
}

function sideFunc(s: Side, id: number): Func {
	const image = s.functionImage[id];
	return {
		name: s.texts.get(s.functionName[id]) || "[unknown]",
		image: image === NONE ? "" : s.texts.get(s.imageName[image]),
		file: s.texts.get(s.functionFile[id]),
		line: s.functionLine[id],
		group: s.texts.get(s.functionGroup[id]),
		kind: s.functionKind[id],
	};
}

/*
 * The entries hold the value whose sum over each row is that of the entries of the row. Idle time is
 * left out: reports measure it by switches, not by samples.
 */
function valueOf(s: Side, idle: boolean[], entries: Entries, amounts: ArrayLike<number>): number {
	const sums = new Float64Array(s.rowNode.length);
	for (let i = 0; i < entries.count; i++)
		sums[entries.row[i]] += amounts[i];
	return s.rowValues.findIndex((values) =>
		values.every((v, row) => v === sums[row] || idle[s.rowOwner[row]]));
}

function readTimes(b: Blob_, s: Stacks, side: Side): Times | null {
	const t = s.times;
	if (!t || !t.count)
		return null;
	const bytes = {
		time: b.u8(t.time), row: b.u8(t.row), cpu: b.u8(t.cpu), samples: b.u8(t.samples),
		weight: b.u8(t.weight),
	};
	const entries = decodeEntries(bytes, t.count, t.period_ns, side.rowNode.length);
	const idle = ownersOf(side).map((o) => isIdle(o.process, o.pid));
	return {
		beginNs: t.begin_ns,
		durationNs: Math.max(t.duration_ns, (entries.time[t.count - 1] + 1) * t.step_ns),
		stepNs: t.step_ns,
		finestNs: t.finest_ns ?? t.step_ns,
		periodNs: t.period_ns,
		recordings: t.recordings,
		weightIsNs: t.weight_is_ns,
		ordered: !t.window_ns && entries.single,
		entries,
		samplesValue: valueOf(side, idle, entries, entries.samples),
		weightValue: valueOf(side, idle, entries, entries.weight),
	};
}

function isIdle(name: string, pid: number): boolean {
	return pid === 0 && /^(swapper|idle)/.test(name);
}

function ownersOf(s: Side): Thread[] {
	return Array.from(s.ownerPid, (pid, i) => ({
		process: s.texts.get(s.ownerProcess[i]) || "[unknown]",
		pid,
		name: s.texts.get(s.ownerThread[i]),
		tid: s.ownerTid[i],
	}));
}

/* The processes of owners by their names, and the process of each owner. */
function processesOf(owners: Thread[]): { processes: Process[]; of: Uint32Array } {
	const ids = new Map<string, number>(), pids: Set<number>[] = [], processes: Process[] = [];
	const of = Uint32Array.from(owners, (o) => {
		const idle = isIdle(o.process, o.pid), key = `${o.process}\n${idle}`;
		let id = ids.get(key);
		if (id === undefined) {
			id = processes.push({ name: o.process, pids: 0, idle }) - 1;
			ids.set(key, id);
			pids.push(new Set());
		}
		processes[id].pids = pids[id].add(o.pid).size;
		return id;
	});
	return { processes, of };
}

/* For a diff: ids of the functions of `before` among those of `after`, by name and image. */
function joinFunctions(after: Side, before: Side): { ids: Uint32Array; own: number[] } {
	const known = new Map<string, number>();
	const key = (s: Side, i: number) => {
		const f = sideFunc(s, i);
		return `${f.name}\n${f.image}`;
	};
	const own: number[] = [];
	after.functionName.forEach((_, i) => known.set(key(after, i), i));
	const ids = Uint32Array.from(before.functionName, (_, i) => {
		let id = known.get(key(before, i));
		if (id === undefined) {
			id = after.functionName.length + own.length;
			own.push(i);
			known.set(key(before, i), id);
		}
		return id;
	});
	return { ids, own };
}

function concat(a: Uint32Array, b: Uint32Array): Uint32Array {
	const both = new Uint32Array(a.length + b.length);
	both.set(a);
	both.set(b, a.length);
	return both;
}

function valuesOf(after: Stacks, before: Stacks, sides: [Side, Side]): Float64Array[] {
	return after.values.map((value, v) => {
		const other = before.values.findIndex((b) => b.name === value.name);
		const [a, b] = sides;
		const all = new Float64Array(a.rowNode.length + b.rowNode.length);
		all.set(a.rowValues[v]);
		if (other >= 0)
			all.set(b.rowValues[other], a.rowNode.length);
		return all;
	});
}

/* Functions are made when they are used. */
function funcs(sides: { side: Side; id: (i: number) => number }[], first: number) {
	const known: (Func | undefined)[] = [];
	return (i: number): Func => {
		const from = i < first ? sides[0] : sides[1];
		return (known[i] ??= sideFunc(from.side, from.id(i)));
	};
}

function modelOfTwo(b: Blob_, s: Stacks, before: Stacks): Model {
	const after = readSide(b, s), old = readSide(b, before);
	const { ids, own } = joinFunctions(after, old);
	const first = after.functionName.length, shift = after.nodeParent.length;
	const owners = [...ownersOf(after), ...ownersOf(old)], { processes, of } = processesOf(owners);
	const rowOwner = concat(after.rowOwner, old.rowOwner.map((o) => o + after.ownerPid.length));
	/* The root of the second side becomes the root of the first. */
	const moved = (node: number) => (node ? node + shift : 0);
	const inlined = new Uint8Array(shift + old.nodeInlined.length);
	inlined.set(after.nodeInlined);
	inlined.set(old.nodeInlined, shift);
	const side = new Uint8Array(rowOwner.length).fill(1, after.rowNode.length);
	return {
		values: s.values,
		main: s.main,
		work: s.work || 1,
		workBefore: before.work || 1,
		workUnit: s.work_unit || "",
		cpus: s.cpus,
		functions: first + own.length,
		func: funcs([
			{ side: after, id: (i) => i },
			{ side: old, id: (i) => own[i - first] },
		], first),
		nodes: inlined.length,
		nodeParent: concat(after.nodeParent, old.nodeParent.map(moved)),
		nodeFunction: concat(after.nodeFunction, old.nodeFunction.map((f) => ids[f] ?? 0)),
		nodeInlined: inlined,
		rows: rowOwner.length,
		rowNode: concat(after.rowNode, old.rowNode.map(moved)),
		rowOwner,
		rowProcess: rowOwner.map((o) => of[o] ?? 0),
		rowSide: side,
		rowValues: valuesOf(s, before, [after, old]),
		calls: null,
		processes,
		owners,
		times: null,
	};
}

export function readModel(b: Blob_): Model | null {
	const s = b.head.stacks;
	if (!s || !s.values.length)
		return null;
	if (b.head.before)
		return modelOfTwo(b, s, b.head.before);
	const side = readSide(b, s);
	const owners = ownersOf(side), { processes, of } = processesOf(owners);
	const c = s.calls;
	return {
		values: s.values,
		main: s.main,
		work: s.work || 1,
		workBefore: 1,
		workUnit: s.work_unit || "",
		cpus: s.cpus,
		functions: side.functionName.length,
		func: funcs([{ side, id: (i) => i }], Infinity),
		nodes: side.nodeParent.length,
		nodeParent: side.nodeParent,
		nodeFunction: side.nodeFunction,
		nodeInlined: side.nodeInlined,
		rows: side.rowNode.length,
		rowNode: side.rowNode,
		rowOwner: side.rowOwner,
		rowProcess: side.rowOwner.map((o) => of[o] ?? 0),
		rowSide: null,
		rowValues: side.rowValues,
		calls: c && { p50: b.f64(c.p50), p90: b.f64(c.p90), p99: b.f64(c.p99), most: b.f64(c.most) },
		processes,
		owners,
		times: readTimes(b, s, side),
	};
}

