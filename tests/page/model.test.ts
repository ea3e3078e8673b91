/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding, selections, trees, sums, search and the heatmap, on recordings made by hand. */
import assert from "node:assert";
import { test } from "node:test";
import { Blob_ } from "../../src/web/page/data/blob";
import { safeText } from "../../src/web/page/data/texts";
import { Analysis } from "../../src/web/page/model/analysis";
import { neighbours, SELF } from "../../src/web/page/model/functions";
import { makeHeat, roundUp, stretchOf } from "../../src/web/page/model/heat";
import { callAt, longest, OUT, readLanes, within, zoomed } from "../../src/web/page/model/lanes";
import { layout } from "../../src/web/page/model/layout";
import { Model, readModel } from "../../src/web/page/model/model";
import { makeSearch, matchedSum } from "../../src/web/page/model/search";
import { makeSeries } from "../../src/web/page/model/series";
import { sum } from "../../src/web/page/model/selection";
import { buildTree, sums, Tree } from "../../src/web/page/model/tree";
import { arrowsOf, eachState, lanesShown, waitAtMoment } from "../../src/web/page/model/wait_lanes";
import { waitModel } from "../../src/web/page/model/wait_model";
import { findPath, usualEnd, WaitPath } from "../../src/web/page/model/wait_path";
import { readWaits } from "../../src/web/page/model/waits";
import { fromHash, START, toHash, View } from "../../src/web/page/model/view";
import { BlobWriter, Varint } from "./blob_writer";
import { sampleWaits } from "./sample_waits";
import { head, Sample, StackOptions, stacks } from "./sample_data";

const SAMPLES: Sample[] = [
	{ path: "main;work;hot@libc", time: 0 },
	{ path: "main;work;hot@libc", time: 10, cpu: 1 },
	{ path: "main;work", time: 20 },
	{ path: "main;loop;loop;loop;hot@libc", time: 30 },
	{ path: "main;a;b;a;b;c", time: 40, process: "other", pid: 7 },
	{ path: "idle_loop", time: 50, process: "swapper", pid: 0 },
	{ path: "", time: 60 },
];

function open(samples: Sample[], o: StackOptions = {}, before?: Sample[], old: StackOptions = {}) {
	const w = new BlobWriter(), s = stacks(w, samples, o);
	const more = before ? { before: stacks(w, before, { ...old, times: false }) } : {};
	const blob = w.blob(head({ stacks: s, ...more }));
	return readModel(new Blob_(blob.buffer as ArrayBuffer))!;
}

function view(change: Partial<View> = {}): View {
	return { ...START, idle: true, ...change };
}

/* The tree as text: "name total/self" with a blank for each level. */
function drawn(m: Model, t: Tree, amounts: Float64Array): string[] {
	const s = sums(t, amounts), lines: string[] = [];
	const visit = (n: number) => {
		const key = t.key[n];
		const name = key === -1 ? "all" : key < -1 ? m.processes[-2 - key].name : m.func(key).name;
		lines.push(`${" ".repeat(t.depth[n])}${name} ${s.total[n]}/${s.self[n]}`);
		for (let i = t.childStart[n]; i < t.childStart[n + 1]; i++)
			if (s.total[t.childList[i]])
				visit(t.childList[i]);
	};
	visit(0);
	return lines;
}

test("entries are decoded as they were written", () => {
	const samples: Sample[] = [
		{ path: "a", time: 3, samples: 5 }, { path: "b", time: 1000003, cpu: 300 },
		{ path: "a", time: 2 ** 33, weight: 2 ** 34 + 3 },
	];
	const e = open(samples, { windowNs: 1e9 }).times!.entries;
	assert.deepEqual([...e.time], [3, 1000003, 2 ** 33]);
	assert.deepEqual([...e.samples], [5, 1, 1]);
	assert.deepEqual([...e.cpu], [0, 300, 0]);
	assert.deepEqual([...e.weight], [5e6, 1e6, 2 ** 34 + 3]);
	assert.deepEqual([...e.row], [0, 1, 0]);
	assert.equal(e.uniform, false);
	assert.equal(e.single, false);
});

