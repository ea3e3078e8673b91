/* SPDX-License-Identifier: GPL-2.0-or-later */
/* context: what the interactive parts of the page get: the analysis, the view, and how to change it. */
import { Analysis } from "../model/analysis";
import { View } from "../model/view";

export interface Context {
	a: Analysis;
	v: View;
	set: (change: Partial<View>) => void;
	dark: boolean;
	second?: boolean; /* another picture on the page has the search */
}

export function unitOf(c: Context): string {
	return c.a.m.values[c.a.value(c.v)].unit;
}

export function processName(c: Context, id: number): string {
	const p = c.a.m.processes[id];
	return p.pids > 1 ? `${p.name} x${p.pids}` : p.name;
}
