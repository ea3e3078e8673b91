/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/filters.h"

#include "cmd/load/load.h"

const struct option filter_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Filters: lists separated by commas"},
        {.kind = OPTION_LIST,
         .letter = 'c',
         .name = "comm",
         .argument = "NAME",
         .help = "processes or threads with these names",
         .is_no_value = load_is_calls,
         .offset = offsetof(struct filter_options, comm)},
        {.kind = OPTION_LIST,
         .name = "pid",
         .argument = "PID",
         .help = "these processes",
         .offset = offsetof(struct filter_options, pid)},
        {.kind = OPTION_LIST,
         .name = "tid",
         .argument = "TID",
         .help = "these threads",
         .offset = offsetof(struct filter_options, tid)},
        {.kind = OPTION_LIST,
         .letter = 'C',
         .name = "cpu",
         .argument = "CPU",
         .help = "these CPUs: 0,2-3",
         .offset = offsetof(struct filter_options, cpu)},
        {.kind = OPTION_LIST,
         .letter = 'd',
         .name = "dso",
         .argument = "IMAGE",
         .help = "samples in these files, by name or full path",
         .offset = offsetof(struct filter_options, image)},
        {.kind = OPTION_LIST,
         .name = "cgroup",
         .argument = "PATH",
         .help = "processes in these cgroups and those below (record --all-cgroups)",
         .offset = offsetof(struct filter_options, cgroup)},
        {.kind = OPTION_END},
};

struct filter_list filters_list(const struct option_list *list)
{
	return (struct filter_list){list->items, list->count};
}

struct filter filters_chosen(const struct filter_options *o)
{
	return (struct filter){.comm = filters_list(&o->comm),
	                       .pid = filters_list(&o->pid),
	                       .tid = filters_list(&o->tid),
	                       .cpu = filters_list(&o->cpu),
	                       .image = filters_list(&o->image),
	                       .cgroup = filters_list(&o->cgroup)};
}
