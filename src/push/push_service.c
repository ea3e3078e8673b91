/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_service.h"

#include "process/process_labels.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define UNIT ".service"
#define SCOPE ".scope"
#define ID_LEAST 32 /* digits of a container's id; shorter numbers are kept */
#define ID_SHOWN 12

void push_services_init(struct push_services *s)
{
	*s = (struct push_services){0};
	intern_init(&s->groups);
}

void push_services_done(struct push_services *s)
{
	intern_done(&s->groups);
	vec_done(&s->of_process);
}

void push_services_restart(struct push_services *s)
{
	s->of_process.count = 0;
	intern_done(&s->groups);
	intern_init(&s->groups);
}

static bool ends_with(const char *text, size_t size, const char *suffix)
{
	size_t length = strlen(suffix);

	return size > length && !memcmp(text + size - length, suffix, length);
}

/* Containers have an id of 64 digits, of which tools show the first twelve. */
static void add_short(const char *text, size_t size, struct buf *out)
{
	size_t digits = 0;

	while (digits < size && isxdigit((unsigned char)text[size - 1 - digits]))
		digits++;
	buf_add(out, text, digits >= ID_LEAST ? size - digits + ID_SHOWN : size);
}

/* The last component that is a unit, else the last component. */
void push_service_name(const char *cgroup, struct buf *out)
{
	const char *found = NULL;
	size_t size = 0, length;
	bool unit = false;

	for (const char *at = cgroup; *at; at += length + (at[length] == '/')) {
		length = strcspn(at, "/");
		if (!length || (unit && !ends_with(at, length, UNIT)))
			continue;
		unit = ends_with(at, length, UNIT);
		found = at;
		size = length;
	}
	if (unit)
		size -= strlen(UNIT);
	else if (found && ends_with(found, size, SCOPE))
		size -= strlen(SCOPE);
	if (found)
		add_short(found, size, out);
	else
		buf_puts(out, PUSH_SERVICE_SYSTEM);
}

static uint32_t find_group(const struct push_services *s, const struct buf *service,
                           const struct buf *labels)
{
	char *text = xasprintf("%s%s", buf_text(service), buf_text(labels));
	uint32_t id = intern_find(&s->groups, text);

	free(text);
	return id;
}

static void add_service(const struct process_table *t, const struct process *p, struct buf *out)
{
	const char *cgroup = p->cgroup == ID_NONE ? "" : process_table_name(t, p->cgroup);
	char *container = NULL;

	if (process_label(t, p, LABEL_SERVICE, out))
		return;
	if (!*cgroup || process_cgroup_is_made_up(cgroup))
		container = process_service(t, p);
	if (container && *container)
		buf_puts(out, container);
	else
		push_service_name(cgroup, out);
	free(container);
}

static uint32_t look_up(struct push_services *s, const struct profile *p,
                        const struct process *process)
{
	const struct process_table *t = p->processes;
	struct buf group = {0}, labels = {0};
	uint32_t id;

	if (s->service)
		buf_puts(&group, s->service);
	else
		add_service(t, process, &group);
	buf_putc(&group, '\n');
	process_labels(t, process, &labels);
	id = find_group(s, &group, &labels);
	if (id == ID_NONE && labels.size && push_services_count(s) >= PUSH_GROUPS_MAX)
		s->unlabelled++;
	else
		buf_puts(&group, buf_text(&labels));
	if (id == ID_NONE)
		id = intern_add(&s->groups, buf_text(&group));
	buf_done(&group);
	buf_done(&labels);
	return id;
}

uint32_t push_services_count(const struct push_services *s)
{
	return (uint32_t)s->groups.texts.count - 1;
}

uint32_t push_service_system(struct push_services *s)
{
	return intern_add(&s->groups, PUSH_SERVICE_SYSTEM "\n");
}

void push_service_group(const struct push_services *s, uint32_t id, struct push_group *g)
{
	const char *text = intern_text(&s->groups, id);
	size_t size = strcspn(text, "\n");

	snprintf(g->name, sizeof(g->name), "%.*s", (int)size, text);
	g->service = g->name;
	g->labels = text + size + (text[size] == '\n');
}

uint32_t push_service_of(struct push_services *s, const struct profile *p,
                         const struct profile_row *row)
{
	const struct process_table *t = p->processes;
	uint32_t process = process_table_thread_at(t, row->thread)->process;

	if (!*vec_at(&s->of_process, process))
		s->of_process.items[process] = look_up(s, p, process_table_process(t, process));
	return s->of_process.items[process];
}

bool push_services_known(const struct profile *p)
{
	for (uint32_t i = 0; i < process_table_process_count(p->processes); i++)
		if (process_table_process(p->processes, i)->cgroup != ID_NONE)
			return true;
	return false;
}
