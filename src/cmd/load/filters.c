/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/filters.h"

#include "cmd/load/load.h"
#include "view/request.h"

const struct option filter_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Filters: lists separated by commas"},
        {.kind = OPTION_LIST,
         .letter = 'c',
         .name = "comm",
         .argument = "NAME",
         .help = "processes or threads with these names",
         .is_no_value = load_is_calls,
         .needs = HAS_PROCESSES,
         .offset = offsetof(struct filter_options, comm)},
        {.kind = OPTION_LIST,
         .name = "pid",
         .argument = "PID",
         .help = "these processes",
         .needs = HAS_PROCESSES,
         .offset = offsetof(struct filter_options, pid)},
        {.kind = OPTION_LIST,
         .name = "tid",
         .argument = "TID",
         .help = "these threads",
         .needs = HAS_THREADS,
         .offset = offsetof(struct filter_options, tid)},
        {.kind = OPTION_LIST,
         .letter = 'C',
         .name = "cpu",
         .argument = "CPU",
         .help = "these CPUs: 0,2-3",
         .needs = HAS_CPUS,
         .offset = offsetof(struct filter_options, cpu)},
        {.kind = OPTION_LIST,
         .letter = 'd',
         .name = "dso",
         .argument = "IMAGE",
         .help = "samples in these files, by name or full path",
         .needs = HAS_IMAGES,
         .offset = offsetof(struct filter_options, image)},
        {.kind = OPTION_LIST,
         .name = "cgroup",
         .argument = "PATH",
         .help = "processes in these cgroups and those below (record --all-cgroups)",
         .needs = HAS_CGROUPS,
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
