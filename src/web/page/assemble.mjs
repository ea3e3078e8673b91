// SPDX-License-Identifier: GPL-2.0-or-later
// assemble.mjs SOURCES WORK OUT: puts the bundled script and style into the template. The policy of
// the page permits these scripts alone, by their hashes. Fails if the page would be too large.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

const SIZE_MAX = 200 * 1000;
const [sources, work, out] = process.argv.slice(2);
const read = (path) => readFileSync(path, "utf8").trim();

// A script in a page ends at the first "</script", also within a text of it.
const script = (path) => read(path).replace(/<\/(?=script)/gi, "<\\/").replaceAll("<!--", "<\\!--");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const parts = {
	old: script(`${work}/old.js`),
	script: script(`${work}/page.js`),
	licence: read(`${sources}/../../../LICENSES/preact-uplot.txt`).replaceAll("--", "-"),
	style: read(`${work}/css/uPlot.min.css`) + read(`${work}/css/style.css`),
};
parts.hashes = [parts.old, parts.script].map(hash).join(" ");

const page = readFileSync(`${sources}/template.html`, "utf8").replace(/@(\w+)@/g, (_, name) => parts[name]);
if (page.split("<!--assay-data-->").length !== 2)
	throw new Error("The page must have one place for the data.");
if (Buffer.byteLength(page) > SIZE_MAX)
	throw new Error(`The page has ${Buffer.byteLength(page)} bytes, more than ${SIZE_MAX}.`);
writeFileSync(out, page);
console.log(`${out}: ${Buffer.byteLength(page)} bytes`);
