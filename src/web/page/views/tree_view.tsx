/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree_view: a tree of the document, whose nodes open and close. */
import { useMemo, useState } from "preact/hooks";
import { Blob_ } from "../data/blob";
import { TreeSection } from "../data/contract";
import { safeText } from "../data/texts";
import { gridOf, nameColumn, shownColumns } from "./cells";

const OPEN_ROWS = 60;
const PAGE = 300;

/* Opens levels as long as few rows are on the screen. */
function openAtFirst(depth: Uint16Array, parents: Set<number>): Set<number> {
	const perLevel: number[] = [];
	depth.forEach((d) => (perLevel[d] = (perLevel[d] ?? 0) + 1));
	let rows = 0, level = 0;
	while (level < perLevel.length && rows + perLevel[level] <= OPEN_ROWS)
		rows += perLevel[level++];
	return new Set([...parents].filter((row) => depth[row] < Math.max(level, 1) - 1));
}

export function TreeView(p: { b: Blob_; s: TreeSection }) {
	const g = gridOf(p.b, p.s), columns = useMemo(() => shownColumns(g), [g]);
	const parent = p.b.u32(p.s.parent), depth = p.b.u16(p.s.depth), name = nameColumn(g);
	const parents = useMemo(() => new Set(parent), [p.s]);
	const [open, setOpen] = useState(() => openAtFirst(depth, parents));
	const [more, setMore] = useState(0);
	const rows: number[] = [];
	for (let row = 0, hidden = Infinity; row < p.s.rows; row++) {
		if (depth[row] > hidden)
			continue;
		hidden = open.has(row) || !parents.has(row) ? Infinity : depth[row];
		rows.push(row);
	}
	const toggle = (row: number) => {
		const next = new Set(open);
		if (!next.delete(row))
			next.add(row);
		setOpen(next);
	};
	const shown = rows.slice(0, PAGE + more);
	return (
		<div class="scroll">
			<table class="tree" aria-label={p.s.title || p.s.key || "tree"}>
				<thead>
					<tr>
						{columns.map((c) => (
							<th key={c} scope="col" class={g.columns[c].left ? "left" : undefined}>
								{safeText(g.columns[c].title)}
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{shown.map((row) => (
						<tr key={row}>
							{columns.map((c) => c !== name ? (
								<td key={c} class={g.columns[c].left ? "left" : undefined}>{g.text(row, c)}</td>
							) : (
								<td key={c} class="left long" style={{ paddingLeft: `${depth[row] + 0.5}em` }}>
									{parents.has(row) ? (
										<button type="button" class="twist" aria-expanded={open.has(row)}
											aria-label={open.has(row) ? "close" : "open"} onClick={() => toggle(row)}>
											{open.has(row) ? "▾" : "▸"}
										</button>
									) : <span class="twist" />}
									{g.text(row, c).trimStart()}
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
			{shown.length < rows.length && (
				<button type="button" class="more" onClick={() => setMore(more + 1000)}>
					{(rows.length - shown.length).toLocaleString("en")} more rows
				</button>
			)}
		</div>
	);
}