test("damaged data are refused with a sentence", () => {
	const w = new BlobWriter(), blob = w.blob(head({ stacks: stacks(w, SAMPLES) }));
	assert.throws(() => new Blob_(new ArrayBuffer(4)), /do not begin/);
	assert.throws(() => new Blob_(blob.slice(0, 100).buffer as ArrayBuffer), /truncated/);
	const short = blob.slice(0, blob.length - 64).buffer as ArrayBuffer;
	assert.throws(() => readModel(new Blob_(short)), /damaged/);
	const other = new BlobWriter().blob({ ...head({}), format: 2 });
	assert.throws(() => new Blob_(other.buffer as ArrayBuffer), /format 2/);
});

test("values that the time axis has are found by their sums", () => {
	const t = open(SAMPLES, { blocked: (row) => row * 7 }).times!;
	assert.equal(t.samplesValue, 0);
	assert.equal(t.weightValue, 1);
});

test("the tree from the callers down has all samples", () => {
	const m = open(SAMPLES), t = buildTree(m, { up: false, processes: false, fold: false });
	assert.deepEqual(drawn(m, t, m.rowValues[0]), [
		"all 7/1", " main 5/0", "  work 3/1", "   hot 2/2", "  loop 1/0", "   loop 1/0", "    loop 1/0",
		"     hot 1/1", "  a 1/0", "   b 1/0", "    a 1/0", "     b 1/0", "      c 1/1", " idle_loop 1/1",
	]);
});

test("recursion is folded by whole rounds", () => {
	const m = open(SAMPLES), t = buildTree(m, { up: false, processes: false, fold: true });
	assert.deepEqual(drawn(m, t, m.rowValues[0]), [
		"all 7/1", " main 5/0", "  work 3/1", "   hot 2/2", "  loop 1/0", "   hot 1/1", "  a 1/0", "   b 1/0",
		"    c 1/1", " idle_loop 1/1",
	]);
});

test("the tree from the functions up begins with each function's own samples", () => {
	const m = open(SAMPLES), t = buildTree(m, { up: true, processes: false, fold: false });
	assert.deepEqual(drawn(m, t, m.rowValues[0]).filter((l) => /^ ?\S/.test(l)), [
		"all 7/1", " hot 3/0", " work 1/0", " c 1/0", " idle_loop 1/1",
	]);
});

test("processes are the first level by choice", () => {
	const m = open(SAMPLES), t = buildTree(m, { up: false, processes: true, fold: false });
	assert.deepEqual(drawn(m, t, m.rowValues[0]).filter((l) => /^ ?\S/.test(l)), [
		"all 7/0", " prog 5/1", " other 1/0", " swapper 1/0",
	]);
});

test("a stretch of time selects its samples alone", () => {
	const a = new Analysis(open(SAMPLES));
	const part = a.now(view({ first: { from: 10, to: 40 } }));
	assert.equal(part.all, 3);
	assert.equal(a.now(view({ first: { from: 10, to: 40 }, value: 1 })).all, 3e6);
	assert.equal(a.now(view()).all, 7);
	assert.equal(a.now(view({ idle: false })).all, 6);
	assert.equal(a.now(view({ process: 1 })).all, 1);
});

test("a value that is not known by time is shown whole", () => {
	const a = new Analysis(open(SAMPLES, { blocked: () => 5 }));
	const v = view({ value: 2, first: { from: 10, to: 40 } });
	assert.equal(a.now(v).all, 5 * a.m.rows);
	assert.equal(a.now(v).stretch, null);
	assert.equal(a.old({ ...v, second: { from: 50, to: 60 } }), null);
});

test("two stretches are compared", () => {
	const a = new Analysis(open(SAMPLES));
	const v = view({ first: { from: 0, to: 30 }, second: { from: 30, to: 50 } });
	assert.equal(a.now(v).all, 2);
	assert.equal(a.old(v)!.all, 3);
});

