/* SPDX-License-Identifier: GPL-2.0-or-later */
/* filters: the options that select samples. Uses: base, view. */
#ifndef ASSAY_CMD_LOAD_FILTERS_H
#define ASSAY_CMD_LOAD_FILTERS_H

#include "cmd/cli/command.h"
#include "view/filter.h"

struct filter_options {
	struct option_list comm, pid, tid, cpu, image, cgroup, label;
};

/* --comm, --pid, --tid, --cpu, --dso, --cgroup, --label, under their own heading. */
extern const struct option filter_option_table[];

/* The options own the lists of the filter. */
struct filter filters_chosen(const struct filter_options *o);
struct filter_list filters_list(const struct option_list *list);

#endif
