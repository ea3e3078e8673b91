/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/control_message.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define FIRST "assay-session "
#define VERSION "1"
#define LAST "end\n"

enum field_kind { FIELD_NUMBER, FIELD_WORD, FIELD_TEXT };

struct message_field {
	const char *key;
	enum field_kind kind;
	size_t offset;
	const char *const *words; /* of a FIELD_WORD, by number; NULL at the end */
};

static const char *const verbs[] = {"status", "stop", "snapshot", "release", NULL};
static const char *const states[] = {"starting", "running", "ended", "killed", NULL};
static const char *const kinds[] = {"file", "ring", "store", "push", NULL};
static const char *const ends[] = {"not",   "stopped",  "signal", "processes-gone",
                                   "error", "duration", NULL};

#define REQUEST(field) offsetof(struct control_request, field)
#define REPLY(field) offsetof(struct control_reply, field)
#define ACCOUNT(field) offsetof(struct control_reply, account.field)
#define NUMBER(name)                                                                               \
	{                                                                                          \
		.key = #name, .kind = FIELD_NUMBER, .offset = ACCOUNT(name)                        \
	}
#define TEXT(name)                                                                                 \
	{                                                                                          \
		.key = #name, .kind = FIELD_TEXT, .offset = ACCOUNT(name)                          \
	}

static const struct message_field request_fields[] = {
        {"verb", FIELD_WORD, REQUEST(verb), verbs},
        {"output", FIELD_TEXT, REQUEST(output), NULL},
        {NULL, FIELD_NUMBER, 0, NULL},
};

static const struct message_field reply_fields[] = {
        {"failed", FIELD_NUMBER, REPLY(code), NULL},
        {"why", FIELD_TEXT, REPLY(error), NULL},
        TEXT(name),
        TEXT(what),
        TEXT(output),
        TEXT(error),
        TEXT(snapshot),
        TEXT(spool),
        TEXT(send_error),
        {"state", FIELD_WORD, ACCOUNT(state), states},
        {"kind", FIELD_WORD, ACCOUNT(kind), kinds},
        {"end-reason", FIELD_WORD, ACCOUNT(end), ends},
        NUMBER(pid),
        NUMBER(started_wall_ns),
        NUMBER(now_wall_ns),
        NUMBER(elapsed_ns),
        NUMBER(ticks_known),
        NUMBER(machine_wide),
        NUMBER(ticks_user),
        NUMBER(ticks_system),
        NUMBER(ticks_idle),
        NUMBER(ticks_unobserved),
        NUMBER(samples),
        NUMBER(records),
        NUMBER(lost_records),
        NUMBER(bytes),
        NUMBER(held_ns),
        NUMBER(held_most),
        NUMBER(left_samples),
        NUMBER(snapshots),
        NUMBER(observer_cpu_ns),
        NUMBER(observer_wakeups),
        NUMBER(read_gap_max_ns),
        NUMBER(period_ns),
        NUMBER(period_asked_ns),
        NUMBER(sample_cost_ns),
        NUMBER(batches_due),
        NUMBER(batches_sent),
        NUMBER(batches_waiting),
        NUMBER(batches_dropped),
        NUMBER(sender_cpu_ns),
        NUMBER(samples_due),
        NUMBER(samples_sent),
        NUMBER(samples_waiting),
        NUMBER(samples_dropped),
        NUMBER(send_failures),
        {NULL, FIELD_NUMBER, 0, NULL},
};

static uint64_t *number_at(void *base, const struct message_field *f)
{
	return (uint64_t *)((char *)base + f->offset);
}

static char **text_at(void *base, const struct message_field *f)
{
	return (char **)((char *)base + f->offset);
}

/* ---- writing ------------------------------------------------------------- */

static void put_text(struct buf *out, const char *key, const char *text)
{
	buf_addf(out, "%s ", key);
	for (; *text; text++) {
		if (*text == '\n')
			buf_puts(out, "\\n");
		else if (*text == '\\')
			buf_puts(out, "\\\\");
		else
			buf_putc(out, *text);
	}
	buf_putc(out, '\n');
}

/* Fields that are zero or empty are not written. */
static void put_fields(struct buf *out, const struct message_field *fields, const void *base)
{
	void *from = (void *)(uintptr_t)base; /* only read */

	for (const struct message_field *f = fields; f->key; f++) {
		if (f->kind == FIELD_TEXT) {
			if (*text_at(from, f))
				put_text(out, f->key, *text_at(from, f));
		} else if (f->kind == FIELD_WORD) {
			buf_addf(out, "%s %s\n", f->key, f->words[*number_at(from, f)]);
		} else if (*number_at(from, f)) {
			buf_addf(out, "%s %" PRIu64 "\n", f->key, *number_at(from, f));
		}
	}
}

