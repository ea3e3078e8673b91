/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet_bar: what a page over a store on a server shows, and links and fields that choose another part. */
import { Head } from "../data/contract";
import { safeText } from "../data/texts";
import { addressWith, RANGES, rangeOf, timeBefore } from "../model/fleet";

/* The policy of the page permits no form to be sent: the address is set instead. */
function submit(e: Event, more: Record<string, string>): void {
	const changes: Record<string, string> = { ...more };
	e.preventDefault();
	new FormData(e.currentTarget as HTMLFormElement).forEach((value, name) => {
		changes[name] = String(value).trim();
	});
	location.search = addressWith(location.search, changes);
}

function Field(p: { name: string; label: string; value: string }) {
	return (
		<label class="choice">
			<span>{p.label}</span>
			<input name={p.name} defaultValue={p.value} size={20} autocomplete="off" />
		</label>
	);
}

function Range(p: { from: string; until: string; search: string }) {
	return (
		<form class="controls" onSubmit={(e) => submit(e, {})} aria-label="time range">
			{RANGES.map(([text, from]) => (
				<a key={from} class="chip" href={addressWith(p.search, { from, until: "" })}
					aria-current={p.from === from && !p.until ? "true" : undefined}>{text}</a>
			))}
			<Field name="from" label="from" value={p.from} />
			<Field name="until" label="until" value={p.until} />
			<button type="submit">show</button>
		</form>
	);
}

function Compare(p: { chosen: URLSearchParams; from: string; until: string; before: { from_a: string; until_a: string } | null }) {
	const value = (name: string) => p.chosen.get(name) ?? "";
	return (
		<details class="inner" open={value("show") === "diff"}>
			<summary>compare with</summary>
			<form class="controls" onSubmit={(e) => submit(e, { show: "diff", from: p.from, until: p.until })} aria-label="comparison">
				<Field name="host_a" label="machine" value={value("host_a") || value("host")} />
				<Field name="service_a" label="service" value={value("service_a") || value("service")} />
				<Field name="build_a" label="version" value={value("build_a") || value("build")} />
				<Field name="from_a" label="from" value={value("from_a") || (p.before?.from_a ?? "")} />
				<Field name="until_a" label="until" value={value("until_a") || (p.before?.until_a ?? "")} />
				<button type="submit">compare</button>
			</form>
		</details>
	);
}

const NO_SIDE = { host_a: "", service_a: "", build_a: "", from_a: "", until_a: "" };

export function FleetBar(p: { head: Head | null }) {
	const search = location.search, chosen = new URLSearchParams(search), show = chosen.get("show") ?? "";
	const { from, until } = rangeOf(p.head, search), before = timeBefore(from, until);
	const to = (changes: Record<string, string>) => addressWith(search, { from, until, ...NO_SIDE, ...changes });
	const value = (name: string) => chosen.get(name);
	const page = (name: string, text: string) => (
		<a class="chip" href={to({ show: name })} aria-current={show === name ? "page" : undefined}>{text}</a>
	);
	return (
		<nav class="block fleet" aria-label="fleet">
			<div class="controls">
				<a class="chip" href={to({ show: "", host: "", service: "", build: "" })} aria-current={show ? undefined : "page"}>fleet</a>
				{["host", "service", "build"].map((name) => chosen.get(name) && (
					<a key={name} class="chip" href={to({ [name]: "", show })} title={`without this ${name}`}>
						{name} {safeText(chosen.get(name)!)} ✕
					</a>
				))}
				{page("report", "profile")}
				{before && (
					<a class="chip" href={to({ show: "diff", ...before })} aria-current={show === "diff" && value("from_a") === before.from_a ? "page" : undefined}>
						compared with the time before
					</a>
				)}
				{page("watch", "changes")}
			</div>
			<Range from={from} until={until} search={search} />
			<Compare chosen={chosen} from={from} until={until} before={before} />
		</nav>
	);
}