test("frames too narrow to draw are counted", () => {
	const m = open(SAMPLES), t = buildTree(m, { up: false, processes: false, fold: false });
	const f = layout(t, sums(t, m.rowValues[0]).total, 0, 0.2);
	assert.equal(f.count, 4); /* all, main, work, hot */
	assert.equal(f.narrow, 10);
	assert.ok(Math.abs(f.narrowShare - 3 / 7) < 1e-9);
	const zoomed = layout(t, sums(t, m.rowValues[0]).total, 2, 0.2);
	assert.equal(zoomed.narrow, 0);
	assert.deepEqual([...zoomed.node], [0, 1, 2, 3]);
	assert.deepEqual([...zoomed.width].map((w) => +w.toFixed(3)), [1, 1, 1, 0.667]);
});

test("a search matches names, and counts each path once", () => {
	const m = open(SAMPLES), a = new Analysis(m), v = view({ search: "^(loop|HOT)$", processes: false });
	assert.equal(a.matches(v, a.form(v))!.functions, 1); /* a capital letter: exact */
	const both = view({ search: "loop|hot", processes: false });
	const found = a.matches(both, a.form(both))!;
	assert.equal(found.functions, 3);
	assert.equal(matchedSum(found, m.rowValues[0]), 4);
	assert.equal(makeSearch("a(")!.error, "not a regular expression");
	assert.equal(makeSearch(""), null);
	assert.ok(makeSearch("operator<<")!.test("operator<<"));
});

test("a function's total counts each path once, and its parts add up", () => {
	const m = open(SAMPLES), a = new Analysis(m), v = view(), part = a.now(v);
	const id = (name: string) => Array.from({ length: m.functions }, (_, i) => i).find((i) => m.func(i).name === name)!;
	const f = a.functions(v, part), s = a.plainSums(v, part);
	assert.equal(f.total[id("loop")], 1);
	assert.equal(f.total[id("hot")], 3);
	assert.equal(f.self[id("hot")], 3);
	const n = neighbours(a.plain(), a.outermost(), s, id("work"));
	assert.deepEqual(n.callers, [[id("main"), 3]]);
	assert.deepEqual(n.callees, [[id("hot"), 2], [SELF, 1]]);
	assert.deepEqual(neighbours(a.plain(), a.outermost(), s, id("main")).callers, [[SELF, 5]]);
});

test("the cells of the heatmap have all samples", () => {
	const many = Array.from({ length: 5000 }, (_, i): Sample => ({ path: i % 3 ? "a" : "b", time: i * 1000, cpu: i % 2 }));
	const m = open(many, { stepNs: 1024 }), all = new Uint8Array(m.rows).fill(1);
	for (const byCpu of [false, true]) {
		const h = makeHeat(m, 0, all, 100, byCpu);
		assert.ok(h.columns <= 100 && h.columns * h.lines > 100);
		assert.equal(sum(h.amount), 5000);
		assert.equal(h.total, 5000);
		const whole = stretchOf(h, [h.columns - 1, h.lines - 1], [0, 0]);
		assert.equal(new Analysis(m).now(view({ first: whole })).all, 5000);
	}
	const h = makeHeat(m, 0, all, 100, false), cell = stretchOf(h, [1, 2], [1, 2]);
	assert.equal(new Analysis(m).now(view({ first: cell })).all, h.amount[h.lines + 2]);
	assert.deepEqual([0.9, 1, 1.1, 2.1, 6, 300].map(roundUp), [1, 1, 2, 5, 10, 500]);
});

test("CPU use adds up to the time of the samples", () => {
	const m = open(SAMPLES), s = makeSeries(m, new Uint8Array(m.rows).fill(1), 10);
	const seconds = s.values.reduce((all, v) => all + sum(v) * s.binSeconds, 0);
	assert.ok(Math.abs(seconds - 7e-3) < 1e-12);
	assert.ok(s.cpus);
});