static void put_rule(struct buf *out, const struct session_account_rule *r)
{
	buf_addf(out, "rule %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
	         r->known, r->holds, r->value_milli, r->fired, r->held_back, r->fired_wall_ns);
	put_text(out, "", r->text);
}

void control_request_write(const struct control_request *r, struct buf *out)
{
	buf_puts(out, FIRST VERSION "\n");
	put_fields(out, request_fields, r);
	buf_puts(out, LAST);
}

void control_reply_write(const struct control_reply *r, struct buf *out)
{
	const struct session_account *a = &r->account;

	buf_puts(out, FIRST VERSION "\n");
	put_fields(out, reply_fields, r);
	for (size_t i = 0; i < a->cpus.count && i < CONTROL_CPUS_MAX; i++) {
		const struct session_account_cpu *c = &a->cpus.items[i];

		buf_addf(out,
		         "cpu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
		         "\n",
		         c->cpu, c->ring_bytes, c->ring_used, c->ring_used_max,
		         c->ring_used_average, c->lost_records);
	}
	for (size_t i = 0; i < a->rules.count && i < CONTROL_RULES_MAX; i++)
		put_rule(out, &a->rules.items[i]);
	for (size_t i = 0; i < a->notes.count && i < CONTROL_NOTES_MAX; i++)
		put_text(out, "note", a->notes.items[i]);
	buf_puts(out, LAST);
}

/* ---- reading ------------------------------------------------------------- */

bool control_message_complete(const char *text, size_t size)
{
	const size_t last = strlen(LAST);

	return size > last && !memcmp(text + size - last, LAST, last) &&
	       text[size - last - 1] == '\n';
}

/* Parses a whole number; moves `*text` to its end. */
static int get_number(const char **text, uint64_t *number)
{
	const char *at = *text;

	*number = 0;
	if (*at < '0' || *at > '9')
		return -EBADMSG;
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(*number, 10, number) ||
		    __builtin_add_overflow(*number, (uint64_t)(*at - '0'), number))
			return -EBADMSG;
	*text = at;
	return 0;
}

static int get_text(const char *value, char **text)
{
	struct buf out = {0};

	for (; *value; value++) {
		if (*value != '\\') {
			buf_putc(&out, *value);
			continue;
		}
		value++;
		if (*value != 'n' && *value != '\\') {
			buf_done(&out);
			return -EBADMSG;
		}
		buf_putc(&out, *value == 'n' ? '\n' : '\\');
	}
	*text = out.data ? out.data : xstrdup("");
	return 0;
}

static int get_word(const char *value, const char *const *words, uint64_t *number)
{
	for (size_t i = 0; words[i]; i++) {
		if (!strcmp(words[i], value)) {
			*number = i;
			return 0;
		}
	}
	return -EBADMSG;
}

static int get_field(const struct message_field *f, void *into, const char *value)
{
	int rc;

	if (f->kind == FIELD_TEXT)
		return get_text(value, text_at(into, f));
	if (f->kind == FIELD_WORD)
		return get_word(value, f->words, number_at(into, f));
	rc = get_number(&value, number_at(into, f));
	return rc || *value ? -EBADMSG : 0;
}

/* Parses six numbers separated by spaces; moves `*text` to their end. */
static int get_numbers(const char **text, uint64_t numbers[6])
{
	for (size_t i = 0; i < 6; i++) {
		if (i && *(*text)++ != ' ')
			return -EBADMSG;
		if (get_number(text, &numbers[i]))
			return -EBADMSG;
	}
	return 0;
}

static int get_cpu(struct session_account *a, const char *value)
{
	struct session_account_cpu *c;
	uint64_t numbers[6];

	if (a->cpus.count >= CONTROL_CPUS_MAX || get_numbers(&value, numbers) || *value)
		return -EBADMSG;
	c = vec_add(&a->cpus);
	*c = (struct session_account_cpu){numbers[0], numbers[1], numbers[2],
	                                  numbers[3], numbers[4], numbers[5]};
	return 0;
}

