/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc_kernel: reports the mappings of the kernel and its modules (proc.h).
 */
#include "source/proc/proc.h"

#include "base/file/cache_dir.h"
#include "base/memory/vec.h"

#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct build_id proc_kernel_build_id(void)
{
	struct build_id id = {0};

	build_id_from_notes_file("/sys/kernel/notes", &id);
	return id;
}

#define CACHE_KIND "kernel"
#define CACHE_BYTES 16384
#define BOOT_ID_TEXT 40
#define KERNEL_CODE_NAME 128       /* KSYM_NAME_LEN of most kernels */
#define KERNEL_CODE_SIZE_MAX 65536 /* more than most BPF programs have */

struct range {
	uint64_t start, end;
};

/*
 * Parses a line "ffffffff81000000 T _text"; NULL: another kind of line.
 */
static const char *parse_symbol(char *line, uint64_t *address)
{
	char *end, *name;

	*address = strtoull(line, &end, 16);
	if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return NULL;
	name = end + 3;
	name[strcspn(name, " \t\n")] = '\0';
	return name;
}

/* Reads until _text is found; with `whole`, reads all symbols of the kernel itself. */
static void read_symbols(FILE *file, bool whole, struct range *r)
{
	char line[1024];

	while ((whole || !r->start) && fgets(line, sizeof(line), file) && !strchr(line, '[')) {
		uint64_t address;
		const char *name = parse_symbol(line, &address);

		if (!name || name[0] != '_')
			continue;
		if (!strcmp(name, "_text"))
			r->start = address;
		else if ((!strcmp(name, "_etext") || !strcmp(name, "_einittext")) &&
		         address > r->end)
			r->end = address;
	}
}

static bool boot_id(char text[BOOT_ID_TEXT])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool found = file && fgets(text, BOOT_ID_TEXT, file);

	if (file)
		fclose(file);
	if (found)
		text[strcspn(text, "\n")] = '\0';
	return found;
}

/*
 * Reads the cached end of the kernel; valid for this boot and if the kernel's start is unchanged.
 */
static bool find_kept(struct cache_dir *cache, const char *boot, struct range *r)
{
	int fd = cache_dir_find(cache, CACHE_KIND, boot);
	struct range kept;
	bool good = fd >= 0 && read(fd, &kept, sizeof(kept)) == sizeof(kept) &&
	            kept.start == r->start && kept.end > kept.start;

	if (fd >= 0)
		close(fd);
	if (good)
		r->end = kept.end;
	return good;
}

/*
 * The start and end of the kernel, including its start-up code, in which call chains of the idle
 * task begin. False if addresses are hidden (all 0) or unreadable. The start is near the beginning
 * of /proc/kallsyms. To find the end, the kernel must print megabytes, which takes half of a
 * recorder's start-up time, so the end is cached until the next boot.
 */
static bool kernel_range(struct range *r)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	struct cache_dir *cache = NULL;
	char boot[BOOT_ID_TEXT];
	bool kept;

	*r = (struct range){0};
	if (!file)
		return false;
	read_symbols(file, false, r);
	if (r->start && boot_id(boot))
		cache_dir_open(&cache, NULL); /* without a cache the search only takes longer */
	kept = cache && find_kept(cache, boot, r);
	if (r->start && !kept)
		read_symbols(file, true, r);
	if (cache && !kept && r->end > r->start &&
	    !cache_dir_keep(cache, CACHE_KIND, boot, r, sizeof(*r), NULL))
		cache_dir_trim(cache, CACHE_KIND, CACHE_BYTES);
	cache_dir_close(cache);
	fclose(file);
	return r->start && r->end > r->start;
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

/* True if a BPF program is loaded, as far as this user may see. */
static bool has_bpf_programs(void)
{
	struct {
		uint32_t start_id, next_id;
		uint64_t rest[15];
	} attr = {0};

	return !syscall(SYS_bpf, BPF_PROG_GET_NEXT_ID, &attr, sizeof(attr));
}

struct kernel_code_symbol {
	uint64_t address;
	bool bpf;
	char name[KERNEL_CODE_NAME];
};

static int compare_code(const void *pa, const void *pb)
{
	const struct kernel_code_symbol *a = pa, *b = pb;

	return a->address < b->address ? -1 : a->address > b->address;
}

/*
 * kallsyms has code that the kernel generated as modules of its own, without sizes. Between such
 * code is free memory, so that the next symbol ends it.
 */
static int deliver_code(const struct proc_scan *scan, const struct kernel_code_symbol *s,
                        uint64_t next, struct error *err)
{
	struct event e = {.kind = EVENT_KERNEL_CODE, .mode = CPU_MODE_KERNEL, .pid = -1};
	uint64_t size = next > s->address ? next - s->address : KERNEL_CODE_SIZE_MAX;

	e.kernel_code = (struct event_kernel_code){
	        .address = s->address,
	        .size = size < KERNEL_CODE_SIZE_MAX ? (uint32_t)size : KERNEL_CODE_SIZE_MAX,
	        .bpf = s->bpf,
	        .name = s->name};
	return scan->deliver(scan->ctx, &e, err);
}

static int scan_kernel_code(const struct proc_scan *scan, struct error *err)
{
	/* To print all symbols takes the kernel tens of milliseconds. */
	FILE *file = has_bpf_programs() ? fopen("/proc/kallsyms", "re") : NULL;
	VEC(struct kernel_code_symbol) found = {0};
	char line[1024];
	int status = 0;

	while (file && fgets(line, sizeof(line), file)) {
		const char *module = strchr(line, '['), *name;
		struct kernel_code_symbol s = {0};

		s.bpf = module && !strncmp(module, "[bpf]", 5);
		if (!s.bpf && !(module && !strncmp(module, "[__builtin__", 12)))
			continue;
		name = parse_symbol(line, &s.address);
		if (!name || !s.address)
			continue;
		snprintf(s.name, sizeof(s.name), "%s", name);
		vec_push(&found, s);
	}
	if (file)
		fclose(file);
	if (found.count)
		qsort(found.items, found.count, sizeof(*found.items), compare_code);
	for (size_t i = 0; !status && i < found.count; i++)
		status = deliver_code(scan, &found.items[i],
		                      i + 1 < found.count ? found.items[i + 1].address : 0, err);
	vec_done(&found);
	return status;
}

int proc_scan_kernel(const struct proc_scan *scan, bool *hidden, struct error *err)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_KERNEL, .pid = -1};
	struct range r;
	int status;

	*hidden = !kernel_range(&r);
	if (*hidden)
		return 0;
	e.mmap.addr = r.start;
	/* The same as perf: pgoff is the address of the symbol with which the name ends. */
	e.mmap.size = r.end - r.start;
	e.mmap.pgoff = e.mmap.addr;
	e.mmap.executable = true;
	e.mmap.build_id = proc_kernel_build_id();
	e.mmap.filename = "[kernel.kallsyms]_text";
	status = scan->deliver(scan->ctx, &e, err);
	if (!status)
		status = scan_modules(scan, err);
	return status ? status : scan_kernel_code(scan, err);
}
