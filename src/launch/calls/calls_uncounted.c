/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/calls/calls_uncounted.h"

#include "image/elf/elf_imports.h"
#include "launch/calls/calls_runtime.h"
#include "source/proc/proc.h"
#include "source/runtime/runtime_owner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct uncounted_search {
	calls_uncounted_list *list;
	char *directory; /* as in /proc/PID/maps */
	char *variable;  /* ASSAY_CALLS_DIR=... */
	uint64_t since;
	proc_ids counted; /* running processes that have tables */
};

static FILE *open_of(int32_t pid, const char *file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	return fopen(path, "re");
}

/* True if a line of /proc/PID/maps is a mapping of a table in the directory. */
static bool is_table(const struct uncounted_search *s, const char *line, struct shared_name *name)
{
	const char *path = strchr(line, '/');
	size_t size = strlen(s->directory);
	char *file;
	bool is;

	if (!path || strncmp(path, s->directory, size) || path[size] != '/')
		return false;
	/* " (deleted)" follows the name of a removed table. */
	file = xstrndup(path + size + 1, strcspn(path + size + 1, " \n"));
	is = shared_name_parse(&call_table_kind, file, name);
	free(file);
	return is;
}

static bool maps_table(const struct uncounted_search *s, int32_t pid, struct shared_name *name)
{
	FILE *maps = open_of(pid, "maps");
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (maps && !found && getline(&line, &room, maps) > 0)
		found = is_table(s, line, name);
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

static bool has_variable(const struct uncounted_search *s, int32_t pid)
{
	FILE *environment = open_of(pid, "environ");
	char *word = NULL;
	size_t room = 0;
	bool found = false;

	while (environment && !found && getdelim(&word, &room, '\0', environment) > 0)
		found = !strcmp(word, s->variable);
	free(word);
	if (environment)
		fclose(environment);
	return found;
}

/* True for a process that was started by exec from a program with the hooks. */
static bool would_count(const struct uncounted_search *s, int32_t pid)
{
	struct elf_imports e;
	char exe[64];

	snprintf(exe, sizeof(exe), "/proc/%d/exe", pid);
	return has_variable(s, pid) && !elf_imports_read(&e, exe, CALLS_RUNTIME_HOOK, NULL) &&
	       e.imports;
}

static char *name_of(int32_t pid)
{
	FILE *comm = open_of(pid, "comm");
	char name[64] = "";

	if (comm && fgets(name, sizeof(name), comm))
		name[strcspn(name, "\n")] = '\0';
	if (comm)
		fclose(comm);
	return xstrdup(name);
}

static void look_at(struct uncounted_search *s, int32_t pid)
{
	struct calls_uncounted found = {.pid = pid};
	struct shared_name table;
	uint64_t birth;

	vec_each (counted, &s->counted)
		if (*counted == pid)
			return;
	if (!runtime_owner_birth(pid, &birth) || birth < s->since)
		return;
	if (maps_table(s, pid, &table)) {
		found.parent = table.pid;
		found.parent_birth = table.birth;
	} else if (!would_count(s, pid)) {
		return;
	}
	if (proc_has_ended(pid))
		return;
	found.name = name_of(pid);
	vec_push(s->list, found);
}

void calls_uncounted_find(calls_uncounted_list *list, const char *directory, uint64_t since,
                          const call_table_list *tables)
{
	struct uncounted_search s = {
	        .list = list,
	        .directory = realpath(directory, NULL),
	        .variable = xasprintf("%s=%s", call_table_kind.variable, directory),
	        .since = since};
	struct runtime_owners known = {0};
	proc_ids pids = {0};

	if (!s.directory)
		s.directory = xstrdup(directory);
	vec_each (table, tables)
		if (table->file.running)
			vec_push(&s.counted, runtime_owner_find(&known, table->file.pid,
			                                        table->file.birth, NULL));
	runtime_owners_done(&known);
	proc_list(&pids, -1);
	vec_each (pid, &pids)
		look_at(&s, *pid);
	vec_done(&pids);
	vec_done(&s.counted);
	free(s.variable);
	free(s.directory);
}

void calls_uncounted_done(calls_uncounted_list *list)
{
	vec_each (found, list)
		free(found->name);
	vec_done(list);
}

static struct call_process *parent_of(const struct calls_uncounted *found, struct call_paths *paths,
                                      int32_t command)
{
	struct call_process *of_command = NULL;

	vec_each (p, &paths->processes) {
		if (found->parent && p->pid == found->parent && p->birth == found->parent_birth)
			return p;
		if (!of_command && p->pid == command)
			of_command = p;
	}
	return of_command ? of_command : paths->processes.items;
}

void calls_uncounted_note(const calls_uncounted_list *list, struct call_paths *paths,
                          int32_t command)
{
	if (!paths->processes.count)
		return;
	vec_each (found, list) {
		struct call_process *p = parent_of(found, paths, command);

		p->flags |= CALL_UNCOUNTED;
		p->uncounted++;
	}
}