static int get_rule(struct session_account *a, const char *value)
{
	struct session_account_rule r = {0};
	uint64_t numbers[6];

	if (a->rules.count >= CONTROL_RULES_MAX || get_numbers(&value, numbers) ||
	    *value++ != ' ' || get_text(value, &r.text))
		return -EBADMSG;
	r.known = numbers[0];
	r.holds = numbers[1];
	r.value_milli = numbers[2];
	r.fired = numbers[3];
	r.held_back = numbers[4];
	r.fired_wall_ns = numbers[5];
	vec_push(&a->rules, r);
	return 0;
}

static int get_note(struct session_account *a, const char *value)
{
	char *text;

	if (a->notes.count >= CONTROL_NOTES_MAX || get_text(value, &text))
		return -EBADMSG;
	vec_push(&a->notes, text);
	return 0;
}

struct message_reader {
	const struct message_field *fields;
	void *into;
	struct session_account *account; /* NULL: there is none in it */
	uint64_t seen;                   /* one bit per field */
};

static int get_line(struct message_reader *r, const char *key, const char *value)
{
	for (size_t i = 0; r->fields[i].key; i++) {
		if (strcmp(r->fields[i].key, key) != 0)
			continue;
		if (r->seen & UINT64_C(1) << i)
			return -EBADMSG;
		r->seen |= UINT64_C(1) << i;
		return get_field(&r->fields[i], r->into, value);
	}
	if (r->account && !strcmp(key, "cpu"))
		return get_cpu(r->account, value);
	if (r->account && !strcmp(key, "rule"))
		return get_rule(r->account, value);
	if (r->account && !strcmp(key, "note"))
		return get_note(r->account, value);
	return 0; /* a key of a later version, which may be ignored */
}

static int not_ours(struct error *err, const char *line)
{
	if (!strncmp(line, FIRST, strlen(FIRST)))
		return error_set(err, EPROTONOSUPPORT,
		                 "it speaks version %.20s, and this assay version " VERSION
		                 ": ask with the assay that started it",
		                 line + strlen(FIRST));
	return error_set(err, EBADMSG, "it is no message of an assay session");
}

/* Parses all lines; `text` is modified. */
static int get_lines(struct message_reader *r, char *text, struct error *err)
{
	for (size_t number = 1; *text; number++) {
		char *end = strchr(text, '\n'), *value;

		if (!end)
			return error_set(err, EBADMSG, "line %zu has no end", number);
		*end = '\0';
		if (number == 1 && strcmp(text, FIRST VERSION) != 0)
			return not_ours(err, text);
		if (!strcmp(text, "end"))
			return end[1] ? error_set(err, EBADMSG,
			                          "line %zu: the end is not at the end", number)
			              : 0;
		value = strchr(text, ' ');
		if (!value)
			return error_set(err, EBADMSG, "line %zu has no value", number);
		*value++ = '\0';
		if (get_line(r, text, value))
			return error_set(err, EBADMSG, "line %zu: that cannot be a %.40s", number,
			                 text);
		text = end + 1;
	}
	return error_set(err, EBADMSG, "it has no end");
}

static int parse(struct message_reader *r, const char *text, size_t size, size_t most,
                 struct error *err)
{
	char *copy;
	int rc;

	if (size > most)
		return error_set(err, EMSGSIZE, "it is longer than %zu bytes", most);
	if (!size)
		return error_set(err, EBADMSG, "it is empty");
	if (memchr(text, 0, size))
		return error_set(err, EBADMSG, "it holds a zero byte");
	copy = xstrndup(text, size);
	rc = get_lines(r, copy, err);
	free(copy);
	return rc;
}

int control_request_parse(struct control_request *r, const char *text, size_t size,
                          struct error *err)
{
	struct message_reader reader = {.fields = request_fields, .into = r};
	int rc;

	*r = (struct control_request){0};
	rc = parse(&reader, text, size, CONTROL_REQUEST_MAX, err);
	/* A request without a verb is invalid; it does not mean the first verb. */
	if (!rc && !(reader.seen & 1))
		rc = error_set(err, EBADMSG, "it asks for nothing");
	if (!rc && r->output && r->output[0] != '/')
		rc = error_set(err, EINVAL, "the path '%.200s' is not absolute", r->output);
	return rc;
}

int control_reply_parse(struct control_reply *r, const char *text, size_t size, struct error *err)
{
	struct message_reader reader = {.fields = reply_fields, .into = r, .account = &r->account};

	*r = (struct control_reply){0};
	return parse(&reader, text, size, CONTROL_REPLY_MAX, err);
}

void control_request_done(struct control_request *r)
{
	free(r->output);
	*r = (struct control_request){0};
}

void control_reply_done(struct control_reply *r)
{
	free(r->error);
	session_account_done(&r->account);
	*r = (struct control_reply){0};
}
