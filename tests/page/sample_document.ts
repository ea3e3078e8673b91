/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sample_document: a report's document with each kind of section, for tests of the page. */
import { BlobWriter } from "./blob_writer";

type Row = (string | number)[];

interface ColumnOptions {
	unit?: string;
	left?: boolean;
	bar?: boolean;
	role?: string;
	name?: string;
}

function column(title: string, o: ColumnOptions = {}) {
	return {
		name: o.name ?? (title || "name"), title, key: o.name ?? title, unit: o.unit ?? "text",
		left: o.left ?? false, role: o.role ?? "key", bar: o.bar ?? false, bar_full: 1, path: false,
		wide: false,
	};
}

const share = (x: number) => `${(100 * x).toFixed(1)} %`;

function cells(w: BlobWriter, columns: { unit: string }[], rows: Row[]) {
	return columns.map((c, i) => {
		const texts = rows.map((r) => {
			const value = r[i];
			return typeof value === "number" && c.unit === "share" ? share(value) : String(value);
		});
		const numbers = rows.some((r) => typeof r[i] === "number");
		return {
			text: w.texts(texts),
			value: numbers
				? w.array(Float64Array.from(rows, (r) => (typeof r[i] === "number" ? (r[i] as number) : NaN)))
				: null,
		};
	});
}

export function table(w: BlobWriter, key: string, title: string, columns: ReturnType<typeof column>[], rows: Row[], more: object = {}) {
	return {
		kind: "table", key, title, columns, rows: rows.length, row_kinds: null,
		cells: cells(w, columns, rows), rest: null, unselected: null, removed: null, total: null, ...more,
	};
}

const LEDGER: [string, string, number, number][] = [
	["user", "65.00 ms", 0.591, 0], ["kernel", "15.00 ms", 0.136, 0],
	["  syscalls", "10.00 ms", 0.091, 3], ["  faults", "5.00 ms", 0.045, 3],
	["interrupts", "5.00 ms", 0.045, 0], ["  hard", "1.00 ms", 0.009, 3],
	["  softirqs", "4.00 ms", 0.036, 3], ["idle", "18.00 ms", 0.164, 0],
	["  interrupts in it", "1.00 ms", 0.009, 3], ["steal", "2.00 ms", 0.018, 0],
	["unobserved", "3.00 ms", 0.027, 0], ["residual", "2.00 ms", 0.019, 0],
	["wall x 2 CPUs", "110.00 ms", 1, 4],
];

export function ledger(w: BlobWriter) {
	const columns = [
		column("", { left: true, name: "name" }), column("time", { unit: "ns" }),
		column("share", { unit: "share", role: "ratio" }),
	];
	return table(w, "ledger", "Where the time went", columns, LEDGER.map(([n, t, s]) => [n, t, s]), {
		row_kinds: w.array(Uint8Array.from(LEDGER, (l) => l[3])),
	});
}

function cpus(w: BlobWriter) {
	const terms = ["user", "kernel", "irq", "idle", "steal", "unobserved", "residual"];
	const columns = [column("CPU"), ...terms.map((t) => column(t, { unit: "share", role: "ratio" }))];
	return table(w, "cpus", "", columns, [
		["0", 0.667, 0.25, 0, 0, 0.033, 0.05, 0], ["1", 0.5, 0, 0.1, 0.36, 0, 0, 0.04],
	]);
}

export function functionsTable(w: BlobWriter, names: string[]) {
	const columns = [
		column("share", { unit: "share", bar: true, role: "ratio", name: "share" }),
		column("low", { unit: "share", name: "low" }), column("high", { unit: "share", name: "high" }),
		column("samples", { unit: "count", role: "sum" }), column("function", { left: true }),
	];
	const rows = names.map((name, i): Row => {
		const part = 0.4 / (i + 1);
		return [part, part * 0.8, Math.min(part * 1.2, 1), Math.round(part * 100), name];
	});
	return table(w, "functions", "Functions, over all processes", columns, rows, {
		rest: { label: "[<1%: 12 more]", texts: ["3.1 %", "", "", "3", ""] },
		total: { label: "total", texts: ["100.0 %", "", "", "100", ""] },
	});
}

