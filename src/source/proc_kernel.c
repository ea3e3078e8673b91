/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc_kernel: the kernel's own mappings, as proc.h tells them. */
#include "source/proc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct build_id proc_kernel_build_id(void)
{
	struct build_id id = {0};

	build_id_from_notes_file("/sys/kernel/notes", &id);
	return id;
}

/*
 * Start and end of the kernel, with the code of its start-up, which idle call
 * chains begin in. False where addresses are hidden (all 0) or unreadable.
 */
static bool kernel_range(uint64_t *start, uint64_t *end)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512];
	uint64_t address;

	*start = *end = 0;
	if (file)
		setvbuf(file, NULL, _IOFBF, 1 << 16);
	while (file && fgets(line, sizeof(line), file) && !strchr(line, '[')) {
		if (sscanf(line, "%" SCNx64 " %*c %511s", &address, name) != 2)
			continue;
		if (!strcmp(name, "_text"))
			*start = address;
		else if ((!strcmp(name, "_etext") || !strcmp(name, "_einittext")) && address > *end)
			*end = address;
	}
	if (file)
		fclose(file);
	return *start && *end > *start;
}

static int scan_modules(const struct proc_scan *scan, struct error *err)
{
	FILE *file = fopen("/proc/modules", "re");
	char line[4096], name[128], path[256];
	int status = 0;

	while (file && !status && fgets(line, sizeof(line), file)) {
		struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_KERNEL, .pid = -1};
		uint64_t address = 0, size = 0;

		if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, name, &size, &address) !=
		            3 ||
		    !address)
			continue;
		snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id", name);
		e.mmap.build_id = (struct build_id){0};
		build_id_from_notes_file(path, &e.mmap.build_id);
		snprintf(path, sizeof(path), "[%s]", name);
		e.mmap.addr = address;
		e.mmap.size = size;
		e.mmap.executable = true;
		e.mmap.filename = path;
		status = scan->deliver(scan->ctx, &e, err);
	}
	if (file)
		fclose(file);
	return status;
}

int proc_scan_kernel(const struct proc_scan *scan, bool *hidden, struct error *err)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_KERNEL, .pid = -1};
	uint64_t end;
	int status;

	*hidden = !kernel_range(&e.mmap.addr, &end);
	if (*hidden)
		return 0;
	/* As perf writes it: pgoff is the address of the symbol that the name ends with. */
	e.mmap.size = end - e.mmap.addr;
	e.mmap.pgoff = e.mmap.addr;
	e.mmap.executable = true;
	e.mmap.build_id = proc_kernel_build_id();
	e.mmap.filename = "[kernel.kallsyms]_text";
	status = scan->deliver(scan->ctx, &e, err);
	return status ? status : scan_modules(scan, err);
}
