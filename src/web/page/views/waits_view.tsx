/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * waits_view: when threads ran and waited, who woke them, and the path that decided the elapsed time.
 * A click on a wait explains it, a click on a name ends the path there.
 */
import { useMemo, useState } from "preact/hooks";
import { count, counted, moment, share, time } from "../model/figure";
import { allOf, within } from "../model/lanes";
import { Stretch } from "../model/selection";
import { View } from "../model/view";
import { arrowsOf, insteadOf, kindsOf, lanesShown, longestWaits, waitAtMoment } from "../model/wait_lanes";
import { findPath, processesOf, usualEnd, WaitPath } from "../model/wait_path";
import {
	causeText, inAt, laneText, pathOf, wakerOf, WaitLane, Waits, WOKEN_NOT_SEEN, WOKEN_OPEN, WOKEN_PREEMPTED,
} from "../model/waits";
import { Bar, Choice, PlainTable, Switch, TableButton } from "./controls";
import { HEIGHT_MOST, TimeCanvas, Times, useTimes, ZoomButtons } from "./time_canvas";
import { drawWaits, GUTTER, LANE, pathColour, rowAt, stateColour, statesOf, TOP, WaitsPicture } from "./waits_canvas";

const ROWS = 200, LANES_LISTED = 300;

export interface WaitsProps {
	w: Waits;
	v: View;
	set: (change: Partial<View>) => void;
	dark: boolean;
	/* The stretch of the pictures above and the time of the lanes, from one to the other; null: no times. */
	linked: { to: (s: Stretch) => Stretch; from: (s: Stretch) => Stretch } | null;
}

function span(ns: number, from: number): string {
	return `${time(ns)} from ${moment(from, ns || 1)}`;
}

/* How the wait ended, in the words of `assay waits`. */
function released(w: Waits, i: number): string {
	const c = w.cause[i], by = w.texts.get(w.causes.by[c]), waker = wakerOf(w, i);
	if (w.causes.woken[c] === WOKEN_OPEN)
		return "not yet: the thread was off the CPU until the end";
	if (w.causes.woken[c] === WOKEN_PREEMPTED)
		return insteadOf(w, i) && `preempted: ${insteadOf(w, i)} ran instead`;
	return waker >= 0 ? `${by} (thread ${w.lanes[waker].tid})` : by || (w.causes.woken[c] === WOKEN_NOT_SEEN ? "no wake-up was recorded" : "");
}

function Stack(p: { title: string; names: string[] }) {
	return (
		<div class="waited">
			<h3>{p.title}</h3>
			{p.names.length ? <ol>{p.names.map((n, i) => <li key={i}>{n}</li>)}</ol> : <p class="note">not recorded</p>}
		</div>
	);
}

function OneWait(p: { w: Waits; i: number; close: () => void }) {
	const { w, i } = p, c = w.cause[i], text = (id: number) => w.texts.get(id), waker = wakerOf(w, i);
	const length = inAt(w, i) - w.out[i];
	const facts: [string, string][] = [
		["thread", laneText(w.lanes[w.lane[i]])],
		["waited for", causeText(w, i)],
		["time", `${span(length, w.out[i])}: blocked ${time(w.blocked[i])}, runnable ${time(w.runnable[i])}`],
		["released by", released(w, i)],
		["holder", text(w.causes.holder[c]) && `${text(w.causes.holder[c])} (evidence: ${text(w.causes.evidence[c])})`],
	];
	return (
		<div class="one-wait" id="wait" role="status">
			<button type="button" class="chip" onClick={p.close}>the selected wait ✕</button>
			<dl>
				{facts.filter(([, value]) => value).map(([name, value]) => (
					<>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</>
				))}
			</dl>
			<div class="waited-both">
				<Stack title="where it waited" names={pathOf(w, w.causes.node[c])} />
				{waker >= 0 && <Stack title={`where ${w.lanes[waker].name} woke it`} names={pathOf(w, w.causes.waker_node[c])} />}
			</div>
		</div>
	);
}