test("functions of both sides of a diff are one", () => {
	const before: Sample[] = [{ path: "main;work;old@libc", time: 0 }, { path: "main;work;hot@libc", time: 1 }];
	const m = open(SAMPLES.slice(0, 3), { times: false, work: 2, workUnit: "run" }, before, { work: 1, workUnit: "run" });
	const a = new Analysis(m), v = view(), form = { up: false, processes: false, fold: false };
	assert.equal(a.now(v).all, 3);
	assert.equal(a.old(v)!.all, 2);
	assert.equal(a.now(v).work, 2);
	assert.deepEqual(drawn(m, a.tree(form), a.old(v)!.amounts), ["all 2/0", " main 2/0", "  work 2/0", "   hot 1/1", "   old 1/1"]);
	assert.deepEqual(drawn(m, a.tree(form), a.now(v).amounts), ["all 3/0", " main 3/0", "  work 3/1", "   hot 2/2"]);
	assert.equal(m.processes.length, 1);
});

test("intervals of a level are those of its nodes", () => {
	const many = Array.from({ length: 400 }, (_, i): Sample => ({ path: i % 200 < 50 ? "m;b" : "m;a", time: i * 10 }));
	const a = new Analysis(open(many)), v = view(), form = a.form(v), t = a.tree(form);
	const a_ = a.interval(v, form, a.now(v), t.childList[t.childStart[1]])!;
	assert.equal(a_.share, 0.25);
	assert.ok(a_.low < 0.25 && a_.high > 0.25 && a_.high - a_.low < 0.02); /* long runs: narrow */
	assert.equal(a.interval(v, form, a.now(v), 0), null);
});

test("an address leads to the same view", () => {
	const v: View = {
		...START, search: "a&b=#c", zoom: 12, first: { from: 1, to: 5 }, second: { from: 7, to: 9 }, up: true,
		colour: "change", theme: "dark", value: 1, process: 3,
	};
	assert.deepEqual(fromHash(toHash(v)), v);
	assert.equal(toHash(START), "");
	assert.deepEqual(fromHash("#first=9-1&zoom=x&colour=%3Cscript%3E&second=1-2"), START);
});

test("control characters and marks of direction are shown as numbers", () => {
	assert.equal(safeText("a\u001b[31m\u202eb\t</script>"), "a\\x1b[31m\\u202eb\t</script>");
});

/* Two threads: main > work (switched out inside) > leaf, and one call of another thread. */
function lanesBlob(count = 5): Blob_ {
	const w = new BlobWriter();
	const column = (numbers: number[]) => w.varint(numbers.reduce((v, n) => v.put(n), new Varint()));
	const blob = w.blob(head({
		lanes: {
			duration_ns: 1000, count, left: 3, names: w.texts(["", "main", "work", "leaf", "(blocked)"]),
			process: w.texts(["prog", "prog"]), thread: w.texts(["main 1", "other 2"]),
			spans: w.array(Uint32Array.from([4, 1])), begin: column([0, 100, 100, 500, 300]),
			length: column([1000, 800, 100, 50, 700]), name: column([1, 2, 4, 3, 1]), depth: column([0, 1, 2, 2, 0]),
			kind: w.array(Uint8Array.from([0, 0, OUT, 0, 0])),
		},
	}));
	return new Blob_(blob.buffer as ArrayBuffer);
}

test("lanes have the calls of each thread", () => {
	const l = readLanes(lanesBlob())!;
	assert.deepEqual(l.lanes.map((x) => [x.thread, x.first, x.end, x.levels]), [["main 1", 0, 4, 3], ["other 2", 4, 5, 1]]);
	assert.deepEqual([...l.begin], [0, 100, 200, 700, 300]);
	assert.equal(l.names.get(l.name[2]), "(blocked)");
	assert.equal(callAt(l, l.lanes[0], 250, 2), 2);
	assert.equal(callAt(l, l.lanes[0], 400, 2), -1);
	assert.equal(callAt(l, l.lanes[1], 250, 0), -1);
	assert.deepEqual(longest(l, { from: 650, to: 1000 }, 3).map((x) => x.call), [0, 1, 4]);
	assert.throws(() => readLanes(lanesBlob(6)), /damaged/);
});

test("parts of the time of lanes stay within it", () => {
	const l = readLanes(lanesBlob())!;
	assert.deepEqual(zoomed(l, { from: 0, to: 1000 }, 500, 0.5), { from: 250, to: 750 });
	assert.deepEqual(within(l, { from: 900, to: 1100 }), { from: 800, to: 1000 });
	assert.deepEqual(within(l, { from: -500, to: 2500 }), { from: 0, to: 1000 });
});

