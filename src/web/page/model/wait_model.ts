/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_model: the off-wake call paths of a range of time: below the path of a thread that waits is
 * "<- NAME", the thread that woke it, and below that the path of the wake-up. It is a model as those
 * of samples are, with the values blocked, runnable and waits; a row is a cause.
 */
import { Model, Process } from "./model";
import { PairTable } from "./pair_table";
import { Stretch } from "./selection";
import { CAUSE_COUNTED, CAUSE_THREAD, clipped, waitAfter, Waits } from "./waits";

interface Shape {
	parent: number[];
	func: number[];
	names: string[]; /* of functions beyond those of the data: "<- NAME" */
	rowNode: Uint32Array;
	owner: Uint32Array; /* by cause */
	labels: string[];
	nodeParent: Uint32Array;
	nodeFunction: Uint32Array;
	inlined: Uint8Array;
}

const shapes = new WeakMap<Waits, Shape>();

/* The nodes of all paths; they do not depend on the range. */
function shapeOf(w: Waits): Shape {
	const found = shapes.get(w);
	if (found)
		return found;
	const causes = w.ref.causes.count, functions = w.ref.functions.count, ids = new PairTable(), wakers = new Map<number, number>();
	const s: Shape = {
		parent: Array.from(w.nodeParent), func: Array.from(w.nodeFunction), names: [], rowNode: new Uint32Array(causes),
		owner: new Uint32Array(causes), labels: [], nodeParent: new Uint32Array(), nodeFunction: new Uint32Array(), inlined: new Uint8Array(),
	};
	const below = (at: number, func: number) => {
		let id = ids.get(at, func);
		if (id < 0) {
			id = s.parent.push(at) - 1;
			s.func.push(func);
			ids.set(at, func, id);
		}
		return id;
	};
	const graft = (at: number, node: number): number =>
		node ? below(graft(at, w.nodeParent[node]), w.nodeFunction[node]) : at;
	for (let c = 0; c < causes; c++) {
		const by = w.causes.by[c];
		s.rowNode[c] = w.causes.node[c];
		if (!by)
			continue;
		if (!wakers.has(by))
			wakers.set(by, functions + s.names.push(`<- ${w.texts.get(by)}`) - 1);
		s.rowNode[c] = below(s.rowNode[c], wakers.get(by)!);
		if (w.causes.flags[c] & CAUSE_THREAD)
			s.rowNode[c] = graft(s.rowNode[c], w.causes.waker_node[c]);
	}
	const owners = new Map<string, number>();
	for (let i = 0; i < w.count; i++) {
		const { label } = w.lanes[w.lane[i]];
		if (!owners.has(label))
			owners.set(label, s.labels.push(label) - 1);
		s.owner[w.cause[i]] = owners.get(label)!;
	}
	s.nodeParent = Uint32Array.from(s.parent);
	s.nodeFunction = Uint32Array.from(s.func);
	s.inlined = new Uint8Array(s.parent.length);
	shapes.set(w, s);
	return s;
}

function values(w: Waits, s: Stretch): Float64Array[] {
	const out = [0, 1, 2].map(() => new Float64Array(w.ref.causes.count));
	for (const l of w.lanes)
		for (let i = waitAfter(w, l, s.from); i < l.end && w.out[i] < s.to; i++) {
			const c = w.cause[i];
			if (!(w.causes.flags[c] & CAUSE_COUNTED))
				continue;
			const { blocked, runnable } = clipped(w, i, s);
			out[0][c] += blocked;
			out[1][c] += runnable;
			out[2][c]++;
		}
	return out;
}

export function waitModel(w: Waits, range: Stretch): Model {
	const s = shapeOf(w), functions = w.ref.functions.count, text = (id: number) => w.texts.get(id);
	const processes: Process[] = s.labels.map((name) => ({ name, pids: 1, idle: false }));
	const func = (id: number) => ({
		name: id < functions ? text(w.functions.name[id]) || "[unknown]" : s.names[id - functions],
		image: id < functions ? text(w.functions.image[id]) : "", file: "", line: 0, group: "",
		kind: id < functions ? w.functions.kind[id] : 0,
	});
	return {
		values: [{ name: "blocked", unit: "nanoseconds" }, { name: "runnable", unit: "nanoseconds" }, { name: "waits", unit: "count" }],
		main: 0, work: 1, workBefore: 1, workUnit: "", cpus: 0,
		functions: functions + s.names.length, func,
		nodes: s.parent.length, nodeParent: s.nodeParent, nodeFunction: s.nodeFunction, nodeInlined: s.inlined,
		rows: s.rowNode.length, rowNode: s.rowNode, rowOwner: s.owner, rowProcess: s.owner, rowSide: null, rowValues: values(w, range),
		calls: null, processes, owners: s.labels.map((name) => ({ process: name, pid: 1, name, tid: 1 })), times: null,
	};
}
