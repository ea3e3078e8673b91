/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * follow URL: opens the page of `assay view` in headless Chromium. Prints a line of JSON at the start and
 * each time the page shows other data, until it is killed: {"samples", "problems"}. `samples` is the number
 * in the summary, `problems` are messages of the console, which the policy of the page writes too.
 */
const { chromium } = require("playwright-core");

const LOOK_MS = 100;
let ending = false;

async function follow(url) {
	const browser = await chromium.launch({
		executablePath: "/usr/bin/chromium",
		args: ["--no-sandbox"],
		handleSIGTERM: false,
	});
	const page = await browser.newPage();
	const problems = [];
	let shown = "";

	process.on("SIGTERM", async () => {
		ending = true;
		await browser.close();
		process.exit(0);
	});
	page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
	page.on("pageerror", (e) => problems.push(e.message));
	await page.goto(url);
	for (;;) {
		const text = await page.evaluate(() => document.body.innerText);
		const samples = /([\d,]+) samples? of /.exec(text);
		const line = JSON.stringify({ samples: samples && Number(samples[1].replaceAll(",", "")), problems });

		if (samples && line !== shown)
			console.log(line);
		shown = line;
		await page.waitForTimeout(LOOK_MS);
	}
}

follow(process.argv[2]).catch((e) => {
	if (!ending)
		console.error(e);
	process.exit(ending ? 0 : 1);
});
