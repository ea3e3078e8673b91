// SPDX-License-Identifier: GPL-2.0-or-later
// Loads files with the readers of other projects, and prints what they contain as JSON. Built by
// script/build-clients.
//
//     node load.cjs firefox FILE...
//     node load.cjs speedscope FILE...
import Module from 'module';
import { readFileSync } from 'fs';
import { basename } from 'path';

// Modules that these formats do not use are empty.
const unused = /^(devtools-reps|json-slabs|jfrview)/;
const load = (Module as any)._load;
(Module as any)._load = function (name: string, ...rest: unknown[]) {
  return unused.test(name) ? {} : load.call(this, name, ...rest);
};
Object.assign(globalThis, { window: globalThis, self: globalThis });

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);

async function firefox(file: string) {
  const { unserializeProfileOfArbitraryFormat } = require('firefox-reader');
  const p = await unserializeProfileOfArbitraryFormat(JSON.parse(readFileSync(file, 'utf8')), file);
  const threads: any[] = p.threads;
  return {
    version: p.meta.preprocessedProfileVersion,
    samples: sum(threads.map(t => t.samples.length)),
    weight: sum(threads.map(t => sum(t.samples.weight || []))),
    cpu_ns: sum(threads.map(t => sum(t.samples.threadCPUDelta || []))),
    markers: sum(threads.map(t => t.markers.length)),
    counters_ms: sum((p.counters || []).map((c: any) => sum(c.samples.count))),
  };
}

async function speedscope(file: string) {
  const { importProfilesFromArrayBuffer } = require('speedscope-reader');
  const bytes = readFileSync(file);
  const group = await importProfilesFromArrayBuffer(
    basename(file), bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  return group && group.profiles.map((p: any) =>
    ({ name: p.getName(), unit: p.getWeightUnit(), total: p.getTotalNonIdleWeight() }));
}

async function main() {
  const [client, ...files] = process.argv.slice(2);
  console.log = console.warn; // messages of the readers
  for (const file of files) {
    const found = await (client === 'firefox' ? firefox(file) : speedscope(file));
    process.stdout.write(JSON.stringify(found) + '\n');
  }
}

main().catch(error => { console.error(error); process.exit(1); });
