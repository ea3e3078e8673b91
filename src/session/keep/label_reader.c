/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/label_reader.h"

#include "base/read/json_read.h"
#include "base/read/regular_file.h"
#include "format/otlp/process_context.h"
#include "process/process_labels.h"
#include "source/proc/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#define MAPS_BYTES ((size_t)8 << 20) /* of /proc/PID/maps */
#define MAPS_CHUNK ((size_t)32 << 10)
#define PAGES_MAX 4 /* mappings with the name that are looked at */
#define TRIES 4
#define LINKS_MAX 65536
#define HOST_ROOT "/proc/1/root"

/* ---- the page of a process: these functions run in the other process ------ */

struct page_request {
	int32_t pid;
	struct label_page known;
};

static bool read_memory(int32_t pid, uint64_t address, void *into, size_t size)
{
	struct iovec local = {into, size}, remote = {(void *)(uintptr_t)address, size};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Reads header, payload, and the header again: equal times prove that both belong together. */
static int read_once(int32_t pid, struct label_page *page, uint64_t known_ns, char *room,
                     size_t *size)
{
	uint8_t bytes[PROCESS_CONTEXT_HEADER], again[PROCESS_CONTEXT_HEADER];
	struct process_context_header h;

	if (!read_memory(pid, page->address, bytes, sizeof(bytes)))
		return errno == EPERM || errno == ESRCH ? -errno : -ENOENT;
	if (!process_context_header(&h, bytes))
		return -ENOENT;
	page->time_ns = h.time_ns;
	if (!h.time_ns)
		return -EAGAIN;
	if (h.time_ns == known_ns)
		return -EALREADY;
	if (h.size && !read_memory(pid, h.address, room, h.size))
		h.size = UINT32_MAX;
	if (!read_memory(pid, page->address, again, sizeof(again)) ||
	    memcmp(bytes, again, sizeof(bytes)) != 0)
		return -EAGAIN;
	*size = h.size;
	return h.size == UINT32_MAX ? -EFAULT : 0;
}

static int read_page(int32_t pid, struct label_page *page, uint64_t known_ns, char *room,
                     size_t *size)
{
	int status = -EAGAIN;

	for (int i = 0; i < TRIES && status == -EAGAIN; i++)
		status = read_once(pid, page, known_ns, room, size);
	return status;
}

/* Looks at the lines of one piece of maps. Returns the size of the rest without a line's end. */
static size_t find_in(char *bytes, size_t size, uint64_t *pages, size_t *count)
{
	char *line = bytes, *end;

	while ((end = memchr(line, '\n', size - (size_t)(line - bytes)))) {
		*end = '\0';
		if (*count < PAGES_MAX && process_context_mapping(line, &pages[*count]))
			(*count)++;
		line = end + 1;
	}
	size -= (size_t)(line - bytes);
	memmove(bytes, line, size);
	return size;
}

static int find_pages(int32_t pid, uint64_t *pages, size_t *count)
{
	char path[48], bytes[MAPS_CHUNK];
	size_t rest = 0, total = 0;
	ssize_t got = 0;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/maps", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	while (total < MAPS_BYTES && (got = read(fd, bytes + rest, sizeof(bytes) - rest)) > 0) {
		total += (size_t)got;
		rest = find_in(bytes, rest + (size_t)got, pages, count);
		if (rest == sizeof(bytes))
			rest = 0; /* no line is so long */
	}
	if (got < 0)
		got = -errno;
	close(fd);
	return got > 0 && !*count ? -ENAMETOOLONG : got < 0 ? (int)got : 0;
}

static int ask_page(const void *in, size_t in_size, struct foreign_reply *reply)
{
	const struct page_request *r = in;
	char *room = foreign_reply_room(reply);
	struct label_page page = r->known;
	uint64_t pages[PAGES_MAX];
	size_t size = 0, count = 0;
	int status = -ENOENT;

	if (page.address)
		status = read_page(r->pid, &page, r->known.time_ns, room + sizeof(page), &size);
	if (status == -ENOENT) {
		status = find_pages(r->pid, pages, &count);
		status = status ? status : -ENOENT;
		for (size_t i = 0; i < count && status == -ENOENT; i++) {
			page = (struct label_page){pages[i], 0};
			status = read_page(r->pid, &page, 0, room + sizeof(page), &size);
		}
	}
	if (status)
		return status;
	memcpy(room, &page, sizeof(page));
	foreign_reply_filled(reply, sizeof(page) + size);
	return 0;
}

_Static_assert(sizeof(struct label_page) + PROCESS_CONTEXT_BYTES <= FOREIGN_ROOM, "a reply fits");

int label_reader_page(struct foreign *f, int32_t pid, struct label_page *page, struct buf *payload)
{
	struct page_request r = {pid, *page};
	int status;

	buf_clear(payload);
	status =
	        foreign_call(f, ask_page, foreign_user(f, pid), FOREIGN_MS, &r, sizeof(r), payload);
	if (status || payload->size < sizeof(*page))
		return status ? status : -EIO;
	memcpy(page, payload->data, sizeof(*page));
	payload->size -= sizeof(*page);
	memmove(payload->data, payload->data + sizeof(*page), payload->size);
	return 0;
}

/* ---- files --------------------------------------------------------------- */

struct file_request {
	int32_t pid;
	char path[PATH_MAX];
};

