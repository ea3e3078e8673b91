/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/process_labels.h"

#include "base/memory/xalloc.h"
#include "base/text/labels.h"
#include "process/container.h"
#include "process/process_internal.h"
#include "process/service_name.h"

#include <string.h>

static const char *text_of(const struct process_table *t, uint32_t name)
{
	return name == ID_NONE ? NULL : process_table_name(t, name);
}

/* A container whose id is a name has this name. */
static const char *container_name(const struct container *c)
{
	bool is_name = !strcmp(c->runtime, "lxc") || !strcmp(c->runtime, "systemd-nspawn");

	return is_name ? c->id : "";
}

/* "" : the path does not say it. */
static const char *derived(const struct container *c, const char *key)
{
	const struct {
		const char *key, *value;
	} known[] = {
	        {LABEL_CONTAINER_ID, c->id},
	        {LABEL_CONTAINER_NAME, container_name(c)},
	        {LABEL_CONTAINER_RUNTIME, c->runtime},
	        {LABEL_POD_UID, c->pod_uid},
	        {LABEL_POD_QOS, c->qos},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].key, key))
			return known[i].value;
	return "";
}

bool process_label(const struct process_table *t, const struct process *p, const char *key,
                   struct buf *out)
{
	size_t size;
	const char *value = labels_find(text_of(t, p->labels), key, &size);
	struct container c;

	if (!value) {
		container_of_cgroup(&c, text_of(t, p->cgroup));
		value = derived(&c, key);
		size = strlen(value);
	}
	buf_add(out, value, size);
	return size > 0;
}

static void add(struct labels *l, const char *key, const char *value)
{
	labels_add(l, key, strlen(key), value, strlen(value));
}

void process_labels(const struct process_table *t, const struct process *p, struct buf *out)
{
	static const char *const keys[] = {LABEL_CONTAINER_ID, LABEL_CONTAINER_NAME,
	                                   LABEL_CONTAINER_RUNTIME, LABEL_POD_UID, LABEL_POD_QOS};
	struct labels l = {0};
	struct container c;

	labels_add_text(&l, text_of(t, p->labels));
	if (container_of_cgroup(&c, text_of(t, p->cgroup)))
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
			add(&l, keys[i], derived(&c, keys[i]));
	labels_text(&l, out);
	labels_done(&l);
}

bool process_container(const struct process_table *t, const struct process *p, bool brief,
                       struct buf *out)
{
	struct buf id = {0};
	bool found = process_label(t, p, LABEL_CONTAINER_NAME, out);

	if (!found && process_label(t, p, LABEL_CONTAINER_ID, &id)) {
		brief &= container_id_is_long(buf_text(&id));
		buf_add(out, id.data, brief ? CONTAINER_ID_SHORT : id.size);
		found = true;
	}
	buf_done(&id);
	return found;
}

bool process_pod(const struct process_table *t, const struct process *p, struct buf *out)
{
	return process_label(t, p, LABEL_POD_NAME, out) || process_label(t, p, LABEL_POD_UID, out);
}

/*
 * An agent in a container does not see the paths of all control groups, but those of processes:
 * then the label of the container has what the path would say.
 */
char *service_of_labels(const char *labels, const char *cgroup)
{
	size_t size;
	const char *value = labels_find(labels, LABEL_SERVICE, &size);

	if (!value && (!cgroup || process_cgroup_is_made_up(cgroup))) {
		value = labels_find(labels, LABEL_CONTAINER_ID, &size);
		size = value && size == CONTAINER_ID_DIGITS ? CONTAINER_ID_SHORT : size;
	}
	return value ? xstrndup(value, size) : service_name(cgroup);
}

char *process_service(const struct process_table *t, const struct process *p)
{
	return service_of_labels(text_of(t, p->labels), text_of(t, p->cgroup));
}

char *process_version(const struct process_table *t, const struct process *p)
{
	const char *build = text_of(t, p->version), *value;
	size_t size;

	value = labels_find(text_of(t, p->labels), LABEL_VERSION, &size);
	return value ? xstrndup(value, size) : xstrdup(build ? build : "");
}
