/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/keep/label_keeper.h"

#include "base/memory/hash.h"
#include "base/memory/intern.h"
#include "base/read/regular_file.h"
#include "base/text/plural.h"
#include "format/label_file.h"
#include "format/otlp/process_context.h"
#include "process/pid_map.h"
#include "process/process_labels.h"
#include "session/keep/label_reader.h"
#include "source/proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define POD_PREFIX "k8s.pod.label."
#define SECOND_NS UINT64_C(1000000000)
/* Processes of which only the container is looked up, in a second. */
#define CHEAP_PER_S 500

struct labelled_process {
	bool is_new;      /* it began while the recording ran */
	bool met;         /* a sample was seen */
	uint64_t next_ns; /* when it is looked at again */
	uint64_t pause_ns;
	uint64_t hash; /* of its labels in the last record; 0: it has those of all processes */
	struct label_page page;
	char *context; /* labels of the page; NULL: none */
};

/* What all processes of a container share. */
struct labelled_container {
	char *names;      /* labels from files of the machine */
	char *pod;        /* labels from the files of the pod */
	uint64_t next_ns; /* when they are read again */
};

struct label_keeper {
	struct label_keeper_options o;
	struct pid_map pids; /* to `processes` */
	VEC(struct labelled_process) processes;
	VEC(uint32_t) free_places;   /* in `processes` */
	struct intern container_ids; /* to `containers` */
	VEC(struct labelled_container) containers;
	char *common; /* labels of all processes; NULL: none */
	/* Of the second that began at second_ns. */
	uint64_t second_ns;
	unsigned looks, cheap;
	uint64_t dropped, cut, damaged, denied, missed;
	struct buf text, bytes;
	char thread[PROC_NAME_SIZE];
};

/* ---- life cycle ---------------------------------------------------------- */

static void count(struct label_keeper *k, const struct labels *l)
{
	k->dropped += l->dropped;
	k->cut += l->cut;
}

/* The labels as a text; NULL: there are none. Frees the list. */
static char *text_of(struct label_keeper *k, struct labels *l)
{
	struct buf out = {0};

	count(k, l);
	labels_text(l, &out);
	labels_done(l);
	return out.data;
}

/* After an error `l` is empty. */
static int read_labels(struct labels *l, const char *path, struct error *err)
{
	char *bytes = xmalloc(LABEL_FILE_BYTES);
	struct stat st;
	int fd = regular_file_open(path, &st);
	ssize_t size = fd < 0 ? fd : regular_file_read(fd, bytes, LABEL_FILE_BYTES);
	size_t bad = size > 0 ? label_file_read(l, "", bytes, (size_t)size) : 0;
	int status = 0;

	if (fd >= 0)
		close(fd);
	if (size < 0)
		status = regular_file_error(err, (int)size, path);
	else if (bad || l->dropped)
		status = error_set(err, EINVAL,
		                   "%s: %" PRIu64 " %s no label: a line is NAME=\"VALUE\"", path,
		                   (uint64_t)bad + l->dropped,
		                   plural(bad + l->dropped, "line is", "lines are"));
	if (status)
		labels_done(l);
	free(bytes);
	return status;
}

static int read_common(struct label_keeper *k, const char *path, struct error *err)
{
	struct labels l = {0};
	int status = read_labels(&l, path, err);

	if (!status)
		k->common = text_of(k, &l);
	return status;
}

int label_keeper_check(const char *path, struct error *err)
{
	struct labels l = {0};
	int status = read_labels(&l, path, err);

	if (!status)
		labels_done(&l);
	return status;
}

int label_keeper_new(struct label_keeper **out, const struct label_keeper_options *o,
                     struct error *err)
{
	struct label_keeper *k = xcalloc(1, sizeof(*k));
	int status;

	k->o = *o;
	intern_init(&k->container_ids);
	status = o->file ? read_common(k, o->file, err) : 0;
	if (status) {
		label_keeper_free(k);
		k = NULL;
	}
	*out = k;
	return status;
}

static void forget(struct labelled_process *p)
{
	free(p->context);
	*p = (struct labelled_process){0};
}

static void forget_processes(struct label_keeper *k)
{
	vec_each (p, &k->processes)
		forget(p);
	k->processes.count = k->free_places.count = 0;
	pid_map_done(&k->pids);
}

static void forget_containers(struct label_keeper *k)
{
	vec_each (c, &k->containers) {
		free(c->names);
		free(c->pod);
	}
	k->containers.count = 0;
	intern_done(&k->container_ids);
	intern_init(&k->container_ids);
}

