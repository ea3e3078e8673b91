/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * measure PAGE DIRECTORY [SAMPLES] [RUNS]: how fast a page of a generated recording is: from opening
 * to the first picture, and from the end of a drag to the drawn flame graph. bench/page calls it.
 */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CDPSession, Page } from "playwright-core";
import { pageWith } from "./blob_writer";
import { startBrowser } from "./browser";
import { makeBlob } from "./make_page";

const [pagePath, directory, count, times] = process.argv.slice(2);
const samples = +(count ?? 1e6), runs = +(times ?? 7);

function median(list: number[]): number {
	return [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
}

interface Times {
	wall: number; /* ms */
	cpu: number; /* of the page's main thread */
}

/* The CPU time of the page's main thread, in ms. */
async function used(session: CDPSession): Promise<number> {
	const { metrics } = await session.send("Performance.getMetrics");
	return 1000 * (metrics.find((m) => m.name === "TaskDuration")?.value ?? 0);
}

async function timed(session: CDPSession, run: () => Promise<number>): Promise<Times> {
	const before = await used(session), wall = await run(), after = await used(session);
	return { wall, cpu: after >= before ? after - before : after };
}

/* From the navigation to the frame that is on the screen after the first picture. */
async function opening(page: Page, url: string): Promise<number> {
	await page.goto("about:blank");
	await page.goto(url, { waitUntil: "commit" });
	return page.evaluate(() => new Promise<number>((done) => {
		const look = () => {
			const mark = performance.getEntriesByName("assay-first-picture")[0];
			if (mark && document.querySelector("#flame canvas"))
				requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0));
			else
				setTimeout(look, 2);
		};
		look();
	}));
}

/* From the release of the button to the drawn frame. */
async function dragging(page: Page, from: number, to: number): Promise<number> {
	const canvas = page.locator("#heatmap canvas");
	await canvas.scrollIntoViewIfNeeded();
	const b = (await canvas.boundingBox())!, y = b.y + b.height / 2;
	await page.mouse.move(b.x + b.width * from, y);
	await page.mouse.down();
	await page.mouse.move(b.x + b.width * to, y);
	await page.evaluate(() => {
		(window as any).dragged = new Promise<number>((done) => {
			addEventListener("pointerup", () => {
				const begin = performance.now();
				requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin), 0));
			}, { once: true, capture: true });
		});
	});
	await page.mouse.up();
	return page.evaluate(() => (window as any).dragged as Promise<number>);
}

async function measure(page: Page, session: CDPSession, url: string) {
	const open: Times[] = [], drag: Times[] = [], diff: Times[] = [];
	for (let i = 0; i < runs; i++)
		open.push(await timed(session, () => opening(page, url)));
	for (let i = 0; i < runs; i++) {
		await page.waitForTimeout(1000);
		drag.push(await timed(session, () => dragging(page, 0.05 + i * 0.02, 0.5 + i * 0.03)));
		await page.waitForTimeout(1000);
		await page.keyboard.down("Control");
		diff.push(await timed(session, () => dragging(page, 0.3 + i * 0.02, 0.6 + i * 0.03)));
		await page.keyboard.up("Control");
	}
	return { open, drag, diff };
}

async function main(): Promise<void> {
	const path = join(directory, "measured.html");
	writeFileSync(path, pageWith(readFileSync(pagePath, "utf8"), makeBlob(samples, false)));
	const { context, stop } = await startBrowser(1400, 1000);
	const page = await context.newPage(), session = await context.newCDPSession(page);
	await session.send("Performance.enable", { timeDomain: "threadTicks" });
	const { open, drag, diff } = await measure(page, session, "file://" + path);
	await stop();
	const row = (what: string, list: Times[], goal: string) => {
		const column = (values: number[]) => `${median(values).toFixed(0).padStart(7)} ms`;
		console.log(what.padEnd(42) + column(list.map((t) => t.wall)) + column(list.map((t) => t.cpu)) + "   " + goal);
	};
	console.log(`${samples} samples, ${runs} runs, page ${(statSync(path).size / 1e6).toFixed(1)} MB; medians`);
	console.log(`${"".padEnd(42)}      wall       CPU   (main thread)`);
	row("open to first picture", open, "goal 1000 ms");
	row("drag to flame graph", drag, "goal 200 ms");
	row("second drag to differential flame graph", diff, "");
}

main();
