/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/times/trace_events.h"

#include "base/text/json.h"

#include <inttypes.h>

#define BEGIN "{\"displayTimeUnit\":\"ns\",\"traceEvents\":["

static void put_text(struct trace_events *t, const char *text)
{
	struct json j;

	json_init(&j, &t->out->buf);
	json_str(&j, text);
}

/* Writes the start of an event, before its own fields. */
static void put_head(struct trace_events *t, const char *kind, struct trace_place at)
{
	buf_puts(&t->out->buf, t->more ? ",\n" : BEGIN "\n");
	t->more = true;
	buf_addf(&t->out->buf, "{\"ph\":\"%s\",\"pid\":%" PRId32 ",\"tid\":%" PRId32, kind, at.pid,
	         at.tid);
}

void trace_event(struct trace_events *t, const char *kind, struct trace_place at, uint64_t ns,
                 const char *name)
{
	put_head(t, kind, at);
	buf_addf(&t->out->buf, ",\"ts\":%" PRIu64 ".%03" PRIu64 ",\"name\":", ns / 1000, ns % 1000);
	put_text(t, name);
}

void trace_event_end(struct trace_events *t)
{
	buf_putc(&t->out->buf, '}');
}

bool trace_events_new_process(struct trace_events *t, int32_t pid)
{
	vec_each (named, &t->processes)
		if (*named == pid)
			return false;
	vec_push(&t->processes, pid);
	return true;
}

void trace_event_name(struct trace_events *t, struct trace_place at, const char *what,
                      const char *name)
{
	put_head(t, "M", at);
	buf_addf(&t->out->buf, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	put_text(t, name);
	buf_puts(&t->out->buf, "}}");
}

void trace_events_end(struct trace_events *t, const char *command)
{
	buf_puts(&t->out->buf, t->more ? "\n]" : BEGIN "\n]");
	buf_puts(&t->out->buf, ",\"otherData\":{\"by\":\"assay\"");
	if (command && *command) {
		buf_puts(&t->out->buf, ",\"command\":");
		put_text(t, command);
	}
	buf_puts(&t->out->buf, "}}\n");
	vec_done(&t->processes);
}