function waitsOf() {
	const w = new BlobWriter(), blob = w.blob(head({ waits: sampleWaits(w) }));
	return readWaits(new Blob_(blob.buffer as ArrayBuffer))!;
}

const WHOLE = { from: 0, to: 1000 };

test("lanes have the states of threads and the wake-ups between them", () => {
	const w = waitsOf(), states: string[] = [], lanes = lanesShown(w, WHOLE, false, null);
	assert.deepEqual(lanes.map((l) => l.name), ["main", "worker"]);
	for (const l of lanes)
		eachState(w, l, new Map(), WHOLE, (state, from, to) => states.push(`${l.name} ${state} ${from}-${to}`));
	assert.deepEqual(states, [
		"main 2 100-600", "main 1 600-650", "main 0 650-1000", "worker 1 50-80", "worker 0 80-200", "worker 2 200-500",
		"worker 0 500-700",
	]);
	assert.equal(waitAtMoment(w, lanes[0], 300, 0), 0);
	assert.equal(waitAtMoment(w, lanes[1], 600, 1), -1);
	assert.deepEqual(arrowsOf(w, lanes, WHOLE, 10, 9, 1).waits, [0, 1]);
	const few = arrowsOf(w, lanes, WHOLE, 10, 1, 1);
	assert.deepEqual([few.waits, few.left, [...few.density]], [[0], 1, [1, 0, 0, 0, 0, 0, 1, 0, 0, 0]]);
	assert.deepEqual(lanesShown(w, { from: 800, to: 900 }, false, null).map((l) => l.name), ["main"]);
});

const steps = (p: WaitPath | null) => p?.segments.map((s) => `${s.lane} ${s.kind} ${s.from}-${s.to}`);

test("the path that decided the time goes through the wakers, in any range", () => {
	const w = waitsOf(), path = findPath(w, usualEnd(w), WHOLE)!;
	assert.deepEqual(steps(path), [
		"0 on_cpu 0-50", "1 runnable 50-80", "1 on_cpu 80-200", "1 blocked 200-500", "1 on_cpu 500-600", "0 runnable 600-650",
		"0 on_cpu 650-1000",
	]);
	assert.deepEqual(path.rows.map((r) => [r.kind, r.thread, r.name || r.func, r.ns, r.count, r.saves]), [
		["sleep", "worker", "nanosleep", 300, 1, 30], ["on_cpu", "main", "work_a", 240, 1, 24], ["on_cpu", "worker", "", 220, 0, 22],
		["on_cpu", "main", "work_b", 160, 1, 16], ["runnable", "main", "", 50, 1, NaN], ["runnable", "worker", "", 30, 1, NaN],
	]);
	assert.deepEqual(steps(findPath(w, 0, { from: 300, to: 700 })),
		["1 blocked 300-500", "1 on_cpu 500-600", "0 runnable 600-650", "0 on_cpu 650-700"]);
	assert.deepEqual(steps(findPath(w, 0, { from: 0, to: 400 })), ["0 on_cpu 0-100", "0 blocked 100-400"]);
	assert.deepEqual(steps(findPath(w, 0, { from: 60, to: 90 })), ["0 unknown 60-90"]);
	assert.deepEqual(steps(findPath(w, 0, { from: 700, to: 740 })), ["0 on_cpu 700-740"]);
	assert.deepEqual(steps(findPath(w, 0, { from: 900, to: 990 })), ["0 on_cpu 900-990"]);
	assert.equal(findPath(w, -1, WHOLE), null);
});

test("call paths of waits have the waker below the waiter, and the time of the range", () => {
	const m = waitModel(waitsOf(), { from: 300, to: 620 }), t = buildTree(m, { up: false, processes: true, fold: false });
	assert.deepEqual(m.rowValues.map(sum), [500, 20, 2]);
	assert.deepEqual(drawn(m, t, m.rowValues[0]), [
		"all 500/0", " main 300/0", "  take 300/0", "   <- worker in release 300/0", "    release 300/300", " worker 200/0",
		"  <- [interrupt] 200/200",
	]);
});
