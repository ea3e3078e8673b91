/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_canvas: the canvas of threads over time, which has the size of the visible part of its box. A drag shows a part
 * of the time, a double click all; the wheel with Ctrl, plus and minus zoom, arrows move.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { allOf, within, zoomed } from "../model/lanes";
import { Stretch } from "../model/selection";
import { View } from "../model/view";
import { Palette, palette } from "./colours";
import { useWidth } from "./width";

const DRAG = 4;

export const HEIGHT_MOST = 560;

/* A stretch in pixels. */
export interface Drag {
	from: number;
	to: number;
}

interface Timed {
	durationNs: number;
}

/* What an arrow or sign key does to the time that is shown. */
function pressed(l: Timed, s: Stretch, key: string): Stretch | null {
	const step = (s.to - s.from) / 4, middle = (s.from + s.to) / 2;
	if (key === "ArrowLeft" || key === "ArrowRight") {
		const by = key === "ArrowLeft" ? -step : step;
		return within(l, { from: s.from + by, to: s.to + by });
	}
	if (key === "+" || key === "=")
		return zoomed(l, s, middle, 0.5);
	return key === "-" ? zoomed(l, s, middle, 2) : null;
}

/* The state of a picture whose times begin `gutter` pixels from its left. */
export function useTimes(p: { v: View; set: (change: Partial<View>) => void }, l: Timed, shown: Stretch, gutter: number) {
	const box = useRef<HTMLDivElement>(null), width = useWidth(box), room = Math.max(width - gutter, 10);
	const [scroll, setScroll] = useState(0), [drag, setDrag] = useState<Drag | null>(null);
	const show = (s: Stretch) => p.set({ calls: s.from <= 0 && s.to >= l.durationNs ? null : s });
	return {
		shown, box, width, room, scroll, setScroll, drag, setDrag, show,
		isPart: !!p.v.calls,
		all: () => show(allOf(l)),
		nsOf: (x: number) => shown.from + (Math.max(x - gutter, 0) / room) * (shown.to - shown.from),
		key: (name: string) => {
			const next = pressed(l, shown, name);
			if (next)
				show(next);
			return next;
		},
		within: (s: Stretch) => show(within(l, s)),
		zoom: (s: Stretch, at: number, factor: number) => show(zoomed(l, s, at, factor)),
	};
}

export type Times = ReturnType<typeof useTimes>;

export function ZoomButtons(p: { t: Times }) {
	const { t } = p;
	return (
		<>
			<button type="button" onClick={() => t.key("+")} aria-label="less time">+</button>
			<button type="button" onClick={() => t.key("-")} aria-label="more time">−</button>
			{t.isPart && <button type="button" onClick={t.all}>all</button>}
		</>
	);
}

/* `whole`: the height of all lanes, of which `height` pixels are visible. */
export function TimeCanvas(p: {
	t: Times; label: string; rows: string; box: number; height: number; whole: number;
	draw: (canvas: HTMLCanvasElement, c: Palette) => void;
	click: (x: number, y: number) => void;
	hover: (x: number, y: number) => void;
	leave: () => void;
}) {
	const { t } = p, canvas = useRef<HTMLCanvasElement>(null);
	const at = (e: MouseEvent): [number, number] => {
		const r = canvas.current!.getBoundingClientRect();
		return [e.clientX - r.left, e.clientY - r.top];
	};

	useLayoutEffect(() => {
		if (t.width)
			p.draw(canvas.current!, palette(document.documentElement));
	});

	return (
		<div class="flame" ref={t.box} style={{ height: `${p.box}px` }} onScroll={(e) => t.setScroll(e.currentTarget.scrollTop)}>
			<div style={{ height: `${p.whole}px` }}>
				<canvas ref={canvas} tabIndex={0} role="application" style={{ width: `${t.width}px`, height: `${p.height}px` }}
					aria-label={`${p.label} over time: arrows move, plus and minus zoom; the table has the longest ${p.rows}`}
					onMouseDown={(e) => {
						const [x] = at(e);
						t.setDrag({ from: x, to: x });
					}}
					onMouseMove={(e) => {
						const [x, y] = at(e);
						if (t.drag)
							t.setDrag({ from: t.drag.from, to: x });
						else
							p.hover(x, y);
					}}
					onMouseLeave={() => {
						p.leave();
						t.setDrag(null);
					}}
					onMouseUp={(e) => {
						const [x, y] = at(e), from = t.drag?.from ?? x;
						t.setDrag(null);
						if (Math.abs(x - from) >= DRAG)
							t.within({ from: t.nsOf(Math.min(from, x)), to: t.nsOf(Math.max(from, x)) });
						else
							p.click(x, y);
					}}
					onDblClick={t.all}
					onWheel={(e) => {
						if (!e.ctrlKey)
							return;
						t.zoom(t.shown, t.nsOf(at(e)[0]), e.deltaY < 0 ? 0.7 : 1.4);
						e.preventDefault();
					}}
					onKeyDown={(e) => t.key(e.key) && e.preventDefault()} />
			</div>
		</div>
	);
}

export function drawDrag(g: CanvasRenderingContext2D, drag: Drag | null, height: number, c: Palette): void {
	if (!drag)
		return;
	g.globalAlpha = 0.2;
	g.fillStyle = c.accent;
	g.fillRect(Math.min(drag.from, drag.to), 0, Math.abs(drag.to - drag.from), height);
	g.globalAlpha = 1;
}
