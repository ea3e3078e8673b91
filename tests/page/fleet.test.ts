/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The selection of a page over a store on a server, in its address. */
import assert from "node:assert";
import { test } from "node:test";
import { Head } from "../../src/web/page/data/contract";
import { addressWith, rangeOf, rowAddress, selectionOf, timeBefore } from "../../src/web/page/model/fleet";

const list = {
	format: 1, assay: "", title: "", kind: "fleet",
	document: { sections: [{ kind: "facts", facts: [
		{ label: "from", text: "2026-11-24T19:00:00Z", verbatim: false },
		{ label: "until", text: "2026-11-24T20:00:00Z", verbatim: false },
	] }] },
} as Head;

test("only arguments that select go to the server", () => {
	assert.equal(selectionOf("?token=x&host=web1&from=-1h&other=1&until="), "&host=web1&from=-1h");
	assert.equal(selectionOf("?token=x"), "");
	assert.equal(selectionOf("?service=a%26b%3Dc"), "&service=a%26b%3Dc");
});

test("an empty argument is removed", () => {
	assert.equal(addressWith("?token=x&host=a", { host: "", service: "b" }), "?token=x&service=b");
});

test("the range is that of the address, else that of the list", () => {
	assert.deepEqual(rangeOf(list, ""), { from: "2026-11-24T19:00:00Z", until: "2026-11-24T20:00:00Z" });
	assert.deepEqual(rangeOf(list, "?from=-2h"), { from: "-2h", until: "" });
	assert.deepEqual(rangeOf(null, ""), { from: "", until: "" });
});

test("names of the list are links, words in brackets are not", () => {
	const address = (key: string, column: string, text: string) => rowAddress(list, key, column, text, "?token=x");
	assert.equal(address("hosts", "host", "db[1]"),
		"?token=x&from=2026-11-24T19%3A00%3A00Z&until=2026-11-24T20%3A00%3A00Z&show=report&host=db%5B1%5D");
	assert.equal(address("services", "service", "[no service]"), "");
	assert.equal(address("services", "share", "5 %"), "");
	assert.equal(address("cpus", "host", "a"), "");
	assert.equal(rowAddress({ ...list, kind: "samples" }, "hosts", "host", "a", ""), "");
});

test("the time before a range has its length", () => {
	assert.deepEqual(timeBefore("-1h", ""), { from_a: "-7200s", until_a: "-1h" });
	assert.deepEqual(timeBefore("-2h", "-30min"), { from_a: "-12600s", until_a: "-2h" });
	assert.deepEqual(timeBefore("2026-11-24T19:00:00Z", "2026-11-24T20:00:00Z"),
		{ from_a: "2026-11-24T18:00:00Z", until_a: "2026-11-24T19:00:00Z" });
	assert.equal(timeBefore("yesterday", ""), null);
	assert.equal(timeBefore("10:00", "11:00"), null);
	assert.equal(timeBefore("-1h", "-2h"), null);
});
