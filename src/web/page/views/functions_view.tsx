/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions_view: functions and processes of the selection, and the neighbours of one function. */
import { useMemo, useState } from "preact/hooks";
import { amount, change, share, time } from "../model/figure";
import { neighbours, rowsWith, SELF, sumsBy } from "../model/functions";
import { makeSearch } from "../model/search";
import { isBeyond, Part } from "../model/analysis";
import { Confidence, NO_GROUP } from "../statistics/confidence";
import { Context, processName, unitOf } from "./context";
import { Bar, Choice, PlainTable } from "./controls";
import { useLater } from "./later";

type By = "self" | "total" | "change" | "name";

/* The intervals of all functions' own shares. */
function selfIntervals(c: Context, p: Part): Confidence[] | null {
	return p.estimates.of(c.a.leaves(), c.a.m.functions);
}

function totalInterval(c: Context, p: Part, id: number): Confidence | null {
	const hit = rowsWith(c.a.plain(), id);
	return p.estimates.of(Int32Array.from(hit, (h) => (h ? 0 : NO_GROUP)), 1)?.[0] ?? null;
}

function range(of: Confidence | null | undefined): string {
	return of && of.samples ? `${share(of.low)} to ${share(of.high)}` : "";
}

interface Table {
	part: Part;
	oldPart: Part | null;
	order: number[];
	self: Float64Array;
	total: Float64Array;
	oldSelf: Float64Array | null;
	now: Confidence[] | null;
	old: Confidence[] | null;
}

function makeTable(c: Context): Table {
	const now = c.a.now(c.v), old = c.a.old(c.v);
	const f = c.a.functions(c.v, now), before = old && c.a.functions(c.v, old);
	const order: number[] = [];
	for (let id = 0; id < c.a.m.functions; id++)
		if (f.total[id] || before?.total[id])
			order.push(id);
	return {
		part: now, oldPart: old, order, self: f.self, total: f.total, oldSelf: before && before.self,
		now: selfIntervals(c, now), old: old && selfIntervals(c, old),
	};
}

function changeOf(t: Table, id: number): number {
	return t.self[id] / (t.part.all || 1) - t.oldSelf![id] / (t.oldPart!.all || 1);
}

function isMarked(t: Table, id: number): boolean {
	return !!t.now && !!t.old && isBeyond(t.now[id], t.old[id], t.order.length);
}

function sortedBy(c: Context, t: Table, by: By, filter: string): number[] {
	const search = makeSearch(filter), m = c.a.m;
	const list = search ? t.order.filter((id) => search.test(m.func(id).name) || search.test(m.func(id).image)) : t.order;
	const size = (id: number) =>
		by === "change" && t.oldSelf ? Math.abs(changeOf(t, id)) : by === "total" ? t.total[id] : t.self[id];
	return [...list].sort((a, b) =>
		by === "name"
			? m.func(a).name < m.func(b).name ? -1 : 1
			: size(b) - size(a) || t.total[b] - t.total[a] || a - b);
}

/* The interval of a total takes a moment: it is computed when the pointer is on the share. */
function TotalShare(p: { c: Context; part: Part; id: number; total: number }) {
	const [found, setFound] = useState<{ part: Part; text: string } | null>(null);
	const look = () => setFound({ part: p.part, text: range(totalInterval(p.c, p.part, p.id)) });
	const share_ = share(p.part.all ? p.total / p.part.all : 0);
	return <span title={found?.part === p.part ? found.text : ""} onMouseEnter={look}>{share_}</span>;
}

export function FunctionsView(p: { c: Context }) {
	const t = useLater(() => makeTable(p.c), [p.c.a.now(p.c.v), p.c.a.old(p.c.v)]);
	return t ? <FunctionsTable c={p.c} t={t} /> : <p class="note">being computed</p>;
}

