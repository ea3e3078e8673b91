/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the files of a process in /proc: maps, stat, status, children, cgroup, and the list
 * of mounts. Events are within their bounds, and each of their texts ends. Names and paths in these
 * files are chosen by other users.
 */
#include "proc_texts.h"

#include "../../src/source/proc/proc.c"
#include "../../src/source/proc/proc_cgroup.c"
#include "../../src/source/runtime/runtime_owner.c"

#include "process/container.h"
#include "process/service_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const process_files[] = {"/maps",   "/stat",      "/status", "/children",
                                            "/cgroup", "/mountinfo", NULL};

struct seen_events {
	size_t code, data; /* bytes of mappings */
};

static int check_event(void *ctx, const struct event *e, struct error *err)
{
	struct seen_events *seen = ctx;
	size_t length;

	switch (e->kind) {
	case EVENT_MMAP:
		length = strlen(e->mmap.filename);
		if (!length || length >= PATH_MAX)
			abort();
		*(e->mmap.executable ? &seen->code : &seen->data) += sizeof(e->mmap) + length;
		if (seen->code > PROC_MAPPINGS_BYTES || seen->data > PROC_MAPPINGS_BYTES)
			abort();
		break;
	case EVENT_CGROUP:
		if (strchr(e->cgroup.path, '\n'))
			abort();
		break;
	case EVENT_COMM:
		if (strlen(e->comm.name) >= PROC_NAME_SIZE)
			abort();
		break;
	default:
		break;
	}
	return 0;
}

static void check_names(const char *cgroup)
{
	char *service = service_name(cgroup);
	struct container c = {0};

	if (strlen(service) > strlen(cgroup))
		abort();
	if (container_of_cgroup(&c, cgroup) && strlen(c.id) > CONTAINER_ID_MAX)
		abort();
	free(service);
}

static void check_map_at(uint64_t address)
{
	struct event_mmap map;
	struct buf name = {0};

	if (!proc_map_at(NULL, getpid(), address, &map, &name) &&
	    (address < map.addr || address - map.addr >= map.size ||
	     strlen(map.filename) != name.size))
		abort();
	buf_done(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct proc_cgroup_place place;
	struct seen_events seen = {0};
	struct proc_scan scan = {
	        .deliver = check_event, .ctx = &seen, .data_mappings = true, .cgroups = true};
	proc_ids pids = {0}, children = {0};
	uint64_t birth;
	int32_t parent;
	char *text;

	proc_texts_set(process_files, bytes, size);
	vec_push(&pids, getpid());
	proc_scan_pids(&scan, &pids, NULL);
	check_map_at(0x400000);
	proc_children(getpid(), &children);
	if (children.count > size)
		abort();
	proc_has_ended(getpid());
	proc_cgroup_find(&place);
	if (place.found && (strlen(place.root) >= sizeof(place.root) || !*place.mount))
		abort();
	runtime_owner_parent(getpid(), &parent, &birth);
	shared_thread_own(getpid(), getpid());
	text = xstrndup((const char *)proc_texts[4].bytes, proc_texts[4].size);
	check_names(text);
	free(text);
	vec_done(&pids);
	vec_done(&children);
	return 0;
}
