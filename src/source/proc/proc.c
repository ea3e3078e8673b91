/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "source/proc/proc.h"

#include "base/memory/buf.h"
#include "base/memory/hash.h"
#include "source/proc/held_file.h"
#include "source/proc/proc_cgroup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A cache of build-ids by file, so that libc is opened once for all processes. */
struct known_file {
	uint64_t device, inode;
	struct build_id id;
};

struct known_files {
	VEC(struct known_file) files;
	struct id_table index;
};

static bool known_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct known_files *known = ctx;
	const struct known_file *a = &known->files.items[id], *b = key;

	return a->device == b->device && a->inode == b->inode;
}

static struct build_id mapped_build_id(const struct proc_scan *scan, struct known_files *known,
                                       int32_t tid, const struct event_mmap *map)
{
	struct known_file file = {.device = (uint64_t)map->major << 32 | map->minor,
	                          .inode = map->inode};
	uint64_t hash = hash_pair(file.device, file.inode);
	uint32_t at = id_table_find(&known->index, hash, known_equal, known, &file);

	if (at != ID_NONE)
		return known->files.items[at].id;
	held_file_build_id(scan->foreign, foreign_user(scan->foreign, tid), map, tid, &file.id);
	id_table_add(&known->index, hash, (uint32_t)known->files.count);
	vec_push(&known->files, file);
	return file.id;
}

/* Room for the fields of a line of /proc/PID/maps and a path. */
#define MAP_LINE_ROOM (PATH_MAX + 256)

/*
 * Reads the next line, truncated to the buffer. The rest of a longer line is skipped: the length of
 * a path has no limit, because directories can be created relative to each other.
 */
static bool read_map_line(FILE *maps, char line[MAP_LINE_ROOM])
{
	int c;

	if (!fgets(line, MAP_LINE_ROOM, maps))
		return false;
	if (!strchr(line, '\n'))
		do
			c = getc_unlocked(maps);
		while (c != '\n' && c != EOF);
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* Parses one line of /proc/PID/maps; the filename points into `line`. */
static bool parse_map(char *line, struct event_mmap *map, bool *cut)
{
	char perms[8];
	int path = 0;
	uint64_t end;

	*map = (struct event_mmap){0};
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &map->addr,
	           &end, perms, &map->pgoff, &map->major, &map->minor, &map->inode, &path) < 7)
		return false;
	map->size = end - map->addr;
	map->prot = (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0) |
	            (perms[2] == 'x' ? PROT_EXEC : 0);
	map->flags = perms[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	map->executable = perms[2] == 'x';
	*cut = path && strnlen(line + path, PATH_MAX) == PATH_MAX;
	if (*cut)
		line[path + PATH_MAX - 1] = '\0';
	map->filename = path && line[path] ? line + path : "//anon";
	return true;
}

/*
 * The bytes that the records of a process's mappings may still use, and counts of dropped mappings.
 */
struct map_room {
	size_t code, data;
	uint64_t cut_paths, dropped;
};

/* Returns true if the mapping is recorded, and subtracts the size of its record. */
static bool take_room(struct map_room *room, const struct event_mmap *map)
{
	size_t *left = map->executable ? &room->code : &room->data;
	size_t size = sizeof(*map) + strlen(map->filename);

	if (size > *left) {
		room->dropped++;
		return false;
	}
	*left -= size;
	return true;
}

static void count_left_out(const struct proc_scan *scan, const struct map_room *room)
{
	if (!scan->counts)
		return;
	scan->counts->cut_paths += room->cut_paths;
	scan->counts->dropped_mappings += room->dropped;
	scan->counts->dropped_processes += room->dropped != 0;
}

#define MAPS_MAX ((size_t)64 << 20) /* bytes of text, of one process */

/* Another thread can lock the memory of the process for as long as a file system blocks. */
static int read_maps(const void *in, size_t size, struct foreign_reply *reply)
{
	FILE *maps = fopen(in, "re");
	char bytes[16384];
	size_t got = 1, all = 0;

	if (!maps)
		return -errno;
	for (; got && all < MAPS_MAX; all += got) {
		got = fread(bytes, 1, sizeof(bytes), maps);
		foreign_reply_add(reply, bytes, got);
	}
	fclose(maps);
	return 0;
}

static FILE *open_maps(const struct proc_scan *scan, int32_t pid, int32_t tid, struct buf *text)
{
	char path[64];
	int size = snprintf(path, sizeof(path), "/proc/%d/task/%d/maps", pid, tid);

	if (foreign_call(scan->foreign, read_maps, foreign_user(scan->foreign, tid), FOREIGN_MS,
	                 path, (size_t)size + 1, text) ||
	    !text->size)
		return NULL;
	return fmemopen(text->data, text->size, "r");
}

