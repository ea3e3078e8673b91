# SPDX-License-Identifier: GPL-2.0-or-later
"""Sampled addresses are compared with the instructions of the programs. Every sampled user address
in loop, call and btree is the first byte of an instruction (by objdump). All addresses of loop are
in its loop, and the shares of the two functions of call follow from its iteration counts.
"""

import math

from harness import main, test_of_shares
from programs import Code, comment, number, record, rows, workdir, workload

RATE = "4999"


def addresses(program, *args):
    """Samples by address in a program's own code, and the number of all its user samples."""
    with workdir() as work:
        path = f"{work}/perf.data"
        record(path, "-F", RATE, "--", workload(program), *args)
        found = {}
        user = 0
        for row in rows(path, "instance,image,address,mode", "--comm", program):
            if row["mode"] != "user":
                continue
            user += row["samples"]
            if row["image"].endswith("/" + program):
                address = number(row["address"])
                found[address] = found.get(address, 0) + row["samples"]
    return found, user


def assert_boundaries(program, found):
    code = Code(workload(program))
    wrong = {hex(a): n for a, n in found.items() if a not in code.instructions}
    assert not wrong, f"not the first byte of an instruction: {wrong}"
    return code


@test_of_shares
def loop_lies_in_its_loop(t):
    found, user = addresses("loop", "900")
    code = assert_boundaries("loop", found)
    total = sum(found.values())
    comment(f"loop: {total} samples on {len(found)} addresses, {user} in user mode")
    assert total >= 2000, f"only {total} samples"
    assert total >= 0.98 * user, f"{user - total} user samples outside the program"
    loops = code.loops("loop_body")
    assert len(loops) == 1, f"loop_body has {len(loops)} loops"
    first, last = loops[0]
    outside = {hex(a): n for a, n in found.items() if not first <= a <= last}
    # Code that runs once, before and after the loop, takes a microsecond, or a page fault.
    assert sum(outside.values()) <= 2, f"outside the loop {first:#x}-{last:#x}: {outside}"


def split_of_call(inner, outer):
    found, _ = addresses("call", "500", str(inner), str(outer))
    code = assert_boundaries("call", found)

    def within(name):
        low, high = code.functions[name]
        return sum(n for a, n in found.items() if low <= a < high)

    n_inner, n_outer = within("call_inner"), within("call_outer")
    total = n_inner + n_outer
    assert total >= 0.99 * sum(found.values()), "samples outside the two functions"
    share, truth = n_inner / total, inner / (inner + outer)
    # Five standard errors (once in two million times), and 10 of the 2400 cycles of a round for
    # call, return and the ends of the loops, which are not part of the iteration counts.
    bound = 5 * math.sqrt(truth * (1 - truth) / total) + 10 / (12 * (inner + outer))
    comment(f"call: {share:.4f} of {total} samples in the inner function, truth {truth:.4f}, "
            f"bound {bound:.4f}")
    assert total >= 2000, f"only {total} samples"
    assert abs(share - truth) <= bound, f"{share:.4f} is not {truth:.4f} within {bound:.4f}"


@test_of_shares
def call_follows_iteration_counts(t):
    split_of_call(140, 60)


@test_of_shares
def call_follows_other_counts(t):
    split_of_call(30, 170)


@test_of_shares
def btree_on_boundaries(t):
    found, _ = addresses("btree", "2")
    code = assert_boundaries("btree", found)
    total = sum(found.values())
    named = 0
    for name in ("btree_find_slot", "btree_insert", "btree_lookup", "btree_node_new", "btree_split",
                 "main"):
        low, high = code.functions[name]
        named += sum(n for a, n in found.items() if low <= a < high)
    comment(f"btree: {total} samples on {len(found)} addresses")
    assert total >= 2000, f"only {total} samples"
    # The rest: growing the root, the start of the program.
    assert named >= 0.99 * total, f"{total - named} samples outside btree's functions"


if __name__ == "__main__":
    main()
