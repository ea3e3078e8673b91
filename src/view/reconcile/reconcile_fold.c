/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_fold.h"

#include <string.h>

/* The functions that the compiler calls at entries and exits. */
static bool is_hook(const char *name)
{
	return !strncmp(name, "__cyg_profile_func_", 19) || !strcmp(name, "__fentry__") ||
	       !strcmp(name, "mcount");
}

void reconcile_fold_step(struct reconcile_runs *t, struct reconcile_fold *f, uint32_t function,
                         const char *name)
{
	uint32_t counted = reconcile_counted(t, function);

	if (counted) {
		t->functions.items[counted].sampled = true;
		*f = (struct reconcile_fold){.function = counted};
	} else if (is_hook(name)) {
		f->hook = true;
	} else {
		f->folded = true;
	}
}

uint32_t reconcile_fold_row(struct reconcile_runs *t, const char *process,
                            const struct reconcile_fold *f)
{
	return reconcile_row(t, process, f->function ? f->function : reconcile_outside(t));
}

void reconcile_fold_add(struct reconcile_runs *t, uint32_t run, const char *process,
                        const struct reconcile_fold *f, double count, double cpu_ns)
{
	struct reconcile_sum *sum = reconcile_sum_of(t, run, reconcile_fold_row(t, process, f));

	if (f->hook) {
		t->idle_hooks = true;
		sum->cost_ns += cpu_ns;
		return;
	}
	sum->count += count;
	sum->cpu_ns += cpu_ns;
	if (f->folded)
		sum->folded_ns += cpu_ns;
}
