/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive PAGE DIRECTORY [STEP]: opens generated pages in headless Chromium and uses them as a reader does.
 * Prints a line of JSON for each step: {"step", "error"}; error is "" if the step passed. The
 * figures that the page shows are compared with those of the recording from which it was made.
 *
 * drive --look FILE: opens a page of assay, selects half of its time, and prints a line of JSON with
 * what the page shows: all samples, samples with "samples" as the value, those of the half, messages.
 */
import assert from "node:assert";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { AddressInfo } from "node:net";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { Page } from "playwright-core";
import { BlobWriter, pageWith } from "./blob_writer";
import { Started, startBrowser } from "./browser";
import { LONG, makeBlob, recording } from "./make_page";
import { head, Sample } from "./sample_data";
import { sampleWaits } from "./sample_waits";

const COUNT = 6000;
const [pagePath, directory, only] = process.argv.slice(2);
const bundle = pagePath === "--look" ? "" : readFileSync(pagePath, "utf8");
const samples = recording(COUNT, 1);
const busy = samples.filter((s) => s.pid !== 0);
const comma = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
const file = (name: string) => "file://" + join(directory, name);

function write(name: string, html: string): void {
	writeFileSync(join(directory, name), html);
}

/* Samples of busy CPUs between two steps of time. */
function between([from, to]: number[]): Sample[] {
	return busy.filter((s) => s.time >= from && s.time < to);
}

class Reader {
	readonly problems: string[] = [];

	constructor(readonly page: Page) {
		page.on("console", (m) => ["error", "warning"].includes(m.type()) && this.problems.push(m.text()));
		page.on("pageerror", (e) => this.problems.push(e.message));
		page.on("dialog", (d) => this.problems.push(`dialog ${d.message()}`));
		page.on("request", (r) => !/^(file|data):/.test(r.url()) && this.problems.push(r.url()));
	}

	async open(url: string): Promise<void> {
		await this.page.goto("about:blank");
		await this.page.goto(url);
		await this.page.waitForSelector("#selected", { state: "attached" });
	}

	text(selector: string): Promise<string> {
		return this.page.locator(selector).first().innerText();
	}

	async selected(): Promise<number> {
		return +(await this.text("#selected")).split(" ")[0].replaceAll(",", "");
	}

	hash(): Promise<URLSearchParams> {
		return this.page.evaluate(() => location.hash.slice(1)).then((h) => new URLSearchParams(h));
	}

	async stretch(name: string): Promise<number[]> {
		return ((await this.hash()).get(name) ?? "").split("-").map(Number);
	}

	/* Waits until a value is the expected one: the page draws in its own time. */
	async until<T>(what: string, get: () => Promise<T>, want: T): Promise<void> {
		let got: T = await get();
		for (let i = 0; i < 1200 && got !== want; i++) {
			await this.page.waitForTimeout(50);
			got = await get();
		}
		assert.ok(got === want, `${what}: ${got}, not ${want}`);
	}

	async box(selector: string) {
		const canvas = this.page.locator(selector);
		await canvas.scrollIntoViewIfNeeded();
		return (await canvas.boundingBox())!;
	}

	/* Drags in the heatmap between two parts of its width. */
	async drag(from: number, to: number): Promise<void> {
		const b = await this.box("#heatmap canvas"), y = b.y + b.height / 2;
		await this.page.mouse.move(b.x + b.width * from, y);
		await this.page.mouse.down();
		await this.page.mouse.move(b.x + b.width * (from + to) / 2, y);
		await this.page.mouse.move(b.x + b.width * to, y);
		await this.page.mouse.up();
	}

	async press(...keys: string[]): Promise<void> {
		for (const key of keys)
			await this.page.keyboard.press(key);
	}
}

type Step = (r: Reader, s: Started) => Promise<void>;

async function opens(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	assert.equal(await r.page.title(), "build.data – assay");
	assert.equal(await r.selected(), busy.length);
	for (const id of ["heatmap", "flame", "functions", "processes", "cpu-use", "code"])
		assert.equal(await r.page.locator(`#${id}`).count(), 1, id);
	assert.match(await r.text("#heatmap .note"), /the recording has steps of 512 ns; the page adds them up/);
	await r.page.getByLabel("idle").check();
	assert.equal(await r.selected(), COUNT);
}

