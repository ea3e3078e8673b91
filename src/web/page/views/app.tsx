/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app: the whole page: the head, the account of time, the interactive parts, and the report. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { Blob_ } from "../data/blob";
import { Section } from "../data/contract";
import { safeText } from "../data/texts";
import { Analysis } from "../model/analysis";
import { amount, counted, share, time } from "../model/figure";
import { allOf, Lanes, readLanes } from "../model/lanes";
import { Model, readModel } from "../model/model";
import { isTimed, Stretch } from "../model/selection";
import { waitModel } from "../model/wait_model";
import { readWaits, Waits } from "../model/waits";
import { Colour, fromHash, START, toHash, View } from "../model/view";
import { Context, processName, unitOf } from "./context";
import { Choice, Part, Switch } from "./controls";
import { Group, groupsOf, SectionView } from "./document_view";
import { FleetBar } from "./fleet_bar";
import { FlameView } from "./flame_view";
import { FunctionsView, ProcessesView } from "./functions_view";
import { HeatView } from "./heat_view";
import { LanesView } from "./lanes_view";
import { SeriesView } from "./series_view";
import { WaitsView } from "./waits_view";

const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

function useDark(v: View): boolean {
	const [system, setSystem] = useState(darkQuery.matches);
	useEffect(() => {
		const listen = () => setSystem(darkQuery.matches);
		darkQuery.addEventListener("change", listen);
		return () => darkQuery.removeEventListener("change", listen);
	}, []);
	const dark = v.theme ? v.theme === "dark" : system;
	document.documentElement.dataset.theme = dark ? "dark" : "light";
	return dark;
}

/* The view follows the address, and the address the view. */
type Change = Partial<View> | ((v: View) => Partial<View>);

function useView(): [View, (change: Change) => void] {
	const [v, setView] = useState(() => fromHash(location.hash));
	useEffect(() => {
		const listen = () => setView(fromHash(location.hash));
		window.addEventListener("hashchange", listen);
		return () => window.removeEventListener("hashchange", listen);
	}, []);
	const set = (change: Change) =>
		setView((old) => {
			const next = { ...old, ...(typeof change === "function" ? change(old) : change) };
			history.replaceState(null, "", toHash(next) || location.pathname + location.search);
			return next;
		});
	return [v, set];
}

/* Escape takes the last thing back: the zoom, the second stretch, the first, the part of the lanes, the process. */
function undo(v: View): Partial<View> {
	if (v.zoom)
		return { zoom: 0 };
	if (v.second)
		return { second: null };
	if (v.first)
		return { first: null };
	if (v.calls)
		return { calls: null };
	if (v.process >= 0)
		return { process: -1 };
	return { search: "" };
}

function useKeys(set: (change: Change) => void): void {
	useEffect(() => {
		const listen = (e: KeyboardEvent) => {
			const field = (e.target as HTMLElement).tagName;
			const typing = field === "INPUT" || field === "SELECT";
			if (e.key === "/" && !typing && !e.ctrlKey && !e.metaKey) {
				document.getElementById("search")?.focus();
				e.preventDefault();
			} else if (e.key === "Escape") {
				if (typing)
					(e.target as HTMLElement).blur();
				set(undo);
			}
		};
		window.addEventListener("keydown", listen);
		return () => window.removeEventListener("keydown", listen);
	}, []);
}

function Header(p: { b: Blob_; v: View; set: (change: Partial<View>) => void; state: string }) {
	const { head } = p.b;
	const next = { "": "light", light: "dark", dark: "" } as const;
	return (
		<header>
			<h1>{safeText(head.title || "assay")}</h1>
			<span class="note">{head.kind} · assay {safeText(head.assay ?? "")}</span>
			{p.state && <span class="chip live" role="status">{p.state}</span>}
			<span class="room" />
			<button type="button" onClick={() => p.set({ theme: next[p.v.theme] })}
				aria-label="switch between the light, the dark and the system's colours">
				{p.v.theme || "system"} colours
			</button>
			<button type="button" onClick={() => window.print()}>print</button>
		</header>
	);
}

