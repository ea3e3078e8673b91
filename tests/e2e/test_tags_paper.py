# SPDX-License-Identifier: GPL-2.0-or-later
"""test_tags_paper: reports like the tables of the first paper on profiling by event tags, from
captures of a device like the paper's (16-bit tags, a 24-bit clock of microseconds that wraps).

FIGURE3 has the paper's totals and its row of bcopy: elapsed 497272 us, 28060 tags, 98.99 %
run, 1.01 % idle; bcopy 166218 elapsed, 165343 net, 889 calls, (1089/185/2). Its other
rows, and FIGURE4 and FIGURE5, are this test's own numbers (device_paper makes them).
Rules: max/avg/min are of net times, averages are truncated, percentages rounded; elapsed excludes
the time switched out; % real is a share of elapsed, % net a share of the run time.
"""
from harness import main, test

from device_paper import figure3, figure4, figure5
from device_recorder import records
from device_truth import Against, imported

FIGURE3 = """
Elapsed time          497272 us  (28060 tags)
Accumulated run time  492250 us  (98.99 %)
Idle time               5022 us  ( 1.01 %)
Switches                  37     (swtch)
Profiled functions        18     (36 triggers)

Elapsed     Net  Calls  (max/avg/min)  % real  % net  Function
 166218  165343    889  (1089/185/2)    33.25  33.59  bcopy
 153489  153489    888  (332/172/14)    30.87  31.18  in_cksum
 198777   42180    444  (95/95/95)       8.48   8.57  tcp_input
  26730   26730   4455  (6/6/6)          5.38   5.43  splnet
 457171   26640    444  (60/60/60)       5.36   5.41  soreceive
  22275   22275   4455  (5/5/5)          4.48   4.53  splx
 222753   17760    444  (40/40/40)       3.57   3.61  ipintr
 151120   15540    444  (35/35/35)       3.13   3.16  weread
 160444    9324    444  (21/21/21)       1.88   1.89  weintr
   5328    5328    444  (12/12/12)       1.07   1.08  sbappend
   3996    3996    444  (9/9/9)          0.80   0.81  wakeup
   1225    1225     49  (25/25/25)       0.25   0.25  hardclock
 459593    1110     37  (30/30/30)       0.22   0.23  syscall
 458466     555     37  (15/15/15)       0.11   0.11  read
    444     444     37  (12/12/12)       0.09   0.09  tsleep
    740     296     37  (8/8/8)          0.06   0.06  sbwait
     15      15      1  (15/15/15)       0.00   0.00  softclock
"""

FIGURE4 = """
   0.000 000  -> read (22 us, 123 us)
   0.000 008    -> bread (21 us, 101 us)
   0.000 023      -> getblk (27 us, 34 us)
   0.000 045        -> splbio (3 us, 3 us)
   0.000 048        <- splbio
   0.000 048        -> splx (4 us, 4 us)
   0.000 052        <- splx
   0.000 057      <- getblk
   0.000 057      -> biowait (7 us, 21 us)
   0.000 061        -> tsleep (14 us, 14 us)
   0.000 070          -> swtch (0 us, 0 us)
   0.000 070  ---- Context switch out ---- process 1
   0.000 076  ---- Context switch in ---- process 2
   0.000 076  <- swtch [no entry was seen]
   0.000 081  <- pagein [no entry was seen]
   0.000 093  <- trap [no entry was seen]
   0.000 133  -> write (19 us, 32 us)
   0.000 144    == QUEUE_FULL
   0.000 144    -> pwait (13 us, 13 us)
   0.000 151      -> swtch (0 us, 0 us)
   0.000 151  ---- Context switch out ---- process 2
   0.000 451  -> wdintr (22 us, 43 us)
   0.000 469    -> biodone (11 us, 21 us)
   0.000 478      -> wakeup (10 us, 10 us)
   0.000 488      <- wakeup
   0.000 490    <- biodone
   0.000 494  <- wdintr
   0.000 497  ---- Context switch in ---- process 1, out 427 us
   0.000 497          <- swtch
   0.000 502        <- tsleep
   0.000 505      <- biowait
   0.000 505      -> hardclock (25 us, 25 us)
   0.000 530      <- hardclock
   0.000 536    <- bread
   0.000 550  <- read
   0.000 580  -> getpid (2 us, 2 us)
   0.000 582  <- getpid
   0.000 582  -> wait4 (9 us, 9 us)
   0.000 591    -> swtch (0 us, 0 us)
   0.000 591  ---- Context switch out ---- process 1
   0.000 611  -> hardclock (25 us, 25 us)
   0.000 636  <- hardclock
   0.000 641  ---- Context switch in ---- process 2, out 490 us
   0.000 641      <- swtch
   0.000 647    <- pwait
   0.000 655  <- write
   0.000 655    <- swtch [open at the end]
   0.000 655  <- wait4 [open at the end]
---- In the part that was read: 3 exits without their entries ----
"""

