/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cells: the cells of a table or tree of the document: texts for readers, values for sorting. */
import { Blob_ } from "../data/blob";
import { Cells, Column, TableSection, TreeSection } from "../data/contract";
import { Texts } from "../data/texts";

export interface Grid {
	columns: Column[];
	rows: number;
	text(row: number, column: number): string;
	/* NaN: none */
	value(row: number, column: number): number;
	hasValues(column: number): boolean;
}

const known = new WeakMap<object, Grid>();

export function gridOf(b: Blob_, s: TableSection | TreeSection): Grid {
	const found = known.get(s);
	if (found)
		return found;
	const texts: (Texts | null)[] = s.cells.map((c: Cells) => c.text && b.texts(c.text));
	const values = s.cells.map((c: Cells) => c.value && b.f64(c.value));
	const grid: Grid = {
		columns: s.columns,
		rows: s.rows,
		text: (row, column) => texts[column]?.get(row) ?? number(values[column]?.[row] ?? NaN),
		value: (row, column) => values[column]?.[row] ?? NaN,
		hasValues: (column) => !!values[column],
	};
	known.set(s, grid);
	return grid;
}

function number(x: number): string {
	return Number.isNaN(x) ? "" : String(x);
}

/* Columns that readers see: the bounds of an interval are drawn with its share if they have no title. */
export function shownColumns(g: Grid): number[] {
	const hidden = (c: Column) => c.hidden || (!c.title && (c.name === "low" || c.name === "high"));
	return g.columns.map((_, i) => i).filter((i) => !hidden(g.columns[i]));
}

export function columnNamed(g: Grid, name: string): number {
	return g.columns.findIndex((c) => c.name === name || c.key === name);
}

/* The column with the shares of rows: that of a bar, or of the unit. */
export function shareColumn(g: Grid): number {
	const bar = g.columns.findIndex((c, i) => c.bar && g.hasValues(i));
	if (bar >= 0)
		return bar;
	return g.columns.findIndex((c, i) => (c.unit === "share" || c.role === "ratio") && g.hasValues(i));
}

export function nameColumn(g: Grid): number {
	const left = g.columns.findIndex((c, i) => c.left && !g.hasValues(i));
	return left >= 0 ? left : g.columns.findIndex((_, i) => !g.hasValues(i));
}