/* What is selected, for all interactive parts; it stays in sight. */
function Selection(p: { c: Context }) {
	const { c } = p, m = c.a.m, now = c.a.now(c.v), old = c.a.old(c.v), unit = unitOf(c);
	const length = now.stretch && time((now.stretch.to - now.stretch.from) * m.times!.stepNs);
	const per = m.workUnit ? ` per ${m.workUnit}` : "";
	const idle = m.processes.some((q) => q.idle) && m.processes.some((q) => !q.idle);
	return (
		<div class="controls selection" role="group" aria-label="selection">
			{m.values.length > 1 && (
				<Choice label="value" value={c.a.value(c.v)}
					options={m.values.map((x, i): [number, string] => [i, x.name])}
					onChange={(value) => c.set({ value })} />
			)}
			{idle && (
				<Switch label="idle" on={c.v.idle} title="with the time of idle CPUs"
					onChange={(on) => c.set({ idle: on })} />
			)}
			<span id="selected" role="status">
				{amount(now.all / now.work, unit)} {unit === "count" ? "" : "of "}
				{m.values[c.a.value(c.v)].name}{per}
				{length ? ` in ${length}` : ""}
				{old ? `, compared with ${amount(old.all / old.work, unit)}${old.stretch ? ` in ${time((old.stretch.to - old.stretch.from) * m.times!.stepNs)}` : " before"}` : ""}
				{now.all && now.all !== wholeOf(c) ? ` (${share(now.all / wholeOf(c))} of all)` : ""}
			</span>
			{c.v.process >= 0 && c.v.process < m.processes.length && (
				<button type="button" class="chip" onClick={() => c.set({ process: -1, zoom: 0 })}>
					{processName(c, c.v.process)} ✕
				</button>
			)}
			{c.v.first && isTimed(m, c.a.value(c.v)) && (
				<button type="button" class="chip first" onClick={() => c.set({ first: null, second: null })}>
					{c.v.second ? "two stretches" : "stretch"} ✕
				</button>
			)}
		</div>
	);
}

function wholeOf(c: Context): number {
	return c.a.now({ ...START, value: c.v.value }).all || 1;
}

function Pictures(p: { c: Context }) {
	const { c } = p, m = c.a.m, old = c.a.old(c.v);
	const timed = m.times && (m.times.samplesValue >= 0 || m.times.weightValue >= 0);
	return (
		<>
			<Selection c={c} />
			{timed && <Part id="heatmap" title="Heatmap" picture><HeatView c={c} /></Part>}
			<Part id="flame" title={old ? "Differential flame graph" : "Flame graph"} picture><FlameView c={c} /></Part>
			<Part id="functions" title="Functions" note="of the selection" picture><FunctionsView c={c} /></Part>
			{m.processes.length > 1 && (
				<Part id="processes" title="Processes" note="of the selection" picture><ProcessesView c={c} /></Part>
			)}
			{timed && <Part id="cpu-use" title="CPU use by process over time" picture><SeriesView c={c} /></Part>}
		</>
	);
}

function Interactive(p: { a: Analysis; v: View; set: (change: Partial<View>) => void; dark: boolean }) {
	return <Pictures c={{ a: p.a, v: p.v, set: p.set, dark: p.dark }} />;
}

/* The first sections, up to the account of time and of each CPU, come before the pictures. */
function split(groups: Group[], pictures: boolean): [Group[], Group[]] {
	const has = (g: Group, key: string) => g.sections.some((s: Section) => "key" in s && s.key === key);
	let first = 0;
	groups.forEach((g, i) => {
		if (has(g, "ledger") || has(g, "cpus") || (i < 2 && (g.title === "Summary" || g.sections.some((s) => s.kind === "facts"))))
			first = i + 1;
	});
	return pictures ? [groups.slice(0, first), groups.slice(first)] : [groups, []];
}

/* Facts below the summary: they are a click away, so that the pictures are near the top. */
function isDetail(g: Group): boolean {
	return g.sections.every((s) => s.kind === "heading" || s.kind === "facts");
}

function Groups(p: { b: Blob_; groups: Group[]; id: string }) {
	const untitled = p.groups.some((g) => g.title === "Summary") ? "Recordings" : "Summary";
	return (
		<>
			{p.groups.map((g, i) => (
				<Part key={i} id={`${p.id}-${i}`} title={g.title || (i || p.id === "report" ? "More" : untitled)}
					closed={g.sections.every((s) => s.kind === "tree") || (i > 0 && isDetail(g))}>
					{g.sections.map((s, at) => <SectionView key={at} b={p.b} s={s} bare={at === 0 || s.kind === "heading"} />)}
				</Part>
			))}
		</>
	);
}

function Annotated(p: { b: Blob_ }) {
	const code = p.b.head.code ?? [];
	if (!code.length)
		return null;
	return (
		<Part id="code" title="Annotated code" note={counted(code.length, "function", "functions")}>
			{code.map((c, i) => (
				<details class="inner code" key={i} open={i === 0}>
					<summary>
						<span class="long">{safeText(c.function)}</span> <span class="note">{safeText(c.image ?? "")}</span>
					</summary>
					{c.document.sections.map((s, at) => (
						<SectionView key={at} b={p.b} s={s} code bare={s.kind === "heading"} />
					))}
				</details>
			))}
		</Part>
	);
}

function LanesPart(p: { l: Lanes; v: View; set: (change: Partial<View>) => void; dark: boolean }) {
	return p.l.count > 0 ? (
		<Part id="lanes" title={p.l.switches ? "Threads over time" : "Calls over time"} picture
			note={counted(p.l.lanes.length, "thread", "threads")}>
			<LanesView {...p} />
		</Part>
	) : null;
}

const wholes = new WeakMap<Waits, Analysis>();

