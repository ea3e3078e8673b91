/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account in one line fits the screen, and no term is left out unless it is 0.0. */
#include "check.h"
#include "view/account/ledger_line.h"

#define MS 1000000

static void check_line(const struct account_view *a, unsigned width, const char *expected)
{
	struct buf text = {0};

	ledger_line(a, width, &text);
	CHECK_STR(buf_text(&text), expected);
	buf_done(&text);
}

static void the_line_fits_its_width(void)
{
	struct account_view a = {
	        .machine_wide = true,
	        .present = true,
	        .has_steal = true,
	        .has_unobserved = true,
	        .cpus = 2,
	        .total = {.wall_ns = 1000 * MS,
	                  .user_ns = 400 * MS,
	                  .other_ns = 516 * MS,
	                  .idle_ns = 23 * MS,
	                  .unobserved_ns = 17 * MS,
	                  .residual_ns = 44 * MS},
	};

	check_line(&a, 110,
	           "user 40.0  kernel 51.6  interrupts 0.0  idle 2.3  steal 0.0  unobserved 1.7"
	           "  residual 4.4 % of 1.000 s (2 CPUs)");
	check_line(&a, 80,
	           "user 40.0  kernel 51.6  irq 0.0  idle 2.3  steal 0.0  unobs 1.7  resid 4.4 %");
	a.total.exit_ns = 17 * MS;
	a.total.residual_ns = 27 * MS;
	check_line(
	        &a, 80,
	        "user 40.0 exit 1.7 kernel 51.6 irq 0.0 idle 2.3 steal 0.0 unobs 1.7 resid 2.7 %");
	check_line(&a, 70, "user 40.0 exit 1.7 kernel 51.6 idle 2.3 unobs 1.7 resid 2.7 %");
	check_line(&a, 10, "user 40.0 exit 1.7 kernel 51.6 idle 2.3 unobs 1.7 resid 2.7 %");
	a.total.wall_ns = 0;
	check_line(&a, 80, "there is no account of the time yet");
}

int main(void)
{
	RUN(the_line_fits_its_width);
	return check_end();
}
