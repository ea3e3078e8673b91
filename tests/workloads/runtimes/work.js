// SPDX-License-Identifier: GPL-2.0-or-later
// What Node programs do: parse, sort, match, recurse, hash, allocate. argv: seconds.
'use strict';
const crypto = require('crypto');
const zlib = require('zlib');

function parse(n) {
  const o = {};
  for (let i = 0; i < n; i++) o[i] = [i, i * 1.5, 'x'.repeat(i % 7)];
  return JSON.parse(JSON.stringify(o));
}
function match(text) {
  let sum = 0;
  for (const m of text.matchAll(/(\w+)-(\d+)/g)) sum += m[0].length;
  return sum;
}
function recurse(n) {
  return n < 2 ? n : recurse(n - 1) + recurse(n - 2);
}
function order(n) {
  const a = [];
  for (let i = 0; i < n; i++) a.push((i * 2654435761) % 4294967296);
  return a.sort((x, y) => y - x);
}
function squeeze(text) {
  return zlib.deflateSync(text).length + crypto.createHash('sha256').update(text).digest()[0];
}
function main(seconds) {
  const text = Array.from({length: 2000}, (_, i) => `word${i}-${i}`).join(' ');
  const end = Date.now() + seconds * 1000;
  let rounds = 0;
  while (Date.now() < end) {
    parse(2000);
    match(text);
    recurse(22);
    order(5000);
    squeeze(text);
    rounds++;
  }
  return rounds;
}
console.log(main(Number(process.argv[2])));