FIGURE5 = """
Elapsed time          38811 us  (1760 tags)
Accumulated run time  30375 us  (78.26 %)
Idle time              8436 us  (21.74 %)
Switches                  3     (swtch)
Profiled functions       18     (36 triggers)

Elapsed    Net  Calls  (max/avg/min)  % real  % net  Function
  15228  15228     62  (410/245/240)   39.24  50.13  bcopy
   6243   5157    181  (30/28/27)      13.29  16.98  pmap_enter
  23758   4575     61  (75/75/75)      11.79  15.06  vm_fault
   1159   1159     61  (19/19/19)       2.99   3.82  vm_object_shadow
   1086   1086    362  (3/3/3)          2.80   3.58  pmap_pte
  24612    854     61  (14/14/14)       2.20   2.81  trap
    671    671     61  (11/11/11)       1.73   2.21  vm_page_lookup
           427                          1.10   1.41  (outside)
    432    360      3  (120/120/120)    0.93   1.19  vnode_pager_getpage
   4455    315      9  (35/35/35)       0.81   1.04  vm_map_entry_copy
    174    132      3  (44/44/44)       0.34   0.43  wdintr
   4575    120      1  (120/120/120)    0.31   0.40  vmspace_fork
   5135     95      1  (95/95/95)       0.24   0.31  fork1
    465     55      1  (55/55/55)       0.14   0.18  cpu_fork
     42     42      3  (14/14/14)       0.11   0.14  tsleep
     42     42      3  (14/14/14)       0.11   0.14  wakeup
     72     30      3  (10/10/10)       0.08   0.10  biowait
   5162     27      1  (27/27/27)       0.07   0.09  syscall
"""


def capture(t, recorder):
    return imported(t, records(recorder.truth.events), recorder.names())


def equal_lines(t, got, want, what):
    """Line by line: a failure names the first difference."""
    got, want = got.rstrip("\n").split("\n"), want.strip("\n").split("\n")
    for number, (a, b) in enumerate(zip(got, want), 1):
        t.equal(a.rstrip(), b.rstrip(), f"{what}, line {number}")
    t.equal(len(got), len(want), f"{what}: lines")


@test
def a_tcp_receiver_is_reported_as_the_paper_did(t):
    recorder = figure3()
    t.equal(len(recorder.truth.events), 28060, "tags of the capture that was made")
    directory = capture(t, recorder)
    report = t.report(directory)
    Against(t, report, recorder.truth, "figure 3").all()
    t.equal((report["elapsed_ns"], report["tags"]), (497272000, 28060), "elapsed and tags")
    t.equal(f"{report['run_ns'] / report['elapsed_ns']:.4f}", "0.9899", "run")
    t.equal(f"{report['idle_ns'] / report['elapsed_ns']:.4f}", "0.0101", "idle")
    first = report["functions"][0]
    t.equal((first["function"], first["elapsed_ns"], first["net_ns"], first["calls"]),
            ("bcopy", 166218000, 165343000, 889), "the first row")
    t.equal((first["max_ns"], first["avg_ns"] // 1000, first["min_ns"]), (1089000, 185, 2000),
            "its calls")
    equal_lines(t, t.assay("report", "--percent-limit", "0", directory).out, FIGURE3, "the report")


@test
def a_fork_and_its_pager_are_reported_as_the_paper_did(t):
    recorder = figure5()
    directory = capture(t, recorder)
    Against(t, t.report(directory), recorder.truth, "figure 5").all()
    equal_lines(t, t.assay("report", "--percent-limit", "0", directory).out, FIGURE5, "the report")


@test
def a_code_path_has_context_switches_in_it_as_the_paper_had(t):
    recorder = figure4()
    directory = capture(t, recorder)
    Against(t, t.report(directory), recorder.truth, "figure 4").all()
    equal_lines(t, t.assay("tags", "trace", directory).out, FIGURE4, "the code path")


if __name__ == "__main__":
    main()