static int ask_file(const void *in, size_t in_size, struct foreign_reply *reply)
{
	const struct file_request *r = in;
	char *room;
	ssize_t got;
	int fd = mapped_file_open_path(r->path, r->pid);

	if (fd < 0)
		return fd;
	room = foreign_reply_room(reply);
	got = regular_file_read(fd, room, LABEL_FILE_BYTES + 1);
	close(fd);
	if (got < 0)
		return (int)got;
	if (got > (ssize_t)LABEL_FILE_BYTES)
		return -EFBIG;
	foreign_reply_filled(reply, (size_t)got);
	return 0;
}

static int read_file(struct foreign *f, uint32_t user, int32_t pid, const char *path,
                     struct buf *bytes)
{
	struct file_request r = {.pid = pid};
	size_t length = strlen(path);

	buf_clear(bytes);
	if (length >= sizeof(r.path))
		return -ENAMETOOLONG;
	memcpy(r.path, path, length + 1);
	return foreign_call(f, ask_file, user, FOREIGN_MS, &r,
	                    offsetof(struct file_request, path) + length + 1, bytes);
}

int label_reader_file(struct foreign *f, int32_t pid, const char *path, struct buf *bytes)
{
	return read_file(f, foreign_user(f, pid), pid, path, bytes);
}

bool label_reader_container(int32_t pid, struct container *c)
{
	char path[48], *line = NULL;
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRId32 "/cgroup", pid);
	file = fopen(path, "re");
	while (!found && file && getline(&line, &room, file) > 0) {
		char *group = strchr(line, ':');

		group = group ? strchr(group + 1, ':') : NULL;
		line[strcspn(line, "\n")] = '\0';
		found = group && container_of_cgroup(c, group + 1);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* ---- names --------------------------------------------------------------- */

static void add(struct labels *out, const char *key, const char *value, size_t size)
{
	labels_add(out, key, strlen(key), value, size);
}

bool label_reader_log_name(const char *link, struct labels *out)
{
	const char *space = strchr(link, '_'), *name = space ? strchr(space + 1, '_') : NULL;
	size_t length = name ? strlen(name) : 0, tail = 1 + CONTAINER_ID_DIGITS + 4;

	if (!name || length < tail + 2 || name[length - tail] != '-')
		return false;
	add(out, LABEL_POD_NAME, link, (size_t)(space - link));
	add(out, "k8s.namespace.name", space + 1, (size_t)(name - space - 1));
	add(out, "k8s.container.name", name + 1, length - tail - 1);
	add(out, LABEL_CONTAINER_NAME, name + 1, length - tail - 1);
	return true;
}

/* The name of the kubelet's link to the log of a container. */
static int ask_link(const void *in, size_t in_size, struct foreign_reply *reply)
{
	DIR *logs = opendir(HOST_ROOT "/var/log/containers");
	const struct dirent *entry;
	char end[CONTAINER_ID_DIGITS + 8];
	size_t length = (size_t)snprintf(end, sizeof(end), "-%s.log", (const char *)in);
	int status = logs ? -ENOENT : -errno;

	for (unsigned i = 0; logs && i < LINKS_MAX && status && (entry = readdir(logs)); i++) {
		size_t size = strlen(entry->d_name);

		if (size <= length || strcmp(entry->d_name + size - length, end) != 0)
			continue;
		foreign_reply_add(reply, entry->d_name, size + 1);
		status = 0;
	}
	if (logs)
		closedir(logs);
	return status;
}

bool label_reader_docker_name(const char *bytes, size_t size, struct labels *out)
{
	struct buf key = {0}, text = {0};
	struct json_reader r;
	bool found = false;

	json_reader_init(&r, bytes, size);
	if (json_enter(&r, '{'))
		while (json_member(&r, &key)) {
			bool is_name = !strcmp(buf_text(&key), "Name") && json_next_kind(&r) == '"';

			if (!(is_name ? json_read_text(&r, &text) : json_skip(&r)))
				break;
			found |= is_name;
		}
	/* Docker writes a slash before it. */
	if (found && text.size)
		add(out, LABEL_CONTAINER_NAME, text.data + (*text.data == '/'),
		    text.size - (*text.data == '/'));
	buf_done(&key);
	buf_done(&text);
	return found;
}

static int docker_name(struct foreign *f, const char *id, struct labels *out)
{
	struct buf bytes = {0};
	char path[128];
	int status;

	snprintf(path, sizeof(path), "/var/lib/docker/containers/%s/config.v2.json", id);
	status = read_file(f, 0, 1, path, &bytes);
	if (!status && !label_reader_docker_name(bytes.data, bytes.size, out))
		status = -ENOENT;
	buf_done(&bytes);
	return status;
}

int label_reader_names(struct foreign *f, const struct container *c, struct labels *out)
{
	struct buf link = {0};
	int status;

	if (!container_id_is_long(c->id))
		return -ENOENT;
	if (!c->pod_uid[0])
		return strcmp(c->runtime, "docker") != 0 ? -ENOENT : docker_name(f, c->id, out);
	status = foreign_call(f, ask_link, 0, FOREIGN_MS, c->id, strlen(c->id) + 1, &link);
	if (!status && !label_reader_log_name(buf_text(&link), out))
		status = -ENOENT;
	buf_done(&link);
	return status;
}