/* The call paths of waits in a range; all ranges have the trees of the whole time. */
function waitAnalysis(w: Waits, range: Stretch): Analysis {
	const whole = wholes.get(w) ?? new Analysis(waitModel(w, allOf(w)));
	wholes.set(w, whole);
	return range.from <= 0 && range.to >= w.durationNs ? whole : new Analysis(waitModel(w, range), whole);
}

/* The stretches of the heatmap are in steps of the samples' axis, those of lanes in ns of the waits. */
function linked(w: Waits, m: Model | undefined) {
	const t = m?.times, step = t?.stepNs ?? 1, axis = w.ref.axis_ns;
	return t && t.recordings === 1 ? {
		to: (s: Stretch) => {
			const from = Math.max(Math.floor((s.from - axis) / step), 0);
			return { from, to: Math.max(Math.ceil((s.to - axis) / step), from + 1) };
		},
		from: (s: Stretch) => ({ from: Math.max(s.from * step + axis, 0), to: Math.max(s.to * step + axis, 1) }),
	} : null;
}

interface WaitsPartProps {
	w: Waits;
	m: Model | undefined;
	v: View;
	set: (change: Partial<View>) => void;
	dark: boolean;
}

function WaitsPart(p: WaitsPartProps) {
	const link = useMemo(() => linked(p.w, p.m), [p.w, p.m]);
	return (
		<Part id="waits" title="Threads over time, their waits, and who woke them" picture>
			<WaitsView w={p.w} v={p.v} set={p.set} dark={p.dark} linked={link} />
		</Part>
	);
}

/* The flame graph of waiting of the time that the lanes show, with choices of its own. */
function OffWake(p: WaitsPartProps) {
	const range = p.v.calls, [own, setOwn] = useState<Partial<View>>({});
	const a = useMemo(() => waitAnalysis(p.w, range ?? allOf(p.w)), [p.w, range?.from, range?.to]);
	const v = { ...START, colour: "kind" as Colour, theme: p.v.theme, ...own };
	const c: Context = { a, v, dark: p.dark, second: true, set: (change) => setOwn({ ...own, ...change }) };
	return (
		<Part id="off-wake" title="Waits with their wakers" picture closed note="below the path of a waiter: who woke it, and where">
			<div class="controls">
				<Choice label="value" value={a.value(v)} options={a.m.values.map((x, i): [number, string] => [i, x.name])}
					onChange={(value) => c.set({ value })} />
				<span>
					{amount(a.now(v).all, unitOf(c))} in the {range ? "time that the lanes show" : "whole time"}
				</span>
			</div>
			<FlameView c={c} />
		</Part>
	);
}

/* What fits the recording: a diff has changes, and calls of one program have one image. */
function usualColour(m: Model): Colour {
	const images = new Set<string>();
	for (let id = 0; id < m.functions && images.size < 2; id++)
		images.add(m.func(id).image);
	return m.rowSide ? "change" : images.size < 2 ? "function" : "image";
}

export function App(p: { b: Blob_; state: string; asks: boolean }) {
	const [v, set] = useView(), dark = useDark(v);
	const waits = useMemo(() => readWaits(p.b), [p.b]), isWaits = p.b.head.kind === "waits";
	/* The call paths of waits follow the lanes, if all waits are in the page. */
	const range = waits && isWaits && !waits.ref.left && !waits.ref.beyond ? (v.calls ?? allOf(waits)) : null;
	const a = useMemo(() => {
		const m = range ? null : readModel(p.b);
		return range ? waitAnalysis(waits!, range) : m && new Analysis(m);
	}, [p.b, range?.from, range?.to]);
	const part = waits && { w: waits, m: a?.m, v, set, dark };
	const lanes = useMemo(() => readLanes(p.b), [p.b]);
	const usual = useMemo(() => a && usualColour(a.m), [a]);
	const shown = usual && v.colour === "usual" ? { ...v, colour: usual } : v;
	const groups = useMemo(() => groupsOf(p.b.head.document?.sections ?? []), [p.b]);
	const [first, rest] = split(groups, !!a);
	useKeys(set);
	return (
		<>
			<Header b={p.b} v={v} set={set} state={p.state} />
			<main>
				{p.asks && <FleetBar head={p.b.head} />}
				<Groups b={p.b} groups={first} id="summary" />
				{lanes && !lanes.switches && <LanesPart l={lanes} v={v} set={set} dark={dark} />}
				{part && isWaits && <WaitsPart {...part} />}
				{a && <Interactive a={a} v={shown} set={set} dark={dark} />}
				{part && !isWaits && <WaitsPart {...part} />}
				{part && (!isWaits || !range) && <OffWake {...part} />}
				{lanes?.switches && <LanesPart l={lanes} v={v} set={set} dark={dark} />}
				<Annotated b={p.b} />
				<Groups b={p.b} groups={rest} id="report" />
			</main>
		</>
	);
}
