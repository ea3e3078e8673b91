/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_report.h"

#include "base/memory/xalloc.h"
#include "base/text/base_name.h"
#include "view/symbolized/symbolized_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_pid(const char *text, int32_t *pid)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	*pid = (int32_t)value;
	return !errno && end != text && !*end && value >= 0 && value <= INT32_MAX;
}

bool call_report_has_keys(const struct call_report *r)
{
	const struct report_request *q = &r->request;

	return q->key_count > request_has_key(q, FLAT_FUNCTION) || q->without.count;
}

int call_report_check(const struct call_report *r, struct error *err)
{
	const char *const functions[] = {r->request.callers, r->request.callees};
	int32_t pid;
	int ret = call_report_has_keys(r) ? named_keys_check(r->request.keys, r->request.key_count,
	                                                     r->request.children, err)
	                                  : 0;

	if (ret)
		return ret;
	for (size_t i = 0; i < r->request.filter.pid.count; i++)
		if (!parse_pid(r->request.filter.pid.items[i], &pid))
			return error_set(err, EINVAL, "--pid: '%s' is not a process id",
			                 r->request.filter.pid.items[i]);
	for (size_t i = 0; i < 2 && !ret; i++) {
		uint8_t *chosen = NULL;

		if (functions[i])
			ret = call_names_choose(r->names, functions[i], &chosen, err);
		free(chosen);
	}
	return ret;
}

bool call_report_selects(const struct call_report *r, const struct call_process *p)
{
	const char *name = intern_text(&r->paths->images.names, p->name);
	bool named = !r->request.filter.comm.count, numbered = !r->request.filter.pid.count;
	int32_t pid;

	for (size_t i = 0; i < r->request.filter.comm.count; i++)
		named |= !strcmp(r->request.filter.comm.items[i], name);
	for (size_t i = 0; i < r->request.filter.pid.count; i++)
		numbered |= parse_pid(r->request.filter.pid.items[i], &pid) && pid == p->pid;
	return named && numbered;
}

static bool is_in_image(const struct call_report *r, uint32_t function)
{
	const struct call_function *f = &r->paths->functions.items[function];
	const char *path;

	if (!r->request.filter.image.count)
		return true;
	if (f->kind != CALL_FUNCTION)
		return false;
	path = image_path(&r->paths->images, f->frame.image);
	return filter_list_has(&r->request.filter.image, path, base_name(path));
}

static bool is_named(const struct call_report *r, uint32_t function)
{
	const struct filter_list *names = &r->request.filter.function;

	for (size_t i = 0; i < names->count; i++)
		if (call_names_match(r->names, function, names->items[i]))
			return true;
	return !names->count;
}

uint8_t *call_report_chosen(const struct call_report *r)
{
	size_t count = call_names_count(r->names);
	uint8_t *chosen;

	if (!r->request.filter.function.count && !r->request.filter.image.count)
		return NULL;
	chosen = xcalloc(count + 1, 1);
	for (uint32_t f = 0; f < count; f++)
		chosen[f] = is_named(r, f) && is_in_image(r, f);
	return chosen;
}

void call_report_counted(const struct call_report *r, const struct call_process *p,
                         call_function_list *list)
{
	uint8_t *seen = xcalloc(call_names_count(r->names) + 1, 1);

	memset(list, 0, sizeof(*list));
	vec_each (path, &p->paths) {
		if (!r->paths->functions.items[path->function].counted || seen[path->function])
			continue;
		vec_push(list, path->function);
		seen[path->function] = 1;
	}
	free(seen);
}