function PathTable(p: { w: Waits; path: WaitPath; dark: boolean }) {
	const { path } = p, whole = path.to - path.from;
	return (
		<PlainTable label="what decided the elapsed time" first={12}
			head={["share", "time", "10 % less saves", "thread", "kind", "for", "function"]} left={[0, 3, 4, 5, 6]}
			rows={path.rows.length}
			row={(i) => {
				const r = path.rows[i];
				return {
					key: i,
					cells: [
						<>{share(r.ns / whole)} <Bar share={r.ns / whole} full={path.rows[0].ns / whole} /></>,
						time(r.ns), Number.isNaN(r.saves) ? "" : time(r.saves), r.thread,
						<><i class="mark" style={{ background: stateColour(r.kind, p.dark) }} />{r.kind.replace("_", " ")}</>,
						r.name, r.func,
					],
				};
			}}
			foot={["", time(whole), "", "total", "", "", ""]} />
	);
}

function PathPart(p: WaitsProps & { path: WaitPath | null; ends: number }) {
	const { w, path } = p;
	if (!path || !path.rows.length)
		return (
			<p class="note">
				{p.ends === -1 ? "Choose a process, or click the name of a thread, to see the path that decided its elapsed time."
					: "The process did not run in this time: choose another end of the path, or click the name of a thread."}
			</p>
		);
	return (
		<>
			<h3>
				What decided the {time(path.to - path.from)} of {laneText(w.lanes[path.lane])}
			</h3>
			<p class="note">
				The path (the <i class="mark" style={{ background: pathColour(p.dark) }} /> line in the picture) goes back from the end of the time,
				through each wait to the thread that ended it. Something that takes 10 % less time saves at most a tenth of its time there.
			</p>
			<PathTable w={w} path={path} dark={p.dark} />
		</>
	);
}

/* Where the path may end. */
function ends(w: Waits, shown: WaitLane[]): [number, string][] {
	const processes = processesOf(w).filter((p) => p.selected || p.pid === w.ref.process);
	return [
		[-1, "no path"],
		...processes.slice(0, LANES_LISTED).map((p): [number, string] => [-2 - p.pid, `process ${p.name} ${p.pid}`]),
		...shown.filter((l) => !l.kernel).slice(0, LANES_LISTED).map((l): [number, string] => [l.id, `thread ${laneText(l)}`]),
	];
}

function Legend(p: { w: Waits; kinds: number[]; dark: boolean }) {
	const item = (kind: string, text: string) => (
		<li key={kind}><i style={{ background: stateColour(kind, p.dark) }} /><span>{text}</span></li>
	);
	return (
		<ul class="legend">
			{item("on_cpu", "on a CPU")}
			{item("runnable", "runnable")}
			{p.kinds.slice(0, 12).map((k) => item(p.w.texts.get(k), `blocked: ${p.w.texts.get(k).replace("_", " ")}`))}
		</ul>
	);
}

function notes(w: Waits, left: number, drawn: number): string {
	const r = w.ref, parts = [
		"A line is a thread. Drag to show a part of the time, click a wait to explain it, click a name to end the path there, double click to show all.",
		left ? `${counted(drawn, "wake-up is an arrow", "wake-ups are arrows")}, those of the longest waits; ${count(left)} more are only in the bars above the lanes: show less time to see them.`
			: "An arrow leads from the waker to the woken thread.",
	];
	if (r.left)
		parts.push(`${counted(r.left, "wait", "waits")} of at most ${time(r.left_longest_ns)}, ${time(r.left_ns)} in total, ${r.left === 1 ? "is" : "are"} not in the page, and are drawn and counted as time on a CPU.`);
	if (r.left_kernel)
		parts.push(`${counted(r.left_kernel, "wait", "waits")} of threads of the kernel are not in the page.`);
	if (r.beyond)
		parts.push(`${counted(r.beyond, "later wait", "later waits")} of the recording are in its sums only.`);
	if (r.samples_of > 1)
		parts.push(`The functions on a CPU are those of every ${r.samples_of}th sample.`);
	return parts.join(" ");
}

function LongestTable(p: { w: Waits; shown: WaitLane[]; s: Stretch; choose: (i: number) => void }) {
	const { w } = p, list = longestWaits(w, p.shown, p.s, ROWS);
	return (
		<PlainTable label="the longest waits of the time shown" left={[3, 4, 5]} rows={list.length}
			head={["begin", "blocked", "runnable", "thread", "for", "released by"]}
			row={(at) => {
				const i = list[at];
				return {
					key: i,
					cells: [
						moment(w.out[i], w.blocked[i] + w.runnable[i]), time(w.blocked[i]), time(w.runnable[i]), laneText(w.lanes[w.lane[i]]),
						<button type="button" class="name" onClick={() => p.choose(i)}>{causeText(w, i) || "wait"}</button>,
						released(w, i),
					],
				};
			}} />
	);
}

