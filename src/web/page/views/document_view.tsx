/* SPDX-License-Identifier: GPL-2.0-or-later */
/* document_view: the sections of a report's document. The page knows no kind of recording here. */
import { Blob_ } from "../data/blob";
import { Document_, Fact, Section, TableSection } from "../data/contract";
import { safeText } from "../data/texts";
import { HistogramView, isPair, PairsView, TimelineView } from "./bars_view";
import { CpusView, LedgerView } from "./ledger_view";
import { TableView } from "./table_view";
import { TreeView } from "./tree_view";

export function Facts(p: { facts: Fact[] }) {
	return (
		<dl class="facts">
			{p.facts.map((f, i) => (
				<div key={i} class={f.verbatim ? "verbatim" : undefined}>
					<dt>{f.label ?? ""}</dt>
					<dd>{safeText(f.text)}</dd>
				</div>
			))}
		</dl>
	);
}

export function sectionTitle(s: Section): string {
	return safeText(("title" in s && s.title) || "");
}

/* The title of a part is that of its first heading. */
function partTitle(d: Document_, i: number): string {
	const named = d.sections.find((s) => sectionTitle(s));
	return named ? sectionTitle(named) : `part ${i + 1}`;
}

function Parts(p: { b: Blob_; parts: Document_[] }) {
	return (
		<>
			{p.parts.map((part, i) => (
				<details class="inner" key={i} open={p.parts.length <= 4}>
					<summary>{partTitle(part, i)}</summary>
					{part.sections.map((s, at) => (
						<SectionView key={at} b={p.b} s={s} bare={s.kind === "heading" && sectionTitle(s) === partTitle(part, i)} />
					))}
				</details>
			))}
		</>
	);
}

/* Tables with a picture. */
function Table(p: { b: Blob_; s: TableSection; code?: boolean }) {
	const View = { ledger: LedgerView, cpus: CpusView, histogram: HistogramView, timeline: TimelineView }[p.s.key ?? ""];
	if (View)
		return <View b={p.b} s={p.s} />;
	return isPair(p.b, p.s) ? <PairsView b={p.b} s={p.s} /> : <TableView {...p} />;
}

function Body(p: { b: Blob_; s: Section; code?: boolean }) {
	const { b, s } = p;
	switch (s.kind) {
	case "facts":
		return <Facts facts={s.facts} />;
	case "table":
		return <Table b={b} s={s} code={p.code} />;
	case "tree":
		return <TreeView b={b} s={s} />;
	case "notes":
		return <ul class="notes">{s.notes.map((n, i) => <li key={i}>{safeText(n)}</li>)}</ul>;
	case "text":
		return <p class="text">{s.text.split("\n").map((line, i) => <>{i > 0 && <br />}{safeText(line)}</>)}</p>;
	case "parts":
		return <Parts b={b} parts={s.parts} />;
	default:
		return null;
	}
}

/* `bare`: the title is already above. */
export function SectionView(p: { b: Blob_; s: Section; bare?: boolean; code?: boolean }) {
	const title = p.bare ? "" : sectionTitle(p.s);
	return (
		<>
			{title && <h3>{title}</h3>}
			<Body b={p.b} s={p.s} code={p.code} />
		</>
	);
}

export interface Group {
	title: string;
	sections: Section[];
}

function capital(word: string): string {
	return word === "cpus" ? "CPUs" : word.charAt(0).toUpperCase() + word.slice(1).replaceAll("_", " ");
}

/* Sections under their titles: one without a title belongs to the one before. */
export function groupsOf(sections: Section[]): Group[] {
	const groups: Group[] = [];
	for (const s of sections) {
		const title = sectionTitle(s) || (s.kind === "parts" ? capital(s.key ?? "parts") : "");
		if (!groups.length || title)
			groups.push({ title, sections: [s] });
		else
			groups[groups.length - 1].sections.push(s);
	}
	/* A heading alone names the group that follows. */
	return groups.filter((g, i) => {
		const alone = g.sections.length === 1 && g.sections[0].kind === "heading" && groups[i + 1];
		if (alone)
			groups[i + 1].sections.unshift(g.sections[0]);
		return !alone;
	});
}