/* Scans the mappings of a process through one of its threads; *found: there was at least one. */
static int scan_maps(const struct proc_scan *scan, struct known_files *known, int32_t pid,
                     int32_t tid, bool *found, struct error *err)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = pid, .tid = pid};
	struct map_room room = {.code = PROC_MAPPINGS_BYTES, .data = PROC_MAPPINGS_BYTES};
	struct buf text = {0};
	char line[MAP_LINE_ROOM];
	FILE *maps = open_maps(scan, pid, tid, &text);
	int status = 0;
	bool cut;

	while (maps && !status && read_map_line(maps, line)) {
		if (!parse_map(line, &e.mmap, &cut))
			continue;
		*found = true;
		if (!e.mmap.executable && !(scan->data_mappings && (e.mmap.prot & PROT_READ)))
			continue;
		if (!take_room(&room, &e.mmap))
			continue;
		room.cut_paths += cut;
		if (e.mmap.filename[0] == '/' && e.mmap.executable && e.mmap.inode)
			e.mmap.build_id = mapped_build_id(scan, known, tid, &e.mmap);
		status = scan->deliver(scan->ctx, &e, err);
	}
	count_left_out(scan, &room);
	if (maps)
		fclose(maps);
	buf_done(&text);
	return status;
}

int proc_map_at(struct foreign *foreign, int32_t pid, uint64_t address, struct event_mmap *map,
                struct buf *name)
{
	const struct proc_scan scan = {.foreign = foreign};
	struct buf text = {0};
	char line[MAP_LINE_ROOM];
	FILE *maps = open_maps(&scan, pid, pid, &text);
	bool found = false, cut;

	while (maps && !found && read_map_line(maps, line))
		found = parse_map(line, map, &cut) && address >= map->addr &&
		        address - map->addr < map->size;
	if (found) {
		name->size = 0;
		buf_puts(name, map->filename);
		map->filename = buf_text(name);
	}
	if (maps)
		fclose(maps);
	buf_done(&text);
	return found ? 0 : -ENOENT;
}

bool proc_thread_name(int32_t pid, int32_t tid, char name[PROC_NAME_SIZE])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, name, PROC_NAME_SIZE - 1);
	if (fd >= 0)
		close(fd);
	name[n > 0 ? n : 0] = '\0';
	name[strcspn(name, "\n")] = '\0';
	return n > 0;
}

static int scan_thread(const struct proc_scan *scan, int32_t pid, int32_t tid, struct error *err)
{
	struct event e = {.mode = CPU_MODE_USER, .pid = pid, .tid = tid};
	char comm[PROC_NAME_SIZE];
	int status = 0;

	if (!proc_thread_name(pid, tid, comm))
		return 0;
	if (pid != tid) {
		e.kind = EVENT_FORK;
		e.fork.parent_pid = e.fork.parent_tid = pid;
		status = scan->deliver(scan->ctx, &e, err);
	}
	if (status)
		return status;
	e.kind = EVENT_COMM;
	e.comm.name = comm;
	e.comm.exec = false;
	return scan->deliver(scan->ctx, &e, err);
}

/* Fields of /proc/PID/stat. */
struct proc_task {
	int32_t pid, parent;
	uint64_t start; /* ticks since boot */
	bool kernel;    /* a kernel thread */
};

/* Kernel threads are children of kthreadd, even if another parent is reported. */
#define KTHREADD 2
#define FLAG_KTHREAD 0x00200000u /* PF_KTHREAD */

static struct proc_task look_at(int32_t pid)
{
	struct proc_task task = {.pid = pid};
	char path[64], line[1024];
	const char *end = NULL;
	unsigned flags = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	/*
	 * The fields follow the name, which may contain anything, so the last parenthesis is
	 * searched.
	 */
	if (file && fgets(line, sizeof(line), file))
		end = strrchr(line, ')');
	if (end)
		sscanf(end + 1,
		       " %*c %" SCNd32 " %*d %*d %*d %*d %u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
		       "%*d %*d %*d %" SCNu64,
		       &task.parent, &flags, &task.start);
	if (file)
		fclose(file);
	task.kernel = flags & FLAG_KTHREAD;
	if (task.kernel && task.parent)
		task.parent = KTHREADD;
	return task;
}

static int parents_first(const void *pa, const void *pb)
{
	const struct proc_task *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->pid < b->pid ? -1 : a->pid > b->pid;
}