function FunctionsTable(p: { c: Context; t: Table }) {
	const { c, t } = p, m = c.a.m, now = t.part, old = t.oldPart;
	const [by, setBy] = useState<By>("self"), [filter, setFilter] = useState("");
	const order = useMemo(() => sortedBy(c, t, by, filter), [t, by, filter]);
	const all = now.all || 1, unit = unitOf(c);
	const most = t.order.reduce((most_, id) => Math.max(most_, t.now?.[id]?.high ?? t.self[id] / all), 1e-9);
	const calls = m.calls;
	const head = ["self", "share", "95 % interval", "", "total", "total share",
		...(old ? ["change of share", ""] : []), "function", "image"];
	const columns: By[] = ["self", "self", "self", "self", "total", "total",
		...(old ? (["change", "change"] as By[]) : []), "name", "name"];
	const can = head.map((_, i) => i).filter((i) => head[i] && head[i] !== "image" && i !== 1 && i !== 2);
	const shownSelf = order.reduce((sum, id) => sum + t.self[id], 0);

	return (
		<>
			<div class="controls">
				<label class="choice search">
					<span>filter</span>
					<input type="search" value={filter} aria-label="filter functions by name or image"
						onInput={(e) => setFilter(e.currentTarget.value)} />
				</label>
				<span class="note">{order.length.toLocaleString("en")} functions; a function's button shows its callers and callees</span>
			</div>
			<PlainTable label="functions of the selection" head={head} left={[3, head.length - 2, head.length - 1]}
				rows={order.length}
				sort={{ by: columns.indexOf(by), onSort: (i) => setBy(columns[i]), can }}
				row={(i) => {
					const id = order[i], f = m.func(id), part = t.self[id] / all, own = t.now?.[id];
					return {
						key: id,
						marked: id === c.v.func,
						cells: [
							amount(t.self[id] / now.work, unit),
							share(part),
							range(own),
							<Bar share={part} full={most} low={own?.samples ? own.low : undefined}
								high={own?.samples ? own.high : undefined} />,
							amount(t.total[id] / now.work, unit),
							<TotalShare c={c} part={now} id={id} total={t.total[id]} />,
							...(old ? [change(changeOf(t, id)), isMarked(t, id) ? <b title="beyond chance">◆</b> : ""] : []),
							<button type="button" class="name" title={f.name}
								onClick={() => c.set({ func: id === c.v.func ? -1 : id })}>{f.name}</button>,
							<span class="image" title={f.image}>{f.image.replace(/^.*\/(?=[^/])/, "")}</span>,
						],
					};
				}}
				foot={[amount(shownSelf / now.work, unit), share(shownSelf / all), "", "", "", "",
					...(old ? ["", ""] : []), filter ? "of the filter" : "total", ""]} />
			{c.v.func >= 0 && c.v.func < m.functions && <Neighbours c={c} />}
			{calls && <CallTimes c={c} />}
		</>
	);
}

function Neighbours(p: { c: Context }) {
	const { c } = p, now = c.a.now(c.v), id = c.v.func, name = c.a.m.func(id).name;
	const n = useMemo(
		() => neighbours(c.a.plain(), c.a.outermost(), c.a.plainSums(c.v, now), id),
		[now, id],
	);
	const total = n.callees.reduce((sum, [, x]) => sum + x, 0) || 1, unit = unitOf(c);
	const own = useLater(() => totalInterval(c, now, id), [now, id]);
	const table = (label: string, list: [number, number][], none: string) => (
		<div>
			<h3>{label}</h3>
			<PlainTable label={`${label} ${name}`} head={["amount", "part", "", "function"]} left={[2, 3]}
				rows={list.length} first={15}
				row={(i) => {
					const [other, x] = list[i];
					return {
						key: other,
						cells: [
							amount(x / now.work, unit), share(x / total), <Bar share={x / total} full={1} />,
							other === SELF ? none : (
								<button type="button" class="name" title={c.a.m.func(other).name}
									onClick={() => c.set({ func: other })}>
									{c.a.m.func(other).name}{other === id ? " (recursion)" : ""}
								</button>
							),
						],
					};
				}}
				foot={[amount(list.reduce((sum, [, x]) => sum + x, 0) / now.work, unit), "100.0 %", "", "total"]} />
		</div>
	);
	return (
		<section class="neighbours" aria-label="callers and callees">
			<div class="controls">
				<strong class="long">{name}</strong>
				<span>{share(total / (now.all || 1))} of the selection{own ? ` (${range(own)})` : ""}</span>
				<button type="button" onClick={() => c.set({ search: `^${escape(name)}$` })}>search it</button>
				<button type="button" onClick={() => c.set({ func: -1 })}>close</button>
			</div>
			<div class="two">
				{table("callers", n.callers, "[no caller]")}
				{table("callees", n.callees, "[self]")}
			</div>
		</section>
	);
}

function escape(name: string): string {
	return name.replace(/[.*+?^${}()|[\]\\\/]/g, "\\$&");
}

