/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame_facts: what the page knows about a frame, as lines for the tooltip and for the status. */
import { isBeyond } from "../model/analysis";
import { amount, change, share } from "../model/figure";
import { Confidence } from "../statistics/confidence";
import { keyProcess, TreeForm } from "../model/tree";
import { Context, processName, unitOf } from "./context";

export interface Facts {
	name: string;
	lines: [label: string, text: string][];
}

export function nodeName(c: Context, form: TreeForm, node: number): string {
	const key = node ? c.a.tree(form).key[node] : -1;
	if (key === -1)
		return "all";
	return key >= 0 ? c.a.m.func(key).name : processName(c, keyProcess(key));
}

function interval(of: Confidence | null): string {
	return of ? ` (${share(of.low)} to ${share(of.high)})` : "";
}

function sourceLines(c: Context, form: TreeForm, node: number): [string, string][] {
	const t = c.a.tree(form), key = node ? t.key[node] : -1;
	if (key < 0)
		return [];
	const f = c.a.m.func(key), lines: [string, string][] = [];
	if (f.image)
		lines.push(["image", f.image]);
	if (f.file)
		lines.push(["source", f.line ? `${f.file}:${f.line}` : f.file]);
	if (f.group)
		lines.push(["group", f.group]);
	if (t.inlined[node])
		lines.push(["", "inlined into its caller"]);
	return lines;
}

/* `compared`: frames on the screen, for the test of changes; 0: without intervals, which take time. */
export function frameFacts(c: Context, form: TreeForm, node: number, compared: number): Facts {
	const now = c.a.now(c.v), old = c.a.old(c.v), unit = unitOf(c);
	const sums = c.a.sums(c.v, form, now), total = sums.total[node];
	const part = (x: number, all: number) => (all ? x / all : 0);
	const lines: [string, string][] = [];
	const own = compared ? c.a.interval(c.v, form, now, node) : null;
	const per = c.a.m.workUnit ? ` per ${c.a.m.workUnit}` : "", shown = amount(total / now.work, unit) + per;
	lines.push(["total", `${shown}, ${share(part(total, now.all))}${interval(own)}`]);
	if (!form.up)
		lines.push(["self", `${amount(sums.self[node] / now.work, unit)}, ${share(part(sums.self[node], now.all))}`]);
	if (old) {
		const before = c.a.sums(c.v, form, old).total[node];
		const was = compared ? c.a.interval(c.v, form, old, node) : null;
		const from = part(before, old.all), to = part(total, now.all);
		lines.push([c.a.m.rowSide ? "before" : "first",
			`${amount(before / old.work, unit)}, ${share(from)}${interval(was)}`]);
		lines.push(["change of share", change(to - from) + (!own || !was ? "" :
			isBeyond(was, own, compared) ? ", beyond chance" : ", may be chance")]);
	}
	return { name: nodeName(c, form, node), lines: [...lines, ...sourceLines(c, form, node)] };
}
