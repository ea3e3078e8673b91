/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lanes_view: the calls of each thread over time, or its times on and off the CPUs. A drag shows a part of the time, a click one
 * call, a double click all; the wheel with Ctrl zooms.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { count, counted, moment, time } from "../model/figure";
import { Lanes, laneTops, longest, OUT, within, zoomed } from "../model/lanes";
import { makeSearch } from "../model/search";
import { Stretch } from "../model/selection";
import { View } from "../model/view";
import { palette } from "./colours";
import { PlainTable, TableButton } from "./controls";
import { callAtPlace, drawLanes, LanesPicture } from "./lanes_canvas";
import { useWidth } from "./width";

const HEIGHT_MOST = 560, ROWS = 200, DRAG = 4;

interface LanesProps {
	l: Lanes;
	v: View;
	set: (change: Partial<View>) => void;
	dark: boolean;
}

function place(l: Lanes, call: number): string {
	return `${moment(l.begin[call], l.length[call] || 1)}, ${time(l.length[call])}`;
}

function LongestTable(p: { l: Lanes; shown: Stretch }) {
	const { l } = p, rows = longest(l, p.shown, ROWS);
	return (
		<PlainTable label={`the longest ${l.switches ? "times" : "calls"} of the time shown`}
			head={["begin", "time", "thread", l.switches ? "state" : "function"]}
			left={[2, 3]} rows={rows.length}
			row={(i) => {
				const { call, lane } = rows[i];
				return {
					key: call,
					cells: [moment(l.begin[call], l.length[call] || 1), time(l.length[call]),
						`${l.lanes[lane].process} · ${l.lanes[lane].thread}`, l.names.get(l.name[call])],
				};
			}} />
	);
}

function notes(l: Lanes, narrow: number): string {
	const one = l.switches ? "time" : "call", many = `${one}s`;
	const parts = [
		l.switches
			? `A line is a thread: coloured on a CPU, light grey blocked, dark grey preempted. What a thread did before it left
				a CPU for the first time is not known.`
			: "A line is one level of calls; grey is time switched out.",
		`Drag to show a part of the time, click a ${one} to show it, double click to show all.`,
	];
	if (narrow)
		parts.push(`${counted(narrow, `${one} is`, `${many} are`)} too narrow to draw.`);
	if (l.left)
		parts.push(`The page has the first ${count(l.count)} ${many}; ${count(l.left)} more are in the recording.`);
	return parts.join(" ");
}

/* What an arrow or sign key does to the time that is shown. */
export function pressed(l: { durationNs: number }, s: Stretch, key: string): Stretch | null {
	const step = (s.to - s.from) / 4, middle = (s.from + s.to) / 2;
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const by = key === "ArrowLeft" ? -step : step;
		return within(l, { from: s.from + by, to: s.to + by });
	}
	if (key === "+" || key === "=")
		return zoomed(l, s, middle, 0.5);
	return key === "-" ? zoomed(l, s, middle, 2) : null;
}

export function LanesView(p: LanesProps) {
	const { l, v } = p, box = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
	const width = useWidth(box), tops = useMemo(() => laneTops(l), [l]);
	const [scroll, setScroll] = useState(0), [narrow, setNarrow] = useState(0);
	const [hover, setHover] = useState({ call: -1, lane: -1 }), [drag, setDrag] = useState<LanesPicture["drag"]>(null);
	const all: Stretch = { from: 0, to: Math.max(Math.ceil(l.durationNs), 1) }, shown = v.calls ?? all;
	const height = Math.min(tops[tops.length - 1], HEIGHT_MOST), search = useMemo(() => makeSearch(v.search), [v.search]);
	const picture: LanesPicture = {
		l, tops, shown, width, height, scroll, hover: hover.call, matches: search && search.test, drag,
	};
	const show = (s: Stretch) => p.set({ calls: s.from <= 0 && s.to >= l.durationNs ? null : s });
	const at = (e: MouseEvent) => {
		const r = canvas.current!.getBoundingClientRect();
		return { x: e.clientX - r.left, y: e.clientY - r.top };
	};
	const nsOf = (x: number) => shown.from + (x / width) * (shown.to - shown.from);

	useLayoutEffect(() => {
		if (width)
			setNarrow(drawLanes(canvas.current!, picture, palette(document.documentElement)));
	});

	const release = (e: MouseEvent) => {
		const { x, y } = at(e), from = drag?.from ?? x, found = callAtPlace(picture, x, y).call;
		setDrag(null);
		if (Math.abs(x - from) >= DRAG)
			show(within(l, { from: nsOf(Math.min(from, x)), to: nsOf(Math.max(from, x)) }));
		else if (found >= 0)
			show(zoomed(l, { from: l.begin[found], to: l.begin[found] + Math.max(l.length[found], 1) },
				l.begin[found] + l.length[found] / 2, 1.1));
	};
	const wheel = (e: WheelEvent) => {
		if (!e.ctrlKey)
			return;
		show(zoomed(l, shown, nsOf(at(e).x), e.deltaY < 0 ? 0.7 : 1.4));
		e.preventDefault();
	};
	const key = (e: KeyboardEvent) => {
		const next = pressed(l, shown, e.key);
		if (!next)
			return;
		show(next);
		e.preventDefault();
	};

	return (
		<>
			<div class="controls">
				<span class="note" id="lanes-shown" role="status">
					{time(shown.to - shown.from)} from {moment(shown.from, shown.to - shown.from)}
				</span>
				<button type="button" onClick={() => show(pressed(l, shown, "+")!)} aria-label="less time">+</button>
				<button type="button" onClick={() => show(pressed(l, shown, "-")!)} aria-label="more time">−</button>
				{v.calls && <button type="button" onClick={() => show(all)}>all</button>}
			</div>
			<div class="flame" ref={box} style={{ height: `${height}px` }} onScroll={(e) => setScroll(e.currentTarget.scrollTop)}>
				<div style={{ height: `${tops[tops.length - 1]}px` }}>
					<canvas ref={canvas} tabIndex={0} role="application" style={{ width: `${width}px`, height: `${height}px` }}
						aria-label={`${l.switches ? "Threads" : "Calls"} over time: arrows move, plus and minus zoom; the table has the longest`}
						onMouseDown={(e) => setDrag({ from: at(e).x, to: at(e).x })}
						onMouseMove={(e) => {
							const { x, y } = at(e);
							if (drag)
								setDrag({ from: drag.from, to: x });
							else
								setHover(callAtPlace(picture, x, y));
						}}
						onMouseLeave={() => {
							setHover({ call: -1, lane: -1 });
							setDrag(null);
						}}
						onMouseUp={release} onDblClick={() => show(all)} onWheel={wheel} onKeyDown={key} />
				</div>
			</div>
			<p class="status" id="lanes-status">
				{hover.call >= 0 && (
					<>
						{l.names.get(l.name[hover.call])}{l.switches ? "," : l.kind[hover.call] === OUT ? "" : " of"} {l.lanes[hover.lane].thread}: {place(l, hover.call)}
					</>
				)}
			</p>
			<p class="note">{notes(l, narrow)}</p>
			<TableButton name={l.switches ? "threads" : "calls"} table={() => <LongestTable l={l} shown={shown} />} />
		</>
	);
}
