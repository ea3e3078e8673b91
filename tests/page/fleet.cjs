/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet URL: uses the page of `assay view` over a store on a server in headless Chromium: it follows the
 * link of a machine, and compares it with another machine by the fields. Prints a line of JSON:
 * {"hosts": the links of the list, "selected", "compared": kinds of the pages, "chips": of the machine's
 * page, "problems": messages of the console, which the policy of the page writes too}.
 */
const { chromium } = require("playwright-core");

async function kind(page) {
	await page.waitForSelector("header .note");
	return (await page.locator("header .note").first().innerText()).split(" ")[0];
}

async function use(url) {
	const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
	const page = await browser.newPage();
	const problems = [];
	const found = { problems };

	page.on("console", (m) => ["error", "warning"].includes(m.type()) && problems.push(m.text()));
	page.on("pageerror", (e) => problems.push(e.message));
	await page.goto(url);
	await kind(page);
	found.hosts = await page.locator('table[aria-label="Machines"] a').allInnerTexts();
	await page.click('table[aria-label="Machines"] a:text-is("web1")');
	await page.waitForSelector("#flame");
	found.selected = await kind(page);
	found.chips = (await page.locator("nav.fleet a.chip").allInnerTexts()).join("\n");
	await page.click("nav.fleet summary");
	await page.fill('nav.fleet input[name="host_a"]', "web2");
	await page.fill('nav.fleet input[name="from_a"]', "");
	await page.fill('nav.fleet input[name="until_a"]', "");
	await page.click('nav.fleet button:text-is("compare")');
	await page.waitForSelector('nav.fleet details[open]');
	found.compared = await kind(page);
	console.log(JSON.stringify(found));
	await browser.close();
}

use(process.argv[2]).catch((e) => {
	console.error(e);
	process.exit(1);
});
