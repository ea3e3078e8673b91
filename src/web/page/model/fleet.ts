/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet: the selection of a page of `assay view` over a store on a server. It is in the address of
 * the page: show (report, diff, watch; none: the list), host, service, build, from, until, and for
 * the first side of a comparison host_a, service_a, build_a, from_a, until_a. The server makes the data of each address.
 */
import { Head } from "../data/contract";

export const SELECTION = [
	"show", "host", "service", "build", "from", "until", "host_a", "service_a", "build_a", "from_a", "until_a",
];

/* The ranges that a click chooses. */
export const RANGES: [string, string][] = [
	["15 min", "-15min"], ["1 h", "-1h"], ["6 h", "-6h"], ["24 h", "-24h"], ["7 d", "-7d"],
];

/* Tables of the list: the column with the name, and the argument. */
const LISTS: Record<string, [string, string]> = {
	services: ["service", "service"], versions: ["version", "build"], hosts: ["host", "host"],
};
const UNITS: Record<string, number> = { s: 1, min: 60, h: 3600, d: 86400, w: 604800 };

/* The arguments of the address that select data, for the server: "&host=web1". */
export function selectionOf(search: string): string {
	const from = new URLSearchParams(search), to = new URLSearchParams();
	for (const name of SELECTION)
		if (from.get(name))
			to.set(name, from.get(name)!);
	const text = to.toString();
	return text && "&" + text;
}

/* The address with other arguments; "" removes one. */
export function addressWith(search: string, changes: Record<string, string>): string {
	const to = new URLSearchParams(search);
	for (const [name, value] of Object.entries(changes))
		if (value)
			to.set(name, value);
		else
			to.delete(name);
	return "?" + to.toString();
}

/* The range of the page: that of its address, else that of the list. */
export function rangeOf(head: Head | null, search: string): { from: string; until: string } {
	const chosen = new URLSearchParams(search);
	const fact = (label: string) => {
		for (const s of head?.kind === "fleet" ? head.document?.sections ?? [] : [])
			if (s.kind === "facts")
				return s.facts.find((f) => f.label === label)?.text ?? "";
		return "";
	};
	return { from: chosen.get("from") || fact("from"), until: chosen.get("until") || (chosen.get("from") ? "" : fact("until")) };
}

/* The report of a row of the list; "": the text is no name, or this is no list. */
export function rowAddress(head: Head, key: string | null, column: string, text: string, search: string): string {
	const list = head.kind === "fleet" && key ? LISTS[key] : undefined;
	return list && list[0] === column && text && !text.startsWith("[")
		? addressWith(search, { ...rangeOf(head, search), show: "report", [list[1]]: text }) : "";
}

function secondsBefore(text: string): number {
	const found = /^-(\d+(?:\.\d+)?)(s|min|h|d|w)$/.exec(text);
	return found ? +found[1] * UNITS[found[2]] : NaN;
}

/* The time of the same length before a range; null: its length is not known here. */
export function timeBefore(from: string, until: string): { from_a: string; until_a: string } | null {
	const begin = secondsBefore(from), end = until ? secondsBefore(until) : 0;
	if (begin > end)
		return { from_a: `-${2 * begin - end}s`, until_a: from };
	const first = Date.parse(from), last = until ? Date.parse(until) : NaN;
	if (!/Z$/.test(from) || !(last > first))
		return null;
	return { from_a: new Date(2 * first - last).toISOString().replace(/\.000Z$/, "Z"), until_a: from };
}
