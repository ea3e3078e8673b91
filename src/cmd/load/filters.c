/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/load/filters.h"

#include "cmd/load/load.h"
#include "view/request.h"

const struct option filter_option_table[] = {
        {.kind = OPTION_GROUP, .help = "Filters: lists separated by commas"},
        {OPTION_LIST, 'c', "comm", "NAME", "processes or threads with these names",
         .is_no_value = load_is_calls, .needs = HAS_PROCESSES,
         .offset = offsetof(struct filter_options, comm)},
        {OPTION_LIST, 0, "pid", "PID", "these processes", .needs = HAS_PROCESSES,
         .offset = offsetof(struct filter_options, pid)},
        {OPTION_LIST, 0, "tid", "TID", "these threads", .needs = HAS_THREADS,
         .offset = offsetof(struct filter_options, tid)},
        {OPTION_LIST, 'C', "cpu", "CPU", "these CPUs: 0,2-3", .needs = HAS_CPUS,
         .offset = offsetof(struct filter_options, cpu)},
        {OPTION_LIST, 'd', "dso", "IMAGE", "samples in these files, by name or full path",
         .needs = HAS_IMAGES, .offset = offsetof(struct filter_options, image)},
        {OPTION_LIST, 0, "cgroup", "PATH",
         "processes in these cgroups and those below (record --all-cgroups)", .needs = HAS_CGROUPS,
         .offset = offsetof(struct filter_options, cgroup)},
        {OPTION_LIST, 0, "label", "NAME=GLOB",
         "processes with these labels: container.name=web*, k8s.pod.uid=*",
         .details = "Values are compared with a shell's pattern. Several names must all match; of "
                    "several patterns for a name, one. docs/AGENT.md lists the labels.",
         .needs = HAS_LABELS, .offset = offsetof(struct filter_options, label)},
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
	                       .cgroup = filters_list(&o->cgroup),
	                       .label = filters_list(&o->label)};
}