static int compare_pids(const void *pa, const void *pb)
{
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;

	return a < b ? -1 : a > b;
}

static int tell_parent(const struct proc_scan *scan, const struct proc_task *task,
                       struct error *err)
{
	struct event e = {
	        .kind = EVENT_FORK, .mode = CPU_MODE_USER, .pid = task->pid, .tid = task->pid};

	e.fork.parent_pid = e.fork.parent_tid = task->parent;
	e.fork.fresh = true;
	return scan->deliver(scan->ctx, &e, err);
}

static int scan_process(const struct proc_scan *scan, struct known_files *known, int32_t pid,
                        struct error *err)
{
	proc_ids tids = {0};
	bool found = false;
	int status;

	status = scan_thread(scan, pid, pid, err);
	proc_threads(pid, &tids);
	for (size_t i = 0; !status && i < tids.count; i++)
		if (tids.items[i] != pid)
			status = scan_thread(scan, pid, tids.items[i], err);
	/*
	 * After the first thread has exited, /proc/PID/maps is empty, but the other threads show
	 * the memory.
	 */
	if (!status)
		status = scan_maps(scan, known, pid, pid, &found, err);
	for (size_t i = 0; !status && !found && i < tids.count; i++)
		status = scan_maps(scan, known, pid, tids.items[i], &found, err);
	vec_done(&tids);
	return status;
}

int proc_scan_pids(const struct proc_scan *scan, const proc_ids *pids, struct error *err)
{
	struct proc_cgroup_place place = {.found = false};
	struct known_files known = {0};
	VEC(struct proc_task) tasks = {0};
	proc_ids sorted = {0};
	int status = 0;

	if (scan->cgroups)
		proc_cgroup_find(&place);
	vec_each (pid, pids) {
		vec_push(&tasks, look_at(*pid));
		vec_push(&sorted, *pid);
	}
	if (tasks.count) {
		qsort(tasks.items, tasks.count, sizeof(*tasks.items), parents_first);
		qsort(sorted.items, sorted.count, sizeof(*sorted.items), compare_pids);
	}
	for (size_t i = 0; !status && i < tasks.count; i++) {
		const struct proc_task *task = &tasks.items[i];

		if (task->parent && bsearch(&task->parent, sorted.items, sorted.count,
		                            sizeof(*sorted.items), compare_pids))
			status = tell_parent(scan, task, err);
		if (!status)
			status = scan_process(scan, &known, task->pid, err);
		if (!status)
			status = proc_cgroup_tell(&place, scan, task->pid, err);
	}
	vec_done(&tasks);
	vec_done(&sorted);
	vec_done(&known.files);
	id_table_done(&known.index);
	return status;
}

int proc_scan_all(const struct proc_scan *scan, struct error *err)
{
	proc_ids pids = {0};
	int status;

	proc_list(&pids, -1);
	status = proc_scan_pids(scan, &pids, err);
	vec_done(&pids);
	return status;
}

static void list_numbers(const char *path, proc_ids *ids, int64_t uid)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (uid >= 0 && (fstatat(dirfd(dir), entry->d_name, &st, 0) || st.st_uid != uid))
			continue;
		vec_push(ids, (int32_t)strtol(entry->d_name, NULL, 10));
	}
	if (dir)
		closedir(dir);
}

void proc_list(proc_ids *pids, int64_t uid)
{
	list_numbers("/proc", pids, uid);
}

void proc_threads(int32_t pid, proc_ids *tids)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	list_numbers(path, tids, -1);
}

void proc_children(int32_t pid, proc_ids *pids)
{
	proc_ids tids = {0};

	proc_threads(pid, &tids);
	vec_each (tid, &tids) {
		char path[64];
		int32_t child;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, *tid);
		file = fopen(path, "re");
		while (file && fscanf(file, "%" SCNd32, &child) == 1)
			vec_push(pids, child);
		if (file)
			fclose(file);
	}
	vec_done(&tids);
}

bool proc_has_ended(int32_t pid)
{
	proc_ids tids = {0};
	char path[64], line[512], *end;
	bool ended = true;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	/*
	 * The state follows the name, which may contain anything, so the last parenthesis is
	 * searched.
	 */
	if (file && fgets(line, sizeof(line), file) && (end = strrchr(line, ')')))
		ended = strlen(end) > 2 && (end[2] == 'Z' || end[2] == 'X');
	if (file)
		fclose(file);
	/* A first thread that has exited remains as a zombie while other threads run. */
	proc_threads(pid, &tids);
	ended = ended && tids.count <= 1;
	vec_done(&tids);
	return ended;
}
