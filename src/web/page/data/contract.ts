/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contract: the shapes of the data in a page, format 1. `assay report --html` writes them
 * (src/output/html); docs/FORMAT.md describes them. References are offsets into the arrays of the
 * same blob (blob.ts).
 */
export type ArrayType = "u8" | "u16" | "u32" | "i32" | "f64" | "varint";

export interface Ref {
	type: ArrayType;
	at: number;
	count: number;
}

export interface TextsRef {
	offsets: Ref;
	bytes: Ref;
}

export interface Column {
	name: string;
	title: string;
	key: string | null;
	unit: string;
	left: boolean;
	role: "key" | "sum" | "total" | "least" | "most" | "ratio";
	bar: boolean;
	bar_full: number;
	path: boolean;
	wide: boolean;
	hidden?: boolean; /* numbers for a picture; the table does not show them */
}

export interface Cells {
	text: TextsRef | null;
	value: Ref | null;
}

export interface Line {
	label: string;
	texts: string[];
}

export interface Fact {
	label: string | null;
	text: string;
	verbatim: boolean;
}

export interface TableSection {
	kind: "table";
	title: string | null;
	key: string | null;
	columns: Column[];
	rows: number;
	row_kinds: Ref | null;
	cells: Cells[];
	rest: Line | null;
	unselected: Line | null;
	removed: Line | null;
	total: Line | null;
}

export interface TreeSection {
	kind: "tree";
	title: string | null;
	key: string | null;
	columns: Column[];
	rows: number;
	parent: Ref;
	depth: Ref;
	cells: Cells[];
}

export type Section =
	| { kind: "heading"; title: string }
	| { kind: "facts"; title?: string | null; facts: Fact[] }
	| TableSection
	| TreeSection
	| { kind: "notes"; title?: string | null; notes: string[] }
	| { kind: "text"; title?: string | null; text: string }
	| { kind: "parts"; key?: string | null; parts: Document_[] };

export interface Document_ {
	sections: Section[];
}

export interface Value {
	name: string;
	unit: string;
}

export interface TimesRef {
	begin_ns: number;
	duration_ns: number;
	step_ns: number;
	finest_ns?: number; /* the step that the recording allows; the page has a longer one if it is too large */
	period_ns: number;
	recordings: number;
	count: number;
	weight_is_ns: boolean;
	window_ns: number; /* length of the sums of a store; 0: entries are single samples */
	time: Ref;
	row: Ref;
	cpu: Ref;
	samples: Ref;
	weight: Ref;
}

export interface Stacks {
	values: Value[];
	main: number;
	runs: number;
	work: number; /* of a diff: values / work are comparable; else 1 */
	work_unit: string;
	texts: TextsRef;
	images: { name: Ref };
	functions: { name: Ref; image: Ref; file: Ref; line: Ref; group: Ref; kind: Ref };
	nodes: { parent: Ref; function: Ref; inlined: Ref };
	owners: { process: Ref; pid: Ref; thread: Ref; tid: Ref };
	rows: { node: Ref; owner: Ref; values: Ref[] };
	calls: { p50: Ref; p90: Ref; p99: Ref; most: Ref } | null;
	times: TimesRef | null;
	cpus: number;
}

export interface LanesRef {
	duration_ns: number;
	switches?: boolean; /* times on and off the CPUs, no calls */
	count: number;
	left: number; /* calls that are not in the page */
	names: TextsRef;
	process: TextsRef;
	thread: TextsRef;
	spans: Ref; /* by lane: number of its calls */
	begin: Ref;
	length: Ref;
	name: Ref;
	depth: Ref;
	kind: Ref; /* 0: a call; 1: time switched out */
}

type Columns<Names extends string> = { count: number } & Record<Names, Ref>;

/* Why threads waited. Columns are varints; times are ns since the begin of the waits. */
export interface WaitsRef {
	clock_ns: number; /* the begin by the recording's clock */
	duration_ns: number;
	axis_ns: number; /* begin of the samples' times - begin of the waits */
	process: number; /* the pid whose path the report shows; 0: none */
	beyond: number; /* waits that only sums of the recording have */
	left: number; /* waits that are not in the page, */
	left_ns: number; /* their time, */
	left_longest_ns: number; /* and the longest */
	left_kernel: number; /* and those of threads of the kernel */
	samples_of: number; /* one sample is here of so many */
	texts: TextsRef;
	/* Threads. pid, tid: 2n, of negative numbers -2n - 1; flags: WAIT_LANE_*; end: + 1, 0: none. */
	lanes: Columns<"process" | "name" | "label" | "pid" | "tid" | "process_id" | "flags" | "end" | "waits">;
	/* By lane; out: since the end of the wait before. instead: lane + 1. */
	waits: Columns<"out" | "blocked" | "runnable" | "cause" | "instead">;
	/* Texts; waker: lane + 1; woken: WOKEN_*; flags: CAUSE_*. */
	causes: Columns<"kind" | "name" | "function" | "by" | "holder" | "evidence" | "waker" | "node" | "waker_node" |
		"woken" | "flags">;
	samples: Columns<"time" | "lane" | "function" | "samples" | "weight">;
	births: Columns<"time" | "lane" | "parent" | "exec">;
	functions: Columns<"name" | "image" | "kind">;
	nodes: Columns<"parent" | "function">; /* parent: how far it is before the node */
}

export interface Code {
	function: string;
	image: string;
	document: Document_;
}

export interface Head {
	format: number;
	assay: string;
	title: string;
	kind: string;
	document: Document_ | null;
	code?: Code[] | null;
	stacks?: Stacks | null;
	before?: Stacks | null;
	lanes?: LanesRef | null;
	waits?: WaitsRef | null;
}

export const NONE = 0xffffffff;