function Controls(p: WaitsProps & { t: Times; lanes: WaitLane[]; ends: number }) {
	const { w, v } = p, { shown, show } = p.t, others = w.lanes.some((l) => !l.selected && l.first < l.end);
	return (
		<div class="controls">
			<span class="note" id="waits-shown" role="status">{span(shown.to - shown.from, shown.from)}</span>
			<ZoomButtons t={p.t} />
			{p.linked && v.first && <button type="button" onClick={() => show(p.linked!.from(v.second ?? v.first!))}>the stretch of the heatmap</button>}
			{p.linked && v.calls && (
				<button type="button" onClick={() => p.set({ first: p.linked!.to(shown), second: null })}>select this time in the heatmap</button>
			)}
			<Choice label="path to the end of" value={p.ends} options={ends(w, p.lanes)} onChange={(to) => p.set({ ends: to === -1 ? -2 : to })} />
			{others && <Switch label="all threads" on={v.others} onChange={(on) => p.set({ others: on })} />}
		</div>
	);
}

/* -1 is the end of the report's path, -2 (no process has the pid 0) no path. */
function endOf(w: Waits, v: View): number {
	return v.ends === -1 ? usualEnd(w) : v.ends === -2 ? -1 : v.ends;
}

export function WaitsView(p: WaitsProps) {
	const { w, v } = p, shown = within(w, v.calls ?? allOf(w)), end = endOf(w, v), [hover, setHover] = useState(-1);
	const t = useTimes(p, w, shown, GUTTER), { width, room, scroll, drag } = t;
	const path = useMemo(() => findPath(w, end, shown), [w, end, shown.from, shown.to]);
	const lanes = useMemo(() => lanesShown(w, shown, v.others, path), [w, v.others, path, shown.from, shown.to]);
	const arrows = useMemo(() => arrowsOf(w, lanes, shown, Math.ceil(room / 4), Math.ceil(room / 14), 2),
		[w, lanes, shown.from, shown.to, room]);
	const kinds = useMemo(() => kindsOf(w), [w]);
	const height = Math.min(TOP + lanes.length * LANE + 6, HEIGHT_MOST);
	const picture: WaitsPicture = {
		w, lanes, path, arrows, shown, width, height, scroll, hover, drag, wait: v.wait < w.count ? v.wait : -1, lane: path?.lane ?? -1,
		kindState: new Map(kinds.map((k, i): [number, number] => [k, 2 + i])),
		colours: statesOf([...kinds.map((k) => w.texts.get(k)), "other"], p.dark),
	};
	const waitAtPlace = (x: number, y: number) => {
		const row = rowAt(picture, y);
		return row < 0 || x < GUTTER ? -1 : waitAtMoment(w, lanes[row], t.nsOf(x), ((shown.to - shown.from) / room) * 1.5);
	};

	const click = (x: number, y: number) => {
		const row = rowAt(picture, y);
		p.set(x < GUTTER && row >= 0 ? { ends: lanes[row].id } : { wait: waitAtPlace(x, y) });
	};
	const hovered = hover >= 0 && hover < w.count;
	return (
		<>
			<Controls {...p} t={t} lanes={lanes} ends={end} />
			<TimeCanvas t={t} label="Threads" rows="waits" box={height} height={height - 2} whole={TOP + lanes.length * LANE + 4}
				draw={(canvas, c) => drawWaits(canvas, picture, c)} click={click}
				hover={(x, y) => setHover(waitAtPlace(x, y))} leave={() => setHover(-1)} />
			<p class="status" id="waits-status">
				{hovered && `${laneText(w.lanes[w.lane[hover]])}: ${causeText(w, hover)}, blocked ${time(w.blocked[hover])}, runnable ${time(w.runnable[hover])}; released by ${released(w, hover)}`}
			</p>
			<Legend w={w} kinds={kinds} dark={p.dark} />
			<p class="note" id="waits-notes">{notes(w, arrows.left, arrows.waits.length)}</p>
			<TableButton name="waits" table={() => <LongestTable w={w} shown={lanes} s={shown} choose={(wait) => p.set({ wait })} />} />
			{picture.wait >= 0 && <OneWait w={w} i={picture.wait} close={() => p.set({ wait: -1 })} />}
			<PathPart {...p} path={path} ends={end} />
		</>
	);
}
