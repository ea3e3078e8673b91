#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""make_profiles_corpus.py DIRECTORY: inputs for fuzz_profiles, profiles of other tools by hand."""
import os
import sys


def number(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 0x7f:
        out.append(v & 0x7f | 0x80)
        v >>= 7
    out.append(v)
    return bytes(out)


def field(key, v):
    """A number, bytes, or a message of pairs."""
    if isinstance(v, int):
        return number(key << 3) + number(v)
    if isinstance(v, list):
        v = b"".join(field(k, x) for k, x in v)
    return number(key << 3 | 2) + number(len(v)) + v


STRINGS = [b"", b"cpu", b"nanoseconds", b"/bin/work", b"main", b"work.c", b"inner",
           b"process.pid", b"thread.name", b"worker", b"process.executable.name", b"caf\xe9"]


def otlp(stack=2, extra=b"", strings=STRINGS, values=(30, 2), kind=((1, 1), (2, 2))):
    sample = [(1, stack), (2, number(1) + number(2) + number(3)),
              (4, b"".join(map(number, values)))]
    profile = [(1, list(kind)), (2, sample), (2, [(1, 1), (5, bytes(16))]), (4, 5), (6, 10)]
    resource = [(1, [(1, b"process.pid"), (2, [(3, 7)])])]
    data = field(1, [(1, resource), (2, [(2, profile)])])
    tables = field(1, b"") + field(1, [(1, 0x1000), (2, 0x9000), (3, 0x2000), (4, 3)])
    tables += field(2, b"") + field(2, [(1, 1), (2, 0x1010), (3, [(1, 1), (2, 9)])])
    tables += field(2, [(1, 1), (2, 0x1020), (3, [(1, 2), (2, 4)]), (3, [(1, 1), (2, 8)])])
    tables += field(2, [(2, 0x77)])
    tables += field(3, b"") + field(3, [(1, 4), (3, 5), (4, 3)]) + field(3, [(1, 6)])
    tables += field(4, b"") + b"".join(field(5, s) for s in strings)
    tables += field(6, b"") + field(6, [(1, 7), (2, [(3, -1)])])
    tables += field(6, [(1, 8), (2, [(8, 9)])]) + field(6, [(1, 10), (2, [(1, b"prog\0x")])])
    tables += field(7, b"") + field(7, [(1, number(1))]) + field(7, [(1, number(2) + number(1))])
    tables += field(7, [(1, number(3))])
    return data + field(2, tables) + extra


CALLGRIND = b"""# callgrind format
version: 1
creator: by hand
cmd: ./prog
positions: instr line
events: Ir Dr Dw Extra

ob=(1) /bin/prog
fl=(1) prog.c
fn=(1) main
0x10 5 100 3 2 9
+3 +1 5
cob=(2) /lib/libc.so
cfi=(2) libc.c
cfn=(2) operator<<
calls=3 0x40 7
* * 400 4
fi=(3) inline.h
+0 9 1
jump=4 0x20 6
fe=(1)
jcnd=1/2 0x20 6
-2 -1 7

fn=(2)
0x40 7 400 4
totals: 513
"""

CHROME = b"""{"displayTimeUnit":"ns","other":[{"x":[1,2,{"y":null}]},true,-1.5e3],"traceEvents":[
{"ph":"M","pid":1,"tid":2,"name":"process_name","args":{"name":"prog","deep":{"a":[1]}}},
{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"w\\u00e9\\ud83d\\ude00\\ud800"}},
{"ph":"B","pid":1,"tid":2,"ts":1.5,"name":"main"},
{"ph":"X","pid":1,"tid":2,"ts":2,"dur":3,"name":"a\\"\\\\b"},
{"ph":"X","pid":1,"tid":2,"ts":2,"dur":1.001,"name":"in a"},
{"ph":"X","pid":1,"tid":2,"ts":4,"dur":9e1,"name":"too long"},
{"ph":"E","pid":1,"tid":2,"ts":9},
{"ph":"E","pid":1,"tid":2,"ts":10},
{"ph":"B","pid":"p","tid":"q","ts":-5.25,"name":"open"},
{"ph":"C","pid":1,"ts":3,"name":"c","args":{"v":1}},
{"ph":"i","pid":1,"ts":3,"name":"i"}],"otherData":{"by":"x"}}"""

INPUTS = {
    "otlp": b"o" + otlp(),
    "otlp-cut": b"o" + otlp()[:120],
    "otlp-no-stack": b"o" + otlp(stack=9),
    "otlp-few-strings": b"o" + otlp(strings=STRINGS[:5]),
    "otlp-many-types": b"o" + otlp() + otlp(kind=((1, 4), (2, 2))) + otlp(kind=((1, 5), (2, 2)))
    + otlp(kind=((1, 6), (2, 2))) + otlp(kind=((1, 8), (2, 2))),
    "otlp-negative": b"o" + otlp(values=(-40,)),
    "folded": b"f# comment\nmain;f;g 3\nmain;f 2.5\n\nmain 1\r\n;;a;; 4\ncaf\xe9;operator<< 7",
    "folded-no-number": b"fmain;f 3\nmain;f x\n",
    "folded-large": b"fmain;f 99999999999999999999\n",
    "folded-sum": b"fmain;f 9223372036854775807\nmain;f 9223372036854775807\n",
    "folded-deep": b"f" + b";".join(b"f%d" % (i % 3) for i in range(60)) + b" 5\n",
    "callgrind": b"c" + CALLGRIND,
    "callgrind-cut": b"c" + CALLGRIND[:200],
    "callgrind-no-events": b"cfn=main\n1 2\n",
    "callgrind-no-name": b"cevents: Ir\nfn=(3)\n1 2\n",
    "callgrind-large-name": b"cevents: Ir\nfn=(99999999999) f\n1 2\n",
    "callgrind-no-position": b"cpositions: instr line\nevents: Ir\nfn=f\n1\n",
    "chrome": b"j" + CHROME,
    "chrome-array": b'j[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"},',
    "chrome-cut": b"j" + CHROME[:700],
    "chrome-large": b'j[{"ph":"X","ts":1e300,"dur":99999999999999999999,"pid":1,"name":"a"}]',
    "chrome-nested": b"j" + b'{"a":' + b"[" * 600,
    "chrome-none": b'j{"traceEvents":[]}',
    "chrome-bad-escape": b'j{"traceEvents":[{"ph":"\\q"}]}',
    "chrome-bad-unicode": b'j{"traceEvents":[{"ph":"\\u12x"}]}',
}

if __name__ == "__main__":
    for name, data in INPUTS.items():
        with open(os.path.join(sys.argv[1], name), "wb") as f:
            f.write(data)
