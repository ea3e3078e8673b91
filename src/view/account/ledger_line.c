/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/account/ledger_line.h"

#include "base/text/figure.h"

#include <math.h>
#include <string.h>

struct ledger_term {
	const char *name, *wide; /* wide NULL: as `name` */
	double ns;
	bool known;
};

/* "-0.0" would be a riddle. */
static double rounded(double percent)
{
	return fabs(percent) < 0.05 ? 0 : percent;
}

void ledger_line(const struct account_view *a, unsigned width, struct buf *out)
{
	const struct account_terms *t = &a->total;
	bool machine = a->machine_wide;
	const struct ledger_term terms[] = {
	        {"user", NULL, (double)t->user_ns, true},
	        {"exit", "return from kernel", (double)t->exit_ns, t->exit_ns > 0},
	        {"kernel", NULL, (double)account_kernel_ns(t), true},
	        {"irq", "interrupts", (double)account_irq_ns(t), true},
	        {"idle", NULL, (double)t->idle_ns, machine},
	        {"runnable", NULL, (double)a->runnable_ns, !machine},
	        {"blocked", NULL, (double)a->blocked_ns, !machine},
	        {"unkn", "off CPU at the start", (double)t->unknown_ns, !machine && t->unknown_ns},
	        {"steal", NULL, (double)t->steal_ns, machine && a->has_steal},
	        {"unobs", "unobserved", (double)t->unobserved_ns, a->has_unobserved},
	        {"resid", "residual", (double)t->residual_ns, true},
	};

	/* The names of a process's terms are longer. */
	const char *gap = machine || width >= LEDGER_LINE_WIDE ? "  " : " ";

	if (!a->present || !t->wall_ns) {
		buf_puts(out, "there is no account of the time yet");
		return;
	}
	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		if (!terms[i].known)
			continue;
		buf_addf(out, "%s%s %.1f", i ? gap : "",
		         width >= LEDGER_LINE_WIDE && terms[i].wide ? terms[i].wide : terms[i].name,
		         rounded(100 * terms[i].ns / (double)t->wall_ns));
	}
	buf_puts(out, " %");
	if (width < LEDGER_LINE_WIDE)
		return;
	buf_puts(out, " of ");
	text_time(out, (int64_t)t->wall_ns);
	if (machine)
		buf_addf(out, " (%u CPUs)", a->cpus);
}