async function totals(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	assert.match(await r.text("#functions tfoot tr"), new RegExp(`^${comma(busy.length)}\\s`));
	assert.match(await r.text("#processes tfoot tr"), new RegExp(`^${comma(busy.length)}\\s`));
	await r.page.getByLabel("table of the flame graph").click();
	assert.match(await r.text("#flame .behind tbody tr"), new RegExp(`^0\\s${comma(busy.length)}\\s100.0 %`));
	await r.page.getByLabel("table of the heatmap").click();
	await r.page.getByLabel("table of the CPU use").click();
}

async function names(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	assert.equal(await r.page.locator("img").count(), 0);
	const found = async (filter: string, what: string, want: string) => {
		await r.page.getByLabel("filter functions").fill(filter);
		const names_ = r.page.locator("#functions tbody .name");
		await r.until(what, async () => (await names_.allInnerTexts()).join(), want);
	};
	await found("img", "markup is text", "a</script><img src=x onerror=alert(1)>");
	await found("esc", "escapes are numbers", "esc\\x1b[31mred");
	await found("operator", "an operator", "operator<<");
	await found("push_back", "a long name", LONG);
	const width = await r.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert.ok(width <= 0, "long names do not widen the page");
}

async function searches(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	await r.press("/");
	await r.page.keyboard.type("^(hot|function_3.)$");
	const hits = busy.filter((s) => /(^|;)(hot|function_3.)@/.test(s.path)).length;
	await r.until("matched", () => r.text(".found").then((t) => t.split(/[ (,]+/).slice(3, 4).join()),
		comma(hits).split(",")[0]);
	assert.ok((await r.text(".found")).includes(`(${comma(hits)}, in`), await r.text(".found"));
	assert.equal((await r.hash()).get("search"), "^(hot|function_3.)$");
	await r.page.fill("#search", "a(");
	await r.until("a bad expression", () => r.text(".found"), "not a regular expression");
}

async function zooms(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	const b = await r.box("#flame canvas");
	await r.page.mouse.click(b.x + 20, b.y + 18 * 2 + 5);
	await r.page.waitForSelector("#flame .zoomed");
	assert.match(await r.text("#flame .zoomed"), /^main/);
	await r.page.mouse.move(b.x + 40, b.y + 18 * 2 + 6);
	assert.equal(await r.text(".tip strong"), "main");
	const tip = async () => /total\s+[\d,]+, [\d.]+ % \([\d.]+ % to [\d.]+ %\)\s+self/.test(await r.text(".tip dl"));
	await r.until("the interval in the tooltip", tip, true);
	assert.ok((await r.hash()).has("zoom"));
	await r.press("Escape");
	await r.until("no zoom", () => r.page.locator("#flame .zoomed").count(), 0);
}

async function drags(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	await r.drag(0.1, 0.4);
	const first = await r.stretch("first");
	await r.until("samples of the stretch", () => r.selected(), between(first).length);
	assert.ok(between(first).length > busy.length / 5 && between(first).length < busy.length / 2);
	await r.until("the total of the table", async () => (await r.text("#functions tfoot tr")).split(/\s/)[0],
		comma(between(first).length));
	await r.page.keyboard.down("Control");
	await r.drag(0.6, 0.9);
	await r.page.keyboard.up("Control");
	const second = await r.stretch("second");
	await r.until("samples of the second stretch", () => r.selected(), between(second).length);
	assert.equal(await r.text("#flame h2"), "Differential flame graph");
	assert.match(await r.text("#selected"), new RegExp(`compared with ${comma(between(first).length)} `));
	const b = await r.box("#heatmap canvas");
	await r.page.mouse.dblclick(b.x + 50, b.y + 30);
	await r.until("no stretch", () => r.selected(), busy.length);
}

async function links(r: Reader): Promise<void> {
	await r.open(file("a.html") + "#first=1000-900000&second=1000000-1900000&up=1&search=hot&process=0&theme=dark");
	const name = (await r.text("#selected ~ .chip")).split(" ")[0];
	const of = between([1000000, 1900000]).filter((s) => s.process === name).length;
	await r.until("samples of the linked view", () => r.selected(), of);
	assert.equal(await r.page.locator("#search").inputValue(), "hot");
	assert.equal(await r.page.evaluate(() => document.documentElement.dataset.theme), "dark");
	assert.match(await r.text("#flame .controls"), /bottom-up/);
}

async function keyboard(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	await r.page.locator("#flame canvas").focus();
	await r.press("ArrowDown", "ArrowDown", "ArrowDown");
	await r.until("the focused frame", () => r.text("#flame-status").then((t) => t.split(":")[0]), "main");
	await r.press("Enter");
	await r.page.waitForSelector("#flame .zoomed");
	await r.press("Escape");
	await r.until("no zoom", () => r.page.locator("#flame .zoomed").count(), 0);
	await r.page.locator("#heatmap canvas").focus();
	await r.press("ArrowRight", "ArrowRight", "Enter", "ArrowRight", "ArrowRight", "ArrowDown", "Enter");
	const first = await r.stretch("first");
	await r.until("samples of the stretch", () => r.selected(), between(first).length);
	await r.press("ArrowRight", "Control+Enter", "ArrowRight", "Enter");
	await r.until("a second stretch", () => r.text("#flame h2"), "Differential flame graph");
	await r.press("Escape", "Escape");
	await r.until("no stretch", () => r.selected(), busy.length);
}

async function neighbours(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	await r.page.locator("#functions tbody .name", { hasText: /^hot$/ }).click();
	const hits = busy.filter((s) => /(^|;)hot@/.test(s.path)).length;
	for (const side of [0, 1])
		assert.match(await r.page.locator(".neighbours tfoot tr").nth(side).innerText(),
			new RegExp(`^${comma(hits)}\\s+100.0 %`));
	await r.page.locator("#processes tbody .name").first().click();
	const name = (await r.text("#selected ~ .chip")).split(" ")[0];
	await r.until("one name", () => r.selected(), busy.filter((s) => s.process === name).length);
	await r.page.locator("#processes").getByLabel("rows").selectOption("processes");
	await r.until("a line for each process", () => r.page.locator("#processes tbody tr").count(),
		new Set(busy.filter((s) => s.process === name).map((s) => s.pid)).size);
}

async function tables(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	const part = r.page.locator("#report-1");
	const first = () => part.locator("tbody td").nth(4).innerText();
	assert.equal(await first(), "parse");
	await part.getByRole("button", { name: "function", exact: true }).click();
	await r.until("sorted by name", first, "a</script><img src=x onerror=alert(1)>");
	await part.getByRole("searchbox").fill("function_1");
	await r.until("filtered", () => part.locator("tbody tr").count(), 11);
	assert.match(await part.locator("tfoot").innerText(), /12 more[\s\S]*total/);
	const ends = await r.page.locator(".ledger").first().locator(".tone").evaluateAll((all) =>
		all.map((e) => [parseFloat((e as HTMLElement).style.left), parseFloat((e as HTMLElement).style.width)]));
	assert.ok(Math.abs(ends[11][0] + ends[11][1] - 100) < 0.01, "the bars of the ledger end at the total");
}

/* Tables that are drawn: the parts of the pictures have the sizes of the figures. */
async function bars(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	const heights = (tone: string) => r.page.locator(`main svg.bars rect.${tone}`).evaluateAll((all) =>
		all.map((e) => Math.round(+e.getAttribute("height")!)));
	assert.deepEqual(await heights("count"), [60, 120, 6]);
	assert.deepEqual(await heights("marked"), [2, 30, 6]);
	const widths = await r.page.locator(".pair b").evaluateAll((all) =>
		all.map((e) => Math.round(parseFloat((e as HTMLElement).style.width))));
	assert.deepEqual(widths, [83, 92, 42, 17]);
	const intervals = await r.page.locator(".pair u").evaluateAll((all) =>
		all.map((e) => [e.style.left, e.style.width].map((x) => Math.round(parseFloat(x)))));
	assert.deepEqual(intervals, [[75, 17], [83, 17], [38, 8], [15, 3]]);
	assert.match(await r.page.locator(".pair", { hasText: "alpha" }).innerText(), /agree/);
	assert.equal(await r.page.locator(".over path").first().getAttribute("d"), "M0 8V8H1V4H2V0H3V7H4V8Z");
	await r.page.getByLabel("table of the sampled and counted times").click();
	assert.equal(await r.page.locator(".behind thead th").count(), 4);
	assert.match(await r.page.locator(".behind tbody").innerText(), /beta<\/script>/);
}

async function shapes(r: Reader, s: Started): Promise<void> {
	await r.page.setViewportSize({ width: 390, height: 800 });
	await r.open(file("a.html"));
	const width = await r.page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
	assert.ok(width <= 0, `narrow: ${width} px too wide`);
	await r.page.setViewportSize({ width: 1200, height: 900 });
	await r.page.emulateMedia({ colorScheme: "dark" });
	await r.until("dark", () => r.page.evaluate(() => document.documentElement.dataset.theme!), "dark");
	await r.page.emulateMedia({ media: "print" });
	assert.equal(await r.page.locator("#flame").isVisible(), false);
	assert.equal(await r.page.locator(".ledger").first().isVisible(), true);
	await r.page.emulateMedia({ media: "screen" });
	assert.ok(s);
}

async function diffs(r: Reader): Promise<void> {
	await r.open(file("diff.html"));
	const old = recording(COUNT, 2, 1.4).filter((s) => s.pid !== 0);
	assert.equal(await r.text("#flame h2"), "Differential flame graph");
	assert.match(await r.text("#selected"), new RegExp(
		`^${comma(Math.round(busy.length / 3))} samples per run, compared with ${comma(Math.round(old.length / 3))} before`));
	assert.equal(await r.page.locator("#heatmap").count(), 0);
}

async function network(r: Reader): Promise<void> {
	await r.open(file("a.html"));
	const refused = await r.page.evaluate(() => new Promise((done) => {
		document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
		fetch("http://127.0.0.1:9/").catch(() => 0);
	}));
	assert.equal(refused, "connect-src");
	assert.ok(r.problems.length, "the browser reports the refusal");
	r.problems.length = 0;
}

async function messages(_: Reader, s: Started): Promise<void> {
	const say = async (name: string, before?: () => void) => {
		const page = await s.context.newPage();
		if (before)
			await page.addInitScript(before);
		await page.goto(file(name));
		await page.waitForFunction(() => !document.querySelector(".message")?.textContent?.includes("being read"));
		const text = await page.locator("#assay").innerText();
		await page.close();
		return text;
	};
	assert.match(await say("a.html", () => delete (window as any).DecompressionStream), /Browsers since 2023/);
	assert.match(await say("empty.html"), /has no data/);
	assert.match(await say("damaged.html"), /damaged/);
}

/* The server of `assay view`: the page without data, the data, and the events. */
async function live(r: Reader): Promise<void> {
	let count = 500, send: (event: string) => void = () => 0;
	const html = bundle.replace("connect-src 'none'", "connect-src 'self'").replace("<!--assay-data-->",
		`<script id="assay-data" data-format="1" data-url="data?token=1" data-events="events?token=1"></script>`);
	const server = createServer((request, answer) => {
		if (request.url!.startsWith("/data")) {
			answer.end(deflateSync(makeBlob(count, false)));
		} else if (request.url!.startsWith("/events")) {
			answer.writeHead(200, { "content-type": "text/event-stream" });
			send = (event) => answer.write(`event: ${event}\ndata:\n\n`);
			answer.flushHeaders();
		} else if (request.url === "/favicon.ico") {
			answer.writeHead(204).end();
		} else {
			answer.writeHead(200, { "content-type": "text/html" }).end(html);
		}
	});
	await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
	const of = (n: number) => recording(n, 1).filter((x) => x.pid !== 0).length;
	try {
		await r.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
		await r.until("samples at first", () => r.selected(), of(500));
		assert.equal(await r.text(".live"), "live");
		count = 900;
		send("update");
		await r.until("samples after an update", () => r.selected(), of(900));
		send("end");
		await r.until("the end", () => r.text(".live"), "the session ended");
	} finally {
		await r.page.goto("about:blank");
		server.closeAllConnections();
		server.close();
	}
	r.problems.splice(0, r.problems.length, ...r.problems.filter((p) => !p.includes("127.0.0.1")));
}

/* Zooms, explains a wait, ends the path in another thread, and opens the flame graph of wakers. */
async function waits(r: Reader): Promise<void> {
	await r.page.goto("about:blank");
	await r.page.goto(file("waits.html"));
	const b = await r.box("#waits canvas"), plot = b.width - 190, at = (ns: number) => b.x + 190 + (plot * ns) / 1000;
	assert.match(await r.text("#waits h3"), /What decided the 1.00 us of prog · main 1/);
	assert.match(await r.text("#waits tbody tr"), /30.0 %\s+300 ns\s+30 ns\s+worker\s+sleep\s+nanosleep\s+nap/);
	await r.page.mouse.click(at(300), b.y + 29);
	assert.match(await r.text("#wait"), /lock table_lock[^]*worker in release[^]*evidence: unlock[^]*take[^]*release/);
	await r.page.mouse.click(b.x + 30, b.y + 48);
	await r.until("the thread of the path", async () => (await r.hash()).get("ends"), "1");
	assert.match(await r.text("#waits table[aria-label^=what] tfoot"), /700 ns/);
	await r.page.mouse.move(at(100), b.y + 29);
	await r.page.mouse.down();
	await r.page.mouse.move(at(600), b.y + 29);
	await r.page.mouse.up();
	await r.until("a part of the time", async () => (await r.hash()).has("calls"), true);
	assert.match(await r.text("#waits-shown"), /^50[0-3] ns/);
	await r.page.getByLabel("table of the waits").click();
	assert.equal(await r.page.locator("#waits .behind tbody tr").count(), 2);
	await r.page.locator("#off-wake summary").click();
	assert.match(await r.text("#off-wake"), /800 ns in the time that the lanes show/);
}

const steps: Record<string, Step> = {
	opens, totals, names, searches, zooms, drags, links, keyboard, neighbours, tables, bars, shapes, diffs, network,
	messages, live, waits,
};

async function look(path: string): Promise<void> {
	const started = await startBrowser(1200, 900);
	started.context.setDefaultTimeout(60000);
	const r = new Reader(await started.context.newPage());
	await r.open("file://" + path + "#value=0&idle=1");
	const samples_ = await r.selected(), title = await r.page.title();
	await r.drag(0.25, 0.75);
	await r.page.waitForSelector("#heatmap .chip.first");
	const half = await r.selected(), frames = await r.page.locator("#flame canvas").count();
	console.log(JSON.stringify({ title, samples: samples_, half, frames, problems: r.problems }));
	await started.stop();
}

async function main(): Promise<void> {
	write("a.html", pageWith(bundle, makeBlob(COUNT, false)));
	write("diff.html", pageWith(bundle, makeBlob(COUNT, true)));
	const w = new BlobWriter();
	write("waits.html", pageWith(bundle, w.blob(head({ waits: sampleWaits(w) }))));
	write("empty.html", bundle);
	write("damaged.html", pageWith(bundle, makeBlob(100, false)).replace(/(data-format="1">.{200}).{9}/, "$1AAAAAAAAA"));
	const started = await startBrowser(1200, 900);
	started.context.setDefaultTimeout(60000);
	const reader = new Reader(await started.context.newPage());
	for (const [step, run] of Object.entries(steps)) {
		if (only && step !== only)
			continue;
		const begin = Date.now();
		let error = "";
		try {
			await run(reader, started);
			assert.deepEqual(reader.problems, [], "messages of the browser");
		} catch (e) {
			error = e instanceof Error ? e.message : String(e);
		}
		reader.problems.length = 0;
		console.log(JSON.stringify({ step, error, ms: Date.now() - begin }));
	}
	await started.stop();
}

if (pagePath === "--look")
	look(directory);
else
	main();