void label_keeper_free(struct label_keeper *k)
{
	if (!k)
		return;
	forget_processes(k);
	forget_containers(k);
	vec_done(&k->processes);
	vec_done(&k->free_places);
	vec_done(&k->containers);
	intern_done(&k->container_ids);
	free(k->common);
	buf_done(&k->text);
	buf_done(&k->bytes);
	free(k);
}

/* ---- what is known ------------------------------------------------------- */

static uint32_t free_place(struct label_keeper *k)
{
	if (k->free_places.count)
		return k->free_places.items[--k->free_places.count];
	if (k->processes.count >= LABEL_PROCESSES_MAX)
		forget_processes(k);
	vec_add(&k->processes);
	return (uint32_t)k->processes.count - 1;
}

static struct labelled_process *process_of(struct label_keeper *k, int32_t pid)
{
	uint32_t id = pid_map_get(&k->pids, pid);

	if (id == ID_NONE) {
		id = free_place(k);
		pid_map_set(&k->pids, pid, id);
	}
	return &k->processes.items[id];
}

static void process_ended(struct label_keeper *k, int32_t pid)
{
	uint32_t id = pid_map_get(&k->pids, pid);

	if (id == ID_NONE)
		return;
	forget(&k->processes.items[id]);
	pid_map_remove(&k->pids, pid);
	vec_push(&k->free_places, id);
}

static struct labelled_container *container_of(struct label_keeper *k, const char *id)
{
	uint32_t at;

	if (k->containers.count >= LABEL_CONTAINERS_MAX)
		forget_containers(k);
	at = intern_add(&k->container_ids, id);
	return vec_at(&k->containers, at);
}

static bool may_look(struct label_keeper *k, uint64_t now_ns, unsigned *used, unsigned most)
{
	if (now_ns - k->second_ns >= SECOND_NS) {
		k->second_ns = now_ns;
		k->looks = k->cheap = 0;
	}
	if (*used >= most)
		return false;
	++*used;
	return true;
}

/* ---- reading ------------------------------------------------------------- */

static void read_names(struct label_keeper *k, const struct container *c,
                       struct labelled_container *to)
{
	struct labels l = {0};

	label_reader_names(k->o.foreign, c, &l);
	free(to->names);
	to->names = text_of(k, &l);
}

static void read_pod(struct label_keeper *k, int32_t pid, struct labelled_container *to)
{
	char *path = xasprintf("%s/labels", k->o.pod_directory);
	struct labels l = {0};

	if (!label_reader_file(k->o.foreign, pid, path, &k->bytes))
		l.dropped += label_file_read(&l, POD_PREFIX, k->bytes.data ? k->bytes.data : "",
		                             k->bytes.size);
	free(path);
	free(to->pod);
	to->pod = text_of(k, &l);
}

static void read_container(struct label_keeper *k, int32_t pid, const struct container *c,
                           uint64_t now_ns)
{
	struct labelled_container *to = container_of(k, c->id[0] ? c->id : c->pod_uid);

	if (to->next_ns > now_ns)
		return;
	to->next_ns = now_ns + LABELS_AGAIN_NS;
	read_names(k, c, to);
	if (k->o.pod_directory && c->pod_uid[0])
		read_pod(k, pid, to);
}

static void read_context(struct label_keeper *k, int32_t pid, struct labelled_process *p)
{
	struct labels l = {0};
	int status = label_reader_page(k->o.foreign, pid, &p->page, &k->bytes);

	if (status == -ENOENT) {
		free(p->context);
		p->context = NULL;
		p->page = (struct label_page){0};
	}
	k->denied += (status == -EPERM || status == -EACCES) && p->pause_ns <= LABELS_FIRST_NS;
	k->missed += status == -ETIMEDOUT || status == -ENAMETOOLONG || status == -EFAULT;
	if (status)
		return;
	k->damaged += !process_context_read(&l, k->bytes.data ? k->bytes.data : "", k->bytes.size);
	free(p->context);
	p->context = text_of(k, &l);
}

static void add(struct labels *l, const char *key, const char *value)
{
	labels_add(l, key, strlen(key), value, strlen(value));
}

/* The kernel says to which container a process belongs; the process does not. */
static void add_container(struct label_keeper *k, struct labels *l, const struct container *c)
{
	const struct labelled_container *known = container_of(k, c->id[0] ? c->id : c->pod_uid);

	add(l, LABEL_CONTAINER_ID, c->id);
	add(l, LABEL_CONTAINER_RUNTIME, c->runtime);
	add(l, LABEL_POD_UID, c->pod_uid);
	add(l, LABEL_POD_QOS, c->qos);
	labels_add_text(l, known->names);
	labels_add_text(l, known->pod);
}

