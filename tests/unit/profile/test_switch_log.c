/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times off the CPU: each switch out is paired with the next switch in of its thread. */
#include "check.h"

#include "profile/ledger/switch_log.h"

static void absences_end_at_the_next_switch_in(void)
{
	struct switch_log l = {.wanted = true};

	switch_log_switch(&l, 2, 0, 5, false, false); /* it was not seen to leave */
	switch_log_switch(&l, 2, 0, 10, true, false);
	switch_log_switch(&l, 1, 1, 12, true, true);
	switch_log_switch(&l, 1, 0, 13, false, false);
	switch_log_switch(&l, 2, 1, 40, false, false);
	switch_log_switch(&l, 2, 1, 50, true, true);
	switch_log_exit(&l, 1);
	switch_log_switch(&l, 1, 0, 60, true, false); /* the end of the thread */
	switch_log_finish(&l);
	CHECK_EQ(l.absences.count, 3);
	CHECK_EQ(l.absences.items[0].thread, 1);
	CHECK_EQ(l.absences.items[0].out_ns, 12);
	CHECK_EQ(l.absences.items[0].in_ns, 13);
	CHECK_EQ(l.absences.items[0].cpu, 1);
	CHECK(l.absences.items[0].preempted);
	CHECK_EQ(l.absences.items[1].thread, 2);
	CHECK_EQ(l.absences.items[1].out_ns, 10);
	CHECK_EQ(l.absences.items[1].in_ns, 40);
	CHECK(!l.absences.items[1].preempted);
	CHECK_EQ(l.absences.items[2].out_ns, 50);
	CHECK_EQ(l.absences.items[2].in_ns, 0);
	switch_log_done(&l);
}

static void time_before_a_part_is_discarded(void)
{
	struct switch_log l = {.wanted = true};

	switch_log_switch(&l, 1, 0, 10, true, false);
	switch_log_switch(&l, 1, 0, 20, false, false);
	switch_log_switch(&l, 1, 0, 30, true, false);
	switch_log_switch(&l, 2, 0, 31, true, false);
	switch_log_discard(&l, 100);
	CHECK_EQ(l.absences.count, 0);
	switch_log_switch(&l, 1, 0, 150, false, false);
	switch_log_finish(&l);
	CHECK_EQ(l.absences.count, 2);
	CHECK_EQ(l.absences.items[0].out_ns, 100);
	CHECK_EQ(l.absences.items[0].in_ns, 150);
	CHECK_EQ(l.absences.items[1].out_ns, 100);
	switch_log_done(&l);
}

static void absences_beyond_the_limit_are_counted(void)
{
	struct switch_log l = {.wanted = true, .max = 3}, none = {0};

	for (uint64_t i = 1; i <= 5; i++) {
		switch_log_switch(&l, 0, 0, 10 * i, true, false);
		switch_log_switch(&l, 0, 0, 10 * i + 5, false, false);
		switch_log_switch(&none, 0, 0, 10 * i, i % 2, false);
	}
	switch_log_finish(&l);
	CHECK_EQ(l.absences.count, 3);
	CHECK_EQ(l.beyond, 2);
	CHECK_EQ(none.absences.count + none.open.count, 0);
	switch_log_done(&l);
}

int main(void)
{
	RUN(absences_end_at_the_next_switch_in);
	RUN(time_before_a_part_is_discarded);
	RUN(absences_beyond_the_limit_are_counted);
	return check_end();
}
