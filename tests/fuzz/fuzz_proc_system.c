/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the files of /proc and /sys that describe the machine: symbols and modules of the
 * kernel, CPU times, rights, limits of containers, mounts, locks, and sockets. Tables are within
 * their bounds, and each text ends.
 */
#include "proc_texts.h"

#include "../../src/base/file/file_in_use.c"
#include "../../src/base/read/served_mount.c"
#include "../../src/source/perf/cpu_stat.c"
#include "../../src/source/proc/block_devices.c"
#include "../../src/source/proc/proc_kernel.c"
#include "../../src/source/proc/rights.c"
#include "../../src/source/proc/rights_container.c"
#include "../../src/source/proc/socket_table.c"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *const system_files[] = {
        "/kallsyms", "/modules", "/proc/stat",  "/status", "/cgroup",    "/mounts", "/mountinfo",
        "/locks",    "/tcp6",    "/partitions", "cpu.max", "memory.max", NULL};

static int check_mapping(void *ctx, const struct event *e, struct error *err)
{
	size_t *mappings = ctx;

	if (e->kind != EVENT_MMAP || e->pid != -1 || !*e->mmap.filename)
		abort();
	++*mappings;
	return 0;
}

static void check_kernel(size_t size)
{
	size_t mappings = 0;
	struct proc_scan scan = {.deliver = check_mapping, .ctx = &mappings};
	struct range r = {0};
	bool hidden = false;
	FILE *file = fopen("/proc/kallsyms", "re");

	if (file) {
		read_symbols(file, true, &r);
		fclose(file);
	}
	scan_modules(&scan, NULL);
	proc_scan_kernel(&scan, &hidden, NULL);
	if (mappings > 2 * size + 1)
		abort();
}

static void check_machine(size_t size)
{
	struct account account = {0};
	struct cpu_stats stats = {0};
	struct rights r;
	struct stat st;
	pid_t holder = 0;

	cpu_stats_read(&stats);
	if (stats.cpus.count > size)
		abort();
	cpu_stats_done(&stats);
	rights_read_limits(&r);
	read_kallsyms(&r);
	rights_read_container(&r);
	if (r.cpu_quota < 0 || r.memory_bytes <= 0)
		abort();
	block_devices_list(&account);
	if (account.devices.count > BLOCK_DEVICES_MAX)
		abort();
	vec_each (device, &account.devices) {
		free(device->name);
		free(device->mount);
	}
	vec_done(&account.devices);
	if (!stat("/proc/self/exe", &st))
		look_at_list(&st, SOUGHT_ANY, &holder);
	if (holder < 0)
		abort();
}

static void check_mounts(void)
{
	char *line = NULL;
	size_t room = 0;
	FILE *file = fopen("/proc/self/mountinfo", "re");

	while (file && getline(&line, &room, file) > 0)
		if (is_served(line) && !strstr(line, "user_id="))
			abort();
	free(line);
	if (file)
		fclose(file);
}

static void check_sockets(size_t size)
{
	struct socket_table t = {0};

	/* As each kind of table. */
	read_table(&t, 1, "tcp6", add_internet);
	read_table(&t, 1, "tcp6", add_unix);
	if (t.sockets.count > size)
		abort();
	vec_each (socket, &t.sockets)
		if (!socket_table_find(&t, socket->inode) || strchr(socket->text, '\n'))
			abort();
	socket_table_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	proc_texts_set(system_files, bytes, size);
	check_kernel(size);
	check_machine(size);
	check_mounts();
	check_sockets(size);
	return 0;
}
