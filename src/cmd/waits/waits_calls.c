/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/waits/waits_calls.h"

#include "base/memory/xalloc.h"
#include "cmd/cli/command.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/print.h"
#include "format/ctf/ctf.h"
#include "symbol/demangle/demangle.h"
#include "view/waits/wait_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int kind_of(const char *path, enum load_kind *kind)
{
	char *words[] = {(char *)(uintptr_t)path};
	struct load_options one = {.arguments = words, .argument_count = 1};
	struct error err = {0};

	return load_kind(kind, &one, &err);
}

bool waits_calls_is(const char *path)
{
	enum load_kind kind;

	return !kind_of(path, &kind) && (kind == LOAD_CALLS || kind == LOAD_TAGS);
}

static void add_pid(struct waits_calls *w, int32_t pid)
{
	char *text = xasprintf("%d", pid);

	vec_each (known, &w->pids)
		if (!strcmp(*known, text)) {
			free(text);
			return;
		}
	vec_push(&w->pids, text);
}

static int open_tags(struct waits_calls *w, const char *path, struct error *err)
{
	int ret = ctf_recording_open(&w->tags, path, err);

	if (ret)
		return ret;
	vec_each (names, &w->tags->names)
		tag_names_show(*names, demangle);
	vec_each (stream, &w->tags->streams)
		if (!stream->device)
			add_pid(w, stream->pid);
	return 0;
}

static int open_counted(struct waits_calls *w, const char *path, const struct load_options *load,
                        struct error *err)
{
	char *words[] = {(char *)(uintptr_t)path};
	struct load_options one = *load;
	int ret;

	one.inputs = (struct option_list){0};
	one.arguments = words;
	one.argument_count = 1;
	ret = load_named_calls(&w->counted, &one, err);
	if (ret)
		return ret;
	vec_each (p, &w->counted.paths->processes)
		if (p->pid) /* interrupts of the kernel have no process */
			add_pid(w, p->pid);
	return 0;
}

int waits_calls_open(struct waits_calls *w, const char *path, const struct load_options *load,
                     struct error *err)
{
	enum load_kind kind;
	int ret = kind_of(path, &kind);

	if (ret || (kind != LOAD_CALLS && kind != LOAD_TAGS))
		return error_set(err, EINVAL,
		                 "%s has neither counted calls nor event tags ('assay calls', "
		                 "'assay tags')",
		                 path);
	ret = kind == LOAD_TAGS ? open_tags(w, path, err) : open_counted(w, path, load, err);
	w->is_open = !ret;
	return ret;
}

void waits_calls_select(const struct waits_calls *w, struct filter *f)
{
	if (w->is_open && !f->comm.count && !f->pid.count && !f->tid.count)
		f->pid = (struct filter_list){(const char *const *)w->pids.items, w->pids.count};
}

int waits_calls_join(struct waits_calls *w, struct wait_report *r, struct error *err)
{
	if (!w->is_open)
		return 0;
	wait_calls_init(&w->calls, r);
	w->is_joined = true;
	if (w->tags)
		return wait_calls_tags(&w->calls, w->tags, err);
	wait_calls_counted(&w->calls, w->counted.paths, w->counted.names);
	return 0;
}

void waits_calls_done(struct waits_calls *w)
{
	if (w->is_joined)
		wait_calls_done(&w->calls);
	if (w->is_open && !w->tags)
		loaded_calls_done(&w->counted);
	tag_recording_free(w->tags);
	vec_each (pid, &w->pids)
		free(*pid);
	vec_done(&w->pids);
}

static int print(struct waits_calls *w, struct wait_report *report,
                 const struct style_options *style, struct error *err)
{
	struct document_reader reader = medium_reader(style, false, false);
	struct document d;
	int ret = waits_calls_join(w, report, err);

	if (ret)
		return ret;
	document_init(&d);
	wait_calls_document(&w->calls, &d);
	print_line("%s", ""); /* after another report */
	medium_print(&d, &reader, style);
	document_done(&d);
	return 0;
}

/* The waits of the recording, with all that they need. */
static int join_and_print(struct waits_calls *w, const char *recording,
                          const struct style_options *style, struct error *err)
{
	char *words[] = {(char *)(uintptr_t)recording};
	struct load_options load = {.arguments = words, .argument_count = 1, .waits = true};
	struct wait_options o = {.request = {.limit = -1}};
	struct wait_report *report = NULL;
	struct symbolizer *symbols = NULL;
	struct profile *profile = NULL;
	struct view *view = NULL;
	int ret = load_profile(&profile, &load, err);

	waits_calls_select(w, &o.request.filter);
	o.request.reader = medium_reader(style, false, false);
	if (!ret)
		ret = wait_report_check(profile, recording, err);
	if (!ret) {
		symbols = load_symbolizer(profile, &load);
		view = view_new(profile, symbols);
		ret = wait_report_new(&report, view, &profile->waits, &o, err);
	}
	if (!ret)
		ret = print(w, report, style, err);
	wait_report_free(report);
	view_free(view);
	symbolizer_free(symbols);
	profile_free(profile);
	return ret;
}

int waits_calls_print(const char *recording, const char *counted, const struct style_options *style,
                      const char *command)
{
	const struct load_options load = {0};
	struct waits_calls w = {0};
	struct error err = {0};
	int status = 0;

	if (waits_calls_open(&w, counted, &load, &err) ||
	    join_and_print(&w, recording, style, &err))
		status = command_fail(1, "%s: %s", command, err.text);
	waits_calls_done(&w);
	return status;
}
