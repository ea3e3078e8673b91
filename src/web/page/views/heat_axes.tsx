/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heat_axes: the labels beside and below the heatmap. */
import { NO_CPU } from "../data/entries";
import { moment, time } from "../model/figure";
import { Heat, roundUp } from "../model/heat";

const AXIS_PX = 60;

/* The labels of the lines: CPUs, or the time within a column. */
export function Lines(p: { heat: Heat; line: number; step: number }) {
	const { heat } = p, labels: [number, string][] = [];
	if (heat.byCpu)
		heat.cpus.forEach((cpu, i) => labels.push([i, cpu === NO_CPU ? "?" : `CPU ${cpu}`]));
	else
		for (let i = 0; i < heat.lines; i += heat.lines / 5)
			labels.push([i, `+${time(i * heat.cellSteps * p.step)}`.replace(/\.0+ /, " ")]);
	const every = Math.ceil(12 / p.line);
	return (
		<div class="lines" aria-hidden="true" style={{ width: `${AXIS_PX}px` }}>
			{labels.filter((_, i) => !heat.byCpu || i % every === 0).map(([i, text]) => (
				<span key={i} style={{ top: `${i * p.line}px` }}>{text}</span>
			))}
		</div>
	);
}

/* Times below the columns: round ones, not too close to each other. */
export function Ticks(p: { heat: Heat; width: number; step: number }) {
	const length = p.heat.columnSteps * p.step, all = length * p.heat.columns;
	const every = roundUp(Math.max((90 * all) / p.width, length)), ticks: number[] = [];
	for (let ns = 0; ns < all - every / 3; ns += every)
		ticks.push(ns);
	return (
		<div class="ticks" aria-hidden="true">
			{ticks.map((ns) => (
				<span key={ns} style={{ left: `${(100 * ns) / all}%` }}>{moment(ns, every)}</span>
			))}
		</div>
	);
}
