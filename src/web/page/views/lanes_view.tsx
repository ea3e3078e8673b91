/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lanes_view: the calls of each thread over time, or its times on and off the CPUs. A click shows one call. */
import { useMemo, useState } from "preact/hooks";
import { count, counted, moment, time } from "../model/figure";
import { allOf, Lanes, laneTops, longest, OUT } from "../model/lanes";
import { makeSearch } from "../model/search";
import { Stretch } from "../model/selection";
import { View } from "../model/view";
import { PlainTable, TableButton } from "./controls";
import { callAtPlace, drawLanes, LanesPicture } from "./lanes_canvas";
import { HEIGHT_MOST, TimeCanvas, useTimes, ZoomButtons } from "./time_canvas";

const ROWS = 200;

interface LanesProps {
	l: Lanes;
	v: View;
	set: (change: Partial<View>) => void;
	dark: boolean;
}

const rowsOf = (l: Lanes) => (l.switches ? "times" : "calls");

function place(l: Lanes, call: number): string {
	return `${moment(l.begin[call], l.length[call] || 1)}, ${time(l.length[call])}`;
}

function LongestTable(p: { l: Lanes; shown: Stretch }) {
	const { l } = p, rows = longest(l, p.shown, ROWS);
	return (
		<PlainTable label={`the longest ${rowsOf(l)} of the time shown`}
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

export function LanesView(p: LanesProps) {
	const { l, v } = p, shown = v.calls ?? allOf(l), t = useTimes(p, l, shown, 0), { width, scroll, drag } = t;
	const tops = useMemo(() => laneTops(l), [l]), whole = tops[tops.length - 1], height = Math.min(whole, HEIGHT_MOST);
	const [narrow, setNarrow] = useState(0), [hover, setHover] = useState({ call: -1, lane: -1 });
	const search = useMemo(() => makeSearch(v.search), [v.search]);
	const picture: LanesPicture = {
		l, tops, shown, width, height, scroll, hover: hover.call, matches: search && search.test, drag,
	};
	const click = (x: number, y: number) => {
		const found = callAtPlace(picture, x, y).call, from = l.begin[found], length = l.length[found];
		if (found >= 0)
			t.zoom({ from, to: from + Math.max(length, 1) }, from + length / 2, 1.1);
	};

	return (
		<>
			<div class="controls">
				<span class="note" id="lanes-shown" role="status">
					{time(shown.to - shown.from)} from {moment(shown.from, shown.to - shown.from)}
				</span>
				<ZoomButtons t={t} />
			</div>
			<TimeCanvas t={t} label={l.switches ? "Threads" : "Calls"} rows={rowsOf(l)} box={height} height={height} whole={whole}
				draw={(canvas, c) => setNarrow(drawLanes(canvas, picture, c))} click={click}
				hover={(x, y) => setHover(callAtPlace(picture, x, y))} leave={() => setHover({ call: -1, lane: -1 })} />
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