/* Percentiles of the time of one call, by path and thread. */
function CallTimes(p: { c: Context }) {
	const { c } = p, m = c.a.m, calls = m.calls!;
	const rows = useMemo(
		() => [...m.rowNode.keys()].filter((r) => c.a.now(c.v).amounts[r] && !Number.isNaN(calls.p50[r]))
			.sort((a, b) => c.a.now(c.v).amounts[b] - c.a.now(c.v).amounts[a]),
		[c.a.now(c.v)],
	);
	const ns = (x: number) => (Number.isNaN(x) ? "" : time(x));
	const t = c.a.plain();
	return (
		<>
			<h3>Time of one call, by path</h3>
			<PlainTable label="percentiles of call times" head={["amount", "p50", "p90", "p99", "most", "function", "caller"]}
				left={[5, 6]} rows={rows.length}
				row={(i) => {
					const r = rows[i], node = t.rowNode[r], up = t.parent[node];
					return {
						key: r,
						cells: [amount(c.a.now(c.v).amounts[r], unitOf(c)), ns(calls.p50[r]), ns(calls.p90[r]),
							ns(calls.p99[r]), ns(calls.most[r]), node ? m.func(t.key[node]).name : "",
							up ? m.func(t.key[up]).name : ""],
					};
				}} />
		</>
	);
}

type Level = "name" | "process" | "thread";

/* The groups of one level: their texts, and the group of each row. */
function groupsOf(c: Context, level: Level): { names: string[]; of: Int32Array } {
	const m = c.a.m;
	if (level === "name")
		return { names: m.processes.map((_, i) => processName(c, i)), of: Int32Array.from(m.rowProcess) };
	const ids = new Map<string, number>(), names: string[] = [];
	const owners = m.owners.map((o) => {
		const process = o.pid > 0 ? `${o.process} (${o.pid})` : o.process;
		const name = level === "thread" && o.tid ? `${process}, ${o.name || "thread"} (${o.tid})` : process;
		if (!ids.has(name))
			ids.set(name, names.push(name) - 1);
		return ids.get(name)!;
	});
	return { names, of: Int32Array.from(m.rowOwner, (o) => owners[o] ?? 0) };
}

function makeProcesses(c: Context, level: Level) {
	const now = c.a.now(c.v), old = c.a.old(c.v), { names, of } = groupsOf(c, level);
	const sums = sumsBy(of, names.length, now.amounts);
	const before = old && sumsBy(of, names.length, old.amounts);
	const order = [...sums.keys()].filter((id) => sums[id] || before?.[id])
		.sort((a, b) => sums[b] - sums[a] || a - b);
	return { level, now, old, names, sums, before, order, intervals: now.estimates.of(of, names.length) };
}

export function ProcessesView(p: { c: Context }) {
	const { c } = p, [level, setLevel] = useState<Level>("name");
	const t = useLater(() => makeProcesses(c, level), [c.a.now(c.v), c.a.old(c.v), level]);
	return (
		<>
			<div class="controls">
				<Choice label="rows" value={level}
					options={[["name", "names"], ["process", "processes"], ["thread", "threads"]]}
					onChange={setLevel} />
			</div>
			{t && <ProcessesTable c={c} t={t} />}
		</>
	);
}

function ProcessesTable(p: { c: Context; t: ReturnType<typeof makeProcesses> }) {
	const { c, t } = p, unit = unitOf(c), all = t.now.all || 1;
	return (
		<PlainTable label="processes of the selection" left={[3, t.old ? 5 : 4]} rows={t.order.length} first={15}
			head={["amount", "share", "95 % interval", "", ...(t.old ? ["share before"] : []), t.level]}
			row={(i) => {
				const id = t.order[i], own = t.intervals?.[id], part = t.sums[id] / all;
				return {
					key: id,
					marked: t.level === "name" && id === c.v.process,
					cells: [
						amount(t.sums[id] / t.now.work, unit), share(part), range(own),
						<Bar share={part} full={1} low={own?.samples ? own.low : undefined}
							high={own?.samples ? own.high : undefined} />,
						...(t.old ? [share(t.before![id] / (t.old.all || 1))] : []),
						t.level === "name" ? (
							<button type="button" class="name" title="show these processes alone"
								onClick={() => c.set({ process: id === c.v.process ? -1 : id, zoom: 0 })}>
								{t.names[id]}
							</button>
						) : t.names[id],
					],
				};
			}}
			foot={[amount(t.now.all / t.now.work, unit), share(t.now.all ? 1 : 0), "", "",
				...(t.old ? [""] : []), "total"]} />
	);
}
