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

/* Forms of the line, each shorter than the one before. */
enum { SHORT_NAMES = 1, SHORT_GAPS, NO_ZEROS, FORMS };

static void put_terms(const struct ledger_term *terms, size_t count, double wall_ns, int form,
                      struct buf *out)
{
	size_t start = out->size;

	for (size_t i = 0; i < count; i++) {
		double percent = rounded(100 * terms[i].ns / wall_ns);

		if (!terms[i].known || (form >= NO_ZEROS && percent == 0))
			continue;
		buf_addf(out, "%s%s %.1f",
		         out->size == start   ? ""
		         : form >= SHORT_GAPS ? " "
		                              : "  ",
		         form < SHORT_NAMES && terms[i].wide ? terms[i].wide : terms[i].name,
		         percent);
	}
	buf_puts(out, " %");
}

void ledger_line(const struct account_view *a, unsigned width, struct buf *out)
{
	const struct account_terms *t = &a->total;
	bool machine = a->machine_wide, wide = width >= LEDGER_LINE_WIDE;
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
	size_t start = out->size;

	if (!a->present || !t->wall_ns) {
		buf_puts(out, "there is no account of the time yet");
		return;
	}
	for (int form = wide ? 0 : SHORT_NAMES; form < FORMS; form++) {
		out->size = start;
		put_terms(terms, sizeof(terms) / sizeof(*terms), (double)t->wall_ns, form, out);
		if (wide || out->size - start <= width)
			break;
	}
	if (!wide)
		return;
	buf_puts(out, " of ");
	text_time(out, (int64_t)t->wall_ns);
	if (machine)
		buf_addf(out, " (%u CPUs)", a->cpus);
}