/* Makes the record, if the labels have changed. */
static bool make_record(struct label_keeper *k, const struct event *e, struct labelled_process *p,
                        const struct container *c, struct event *named)
{
	struct labels l = {0};
	uint64_t hash;

	if (c)
		add_container(k, &l, c);
	labels_add_text(&l, p->context);
	labels_add_text(&l, k->common);
	buf_clear(&k->text);
	labels_text(&l, &k->text);
	labels_done(&l);
	hash = !c && !p->context ? 0 : hash_bytes(buf_text(&k->text), k->text.size) | 1;
	if (hash == p->hash || !proc_thread_name(e->pid, e->pid, k->thread))
		return false;
	p->hash = hash;
	*named = *e;
	named->kind = EVENT_LABELS;
	named->tid = e->pid;
	named->labels = (struct event_labels){buf_text(&k->text), k->thread, false};
	return true;
}

/* ---- events -------------------------------------------------------------- */

bool label_keeper_common(struct label_keeper *k, struct event *e)
{
	if (!k || !k->common)
		return false;
	*e = (struct event){.kind = EVENT_LABELS, .mode = CPU_MODE_USER, .attr = EVENT_NO_ATTR};
	e->labels = (struct event_labels){.text = k->common, .all = true};
	return true;
}

void label_keeper_event(struct label_keeper *k, const struct event *e)
{
	bool begins = e->kind == EVENT_FORK || (e->kind == EVENT_COMM && e->comm.exec);

	if (!k || e->pid != e->tid || e->pid <= 0 || (!begins && e->kind != EVENT_EXIT))
		return;
	process_ended(k, e->pid); /* also one whose end was lost */
	if (begins)
		process_of(k, e->pid)->is_new = true;
}

/* The first sample: what its container is known to have, and when it is looked at. */
static bool meet(struct label_keeper *k, const struct event *e, struct labelled_process *p,
                 struct event *named)
{
	struct container c;
	uint32_t known;

	p->met = true;
	p->pause_ns = LABELS_FIRST_NS;
	p->next_ns = p->is_new ? e->time_ns + LABELS_FIRST_NS : 0;
	if (!p->is_new || !k->containers.count ||
	    !may_look(k, e->time_ns, &k->cheap, CHEAP_PER_S) || !label_reader_container(e->pid, &c))
		return false;
	known = intern_find(&k->container_ids, c.id[0] ? c.id : c.pod_uid);
	return known != ID_NONE && make_record(k, e, p, &c, named);
}

bool label_keeper_sample(struct label_keeper *k, const struct event *e, struct event *named)
{
	struct labelled_process *p;
	struct container c;
	bool contained;

	if (!k || e->pid <= 0 || !e->time_ns)
		return false;
	p = process_of(k, e->pid);
	if (!p->met && meet(k, e, p, named))
		return true;
	if (p->next_ns > e->time_ns || !may_look(k, e->time_ns, &k->looks, LABEL_LOOKS_PER_S))
		return false;
	contained = label_reader_container(e->pid, &c);
	if (contained)
		read_container(k, e->pid, &c, e->time_ns);
	read_context(k, e->pid, p);
	p->next_ns = e->time_ns + p->pause_ns;
	p->pause_ns = p->pause_ns < LABELS_AGAIN_NS ? 2 * p->pause_ns : p->pause_ns;
	return make_record(k, e, p, contained ? &c : NULL, named);
}

static void note(struct account *account, uint64_t number, const char *one, const char *many,
                 const char *why)
{
	if (number)
		vec_push(&account->notes,
		         xasprintf("%" PRIu64 " %s %s", number, plural(number, one, many), why));
}

void label_keeper_account(const struct label_keeper *k, struct account *account)
{
	if (!k)
		return;
	note(account, k->dropped, "label was", "labels were",
	     "dropped: beyond the limits, or no label.");
	note(account, k->cut, "value of a label was", "values of labels were", "cut to 256 bytes.");
	note(account, k->damaged, "process context of OpenTelemetry is",
	     "process contexts of OpenTelemetry are", "damaged: labels are missing.");
	note(account, k->missed, "process context of OpenTelemetry",
	     "process contexts of OpenTelemetry",
	     "could not be read: too many mappings, or memory that is not there.");
	note(account, k->denied, "process", "processes",
	     "may not be read (CAP_SYS_PTRACE), so labels from the process itself are missing.");
}
