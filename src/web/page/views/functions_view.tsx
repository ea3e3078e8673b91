/* SPDX-License-Identifier: GPL-2.0-or-later */
/* functions_view: functions and processes of the selection, and the neighbours of one function. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { amount, change, share, time } from "../model/figure";
import { neighbours, rowsWith, SELF, sumsBy } from "../model/functions";
import { makeSearch } from "../model/search";
import { Part } from "../model/analysis";
import { Confidence, NO_GROUP } from "../statistics/confidence";
import { chance, FALSE_ALARM } from "../statistics/estimates";
import { Context, processName, unitOf } from "./context";
import { Bar, PlainTable } from "./controls";

type By = "self" | "total" | "change" | "name";

/* The intervals of all functions' own shares. */
function selfIntervals(c: Context, p: Part): Confidence[] | null {
	const t = c.a.plain();
	const groupOf = Int32Array.from(t.rowNode, (n) => (n ? t.key[n] : NO_GROUP));
	return p.estimates.of(groupOf, c.a.m.functions);
}

function totalInterval(c: Context, p: Part, id: number): Confidence | null {
	const hit = rowsWith(c.a.plain(), id);
	return p.estimates.of(Int32Array.from(hit, (h) => (h ? 0 : NO_GROUP)), 1)?.[0] ?? null;
}

function range(of: Confidence | null | undefined): string {
	return of && of.samples ? `${share(of.low)} to ${share(of.high)}` : "";
}

interface Table {
	order: number[];
	self: Float64Array;
	total: Float64Array;
	oldSelf: Float64Array | null;
	now: Confidence[] | null;
	old: Confidence[] | null;
}

function useTable(c: Context): Table {
	const now = c.a.now(c.v), old = c.a.old(c.v);
	return useMemo(() => {
		const f = c.a.functions(c.v, now), before = old && c.a.functions(c.v, old);
		const order: number[] = [];
		for (let id = 0; id < c.a.m.functions; id++)
			if (f.total[id] || before?.total[id])
				order.push(id);
		return {
			order, self: f.self, total: f.total, oldSelf: before && before.self,
			now: selfIntervals(c, now), old: old && selfIntervals(c, old),
		};
	}, [now, old]);
}

function changeOf(c: Context, t: Table, id: number): number {
	const now = c.a.now(c.v), old = c.a.old(c.v)!;
	return t.self[id] / (now.all || 1) - t.oldSelf![id] / (old.all || 1);
}

function isBeyond(t: Table, id: number): boolean {
	return !!t.now && !!t.old && chance(t.now[id], t.old[id]) < FALSE_ALARM / t.order.length;
}

function sortedBy(c: Context, t: Table, by: By, filter: string): number[] {
	const search = makeSearch(filter), m = c.a.m;
	const list = search ? t.order.filter((id) => search.test(m.func(id).name) || search.test(m.func(id).image)) : t.order;
	const size = (id: number) =>
		by === "change" && t.oldSelf ? Math.abs(changeOf(c, t, id)) : by === "total" ? t.total[id] : t.self[id];
	return [...list].sort((a, b) =>
		by === "name"
			? m.func(a).name < m.func(b).name ? -1 : 1
			: size(b) - size(a) || t.total[b] - t.total[a] || a - b);
}

/* The interval of a total is computed when its row is on the screen. */
function TotalShare(p: { c: Context; part: Part; id: number; total: number }) {
	const [found, setFound] = useState<Confidence | null>(null);
	useEffect(() => {
		const timer = window.setTimeout(() => setFound(totalInterval(p.c, p.part, p.id)), 30);
		return () => window.clearTimeout(timer);
	}, [p.part, p.id]);
	const part = p.part.all ? p.total / p.part.all : 0;
	return <span title={range(found)}>{share(part)}</span>;
}

export function FunctionsView(p: { c: Context }) {
	const { c } = p, m = c.a.m, t = useTable(c), now = c.a.now(c.v), old = c.a.old(c.v);
	const [by, setBy] = useState<By>("self"), [filter, setFilter] = useState("");
	const order = useMemo(() => sortedBy(c, t, by, filter), [t, by, filter]);
	const all = now.all || 1, unit = unitOf(c);
	const most = t.order.reduce((most_, id) => Math.max(most_, t.now?.[id]?.high ?? t.self[id] / all), 1e-9);
	const calls = m.calls;
	const head = ["self", "share", "95 % interval", "", "total", "total share",
		...(old ? ["change", ""] : []), "function", "image"];
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
							...(old ? [change(changeOf(c, t, id)), isBeyond(t, id) ? <b title="beyond chance">◆</b> : ""] : []),
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
	const own = totalInterval(c, now, id);
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

export function ProcessesView(p: { c: Context }) {
	const { c } = p, m = c.a.m, now = c.a.now(c.v), old = c.a.old(c.v), unit = unitOf(c);
	const { order, sums, before, of } = useMemo(() => {
		const found = sumsBy(m.rowProcess, m.processes.length, now.amounts);
		return {
			sums: found,
			before: old && sumsBy(m.rowProcess, m.processes.length, old.amounts),
			of: now.estimates.of(Int32Array.from(m.rowProcess), m.processes.length),
			order: [...found.keys()].filter((id) => found[id] || (c.v.process === id))
				.sort((a, b) => found[b] - found[a] || a - b),
		};
	}, [now, old]);
	const all = now.all || 1;
	return (
		<PlainTable label="processes of the selection" left={[3, old ? 5 : 4]} rows={order.length} first={15}
			head={["amount", "share", "95 % interval", "", ...(old ? ["share before"] : []), "process"]}
			row={(i) => {
				const id = order[i], own = of?.[id], part = sums[id] / all;
				return {
					key: id,
					marked: id === c.v.process,
					cells: [
						amount(sums[id] / now.work, unit), share(part), range(own),
						<Bar share={part} full={1} low={own?.samples ? own.low : undefined}
							high={own?.samples ? own.high : undefined} />,
						...(old ? [share(before![id] / (old.all || 1))] : []),
						<button type="button" class="name" title="show this process alone"
							onClick={() => c.set({ process: id === c.v.process ? -1 : id, zoom: 0 })}>
							{processName(c, id)}
						</button>,
					],
				};
			}}
			foot={[amount(now.all / now.work, unit), share(now.all ? 1 : 0), "", "", ...(old ? [""] : []), "total"]} />
	);
}
