/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_service.h"

#include "process/process_labels.h"

#include <stdio.h>
#include <string.h>

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
	char *name = process_service(t, p);

	buf_puts(out, *name ? name : PUSH_SERVICE_SYSTEM);
	free(name);
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