function tree(w: BlobWriter) {
	const rows: [number, number, number, string][] = [
		[-1, 0, 1, "all"], [0, 1, 0.7, "cc1"], [1, 2, 0.7, "main"], [2, 3, 0.4, "hot"],
		[2, 3, 0.2, "cold"], [0, 1, 0.3, "sh"],
	];
	const columns = [column("total", { unit: "share" }), column("call tree", { left: true })];
	return {
		kind: "tree", key: "tree", title: "Call tree, callers above callees", columns, rows: rows.length,
		parent: w.array(Uint32Array.from(rows, (r) => (r[0] < 0 ? 0xffffffff : r[0]))),
		depth: w.array(Uint16Array.from(rows, (r) => r[1])),
		cells: cells(w, columns, rows.map((r) => [r[2], r[3]])),
	};
}

/* Tables that are drawn as pictures. */
export function pictures(w: BlobWriter) {
	const histogram = table(w, "histogram", "", [
		column("from us", { unit: "us", name: "from" }), column("to us", { unit: "us", name: "to" }),
		column("count", { unit: "count", name: "count" }), column("delayed", { unit: "count", name: "marked" }),
	], [[990, 1000, 40, 1], [1000, 1010, 80, 20], [1010, 1020, 4, 4]]);
	const timeline = table(w, "timeline", "Over time, 4 windows of 1.00 s", [
		column("process", { left: true, name: "process" }), column("use", { left: true, name: "use" }),
		column("most", { left: true, name: "most" }),
	], [["cc1", " ▄█▁", "1.00 CPUs"], ["sh", "▂▂  ", "0.20 CPUs"]]);
	const numbers = ["sampled", "counted"].flatMap((side) => ["ns", "low_ns", "high_ns"].map((what) =>
		({ ...column("", { unit: "number", name: `${side}_${what}` }), hidden: true })));
	const pairs = table(w, "functions", "CPU time of functions", [
		column("sampled", { name: "sampled" }), column("counted", { name: "counted" }),
		column("verdict", { name: "judgement" }), ...numbers, column("function", { left: true }),
	], [
		["10 us", "11 us", "agree", 10000, 9000, 11000, 11000, 10000, 12000, "alpha"],
		["5 us", "2 us", "differ", 5000, 4500, 5500, 2000, 1800, 2200, "beta</script>"],
	]);
	return [timeline, histogram, pairs];
}

export function sampleDocument(w: BlobWriter, names: string[]) {
	return {
		sections: [
			{ kind: "heading", title: "The whole machine, 55.00 ms on 2 CPUs" },
			{
				kind: "facts",
				facts: [
					{ label: "file", text: "hand.data", verbatim: false },
					{ label: "command", text: "assay record -a", verbatim: true },
					{ label: "event", text: "cpu-clock at 1000 Hz (every 1.000 ms), 100 samples; a maskable timer", verbatim: false },
				],
			},
			ledger(w),
			cpus(w),
			{ kind: "text", title: "ticks", text: "100: 65 user, 15 kernel, 5 interrupts, 15 idle" },
			functionsTable(w, names),
			...pictures(w),
			tree(w),
			{
				kind: "parts", key: "processes",
				parts: [{
					sections: [
						{ kind: "heading", title: "cc1 x2 (75.0 %): user" },
						functionsTable(w, names.slice(0, 3)),
					],
				}],
			},
			{ kind: "notes", title: "What could not be seen", notes: ["2.7 % of the time is unobserved: 5 ticks due in busy time did not come."] },
		],
	};
}

export function sampleCode(w: BlobWriter) {
	const lines = ["int sum(int *a, int n)", "{", "\tfor (int i = 0; i < n; i++)", "\t\ts += a[i]; // </script>", "}"];
	const columns = [
		column("share", { unit: "share", bar: true, role: "ratio" }), column("line"),
		column("source", { left: true }),
	];
	return [{
		function: "sum", image: "prog",
		document: { sections: [table(w, "lines", "", columns, lines.map((l, i): Row => [i / 10, String(i + 1), l]))] },
	}];
}
