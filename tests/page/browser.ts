/* SPDX-License-Identifier: GPL-2.0-or-later */
/* browser: headless Chromium with an empty profile, for the tests and the measurements of the page. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BrowserContext, chromium } from "playwright-core";

const ARGUMENTS = [
	"--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
	"--disable-component-update", "--disable-sync",
];

export interface Started {
	context: BrowserContext;
	stop: () => Promise<void>;
}

export async function startBrowser(width: number, height: number): Promise<Started> {
	const profile = mkdtempSync(join(tmpdir(), "assay-page-"));
	const context = await chromium.launchPersistentContext(profile, {
		executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
		args: ARGUMENTS,
		viewport: { width, height },
		acceptDownloads: false,
	});
	return {
		context,
		stop: async () => {
			await context.close();
			rmSync(profile, { recursive: true, force: true });
		},
	};
}
