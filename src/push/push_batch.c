/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_batch.h"

#include "base/memory/blake2b.h"
#include "base/text/labels.h"
#include "export/otlp_write.h"
#include "export/pprof_write.h"
#include "export/protobuf_write.h"
#include "format/otlp/otlp_wire.h"
#include "format/pyroscope/label_name.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS INT64_C(1000000000)

/* push.v1.PushRequest and the messages in it. */
enum { PUSH_SERIES = 1 };
enum { SERIES_LABELS = 1, SERIES_SAMPLES };
enum { PAIR_NAME = 1, PAIR_VALUE };
enum { RAW_PROFILE = 1, RAW_ID };

static uint64_t samples_of(const struct symbolized_profile *n)
{
	int64_t sum = 0;

	vec_each (row, &n->rows)
		sum = named_add(sum, row->values[0]);
	return sum > 0 ? (uint64_t)sum : 0;
}

static int make_pprof(const struct symbolized_profile *n, struct buf *body, struct error *err)
{
	struct spill out;
	int ret;

	spill_to(&out, -1, "memory");
	ret = pprof_write(n, &out, err);
	*body = out.buf;
	return ret;
}

static int make_otlp(const struct symbolized_profile *n, const struct push_labels *l,
                     struct buf *body)
{
	const struct otlp_resource resource = {l->host, l->service, l->version, l->labels};
	struct spill out;

	spill_to(&out, -1, "memory");
	otlp_write(n, &resource, &out);
	*body = out.buf;
	return 0;
}

/*
 * Pyroscope names a series by this, with the name and unit of each value. Values of CPU time belong
 * to "process_cpu"; other values have the name of their producer.
 */
static const char *metric_of(const struct symbolized_profile *n)
{
	for (unsigned i = 0; i < n->value_count; i++)
		if (!strcmp(n->values[i].name, "cpu") || !strcmp(n->values[i].name, "net"))
			return "process_cpu";
	return "assay";
}

/* Labels that have a place of their own. */
static bool is_own(const char *key)
{
	static const char *const own[] = {OTLP_HOST_NAME, OTLP_SERVICE_NAME, OTLP_SERVICE_VERSION};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!strcmp(own[i], key))
			return true;
	return false;
}

/* The labels, without those that have a place of their own. */
static void other_labels(const struct push_labels *l, struct labels *out)
{
	struct labels all = {0};

	labels_add_text(&all, l->labels);
	vec_each (label, &all.items)
		if (!is_own(label->key))
			labels_add(out, label->key, strlen(label->key), label->value,
			           strlen(label->value));
	labels_done(&all);
}

static void put_pair(struct buf *series, const char *name, const char *value)
{
	struct buf pair = {0};

	if (value && *value) {
		protobuf_text(&pair, PAIR_NAME, name);
		protobuf_text(&pair, PAIR_VALUE, value);
		protobuf_message(series, SERIES_LABELS, &pair);
	}
	buf_done(&pair);
}

/* Names as Prometheus allows them. */
static void put_labels(struct buf *series, const struct push_labels *l)
{
	struct labels others = {0};

	other_labels(l, &others);
	vec_each (label, &others.items) {
		label_name_make(label->key);
		put_pair(series, label->key, label->value);
	}
	labels_done(&others);
}

/* A UUID of the bytes: version 8, whose bits are chosen by the producer. */
static void put_id(struct buf *sample, const struct buf *pprof, const struct push_labels *l)
{
	uint8_t d[BLAKE2B_BYTES];
	struct blake2b b;
	char text[40];

	blake2b_init(&b);
	blake2b_add(&b, l->host, strlen(l->host) + 1);
	blake2b_add(&b, l->service, strlen(l->service) + 1);
	if (l->labels)
		blake2b_add(&b, l->labels, strlen(l->labels) + 1);
	blake2b_add(&b, pprof->data, pprof->size);
	blake2b_end(&b, d);
	snprintf(text, sizeof(text),
	         "%02x%02x%02x%02x-%02x%02x-8%01x%02x-8%01x%02x-%02x%02x%02x%02x%02x%02x", d[0],
	         d[1], d[2], d[3], d[4], d[5], d[6] & 15, d[7], d[8] & 15, d[9], d[10], d[11],
	         d[12], d[13], d[14], d[15]);
	protobuf_text(sample, RAW_ID, text);
}

static int make_push(const struct symbolized_profile *n, const struct push_labels *l,
                     struct buf *body, struct error *err)
{
	struct buf pprof = {0}, series = {0}, sample = {0};
	int ret = make_pprof(n, &pprof, err);

	put_pair(&series, "__name__", metric_of(n));
	put_pair(&series, "service_name", l->service);
	put_pair(&series, "hostname", l->host);
	put_pair(&series, "version", l->version);
	put_labels(&series, l);
	protobuf_bytes(&sample, RAW_PROFILE, pprof.data, pprof.size);
	put_id(&sample, &pprof, l);
	protobuf_message(&series, SERIES_SAMPLES, &sample);
	protobuf_message(body, PUSH_SERIES, &series);
	buf_done(&pprof);
	buf_done(&series);
	buf_done(&sample);
	return ret;
}

/*
 * In a value of the query. The characters with a meaning in NAME{KEY=VALUE,...} cannot be quoted
 * there, so they become "_".
 */
static void put_word(struct buf *query, const char *text)
{
	for (; *text; text++)
		if (isalnum((unsigned char)*text) || strchr("-._", *text))
			buf_putc(query, *text);
		else if (strchr("{},=", *text))
			buf_putc(query, '_');
		else
			buf_addf(query, "%%%02X", (unsigned char)*text);
}

static void put_key(struct buf *query, const char *separator, const char *key, const char *value)
{
	if (!value || !*value)
		return;
	buf_addf(query, "%s%s%%3D", separator, key);
	put_word(query, value);
}

static void make_query(const struct symbolized_profile *n, const struct push_labels *l,
                       struct buf *query)
{
	int64_t from = n->time_ns / NS, until = named_add(n->time_ns, n->duration_ns) / NS;
	struct labels others = {0};

	buf_puts(query, "?format=pprof&spyName=assay&name=");
	put_word(query, l->service);
	put_key(query, "%7B", "hostname", l->host);
	put_key(query, "%2C", "version", l->version);
	other_labels(l, &others);
	vec_each (label, &others.items) {
		buf_puts(query, "%2C");
		put_word(query, label->key);
		put_key(query, "", "", label->value);
	}
	labels_done(&others);
	buf_puts(query, "%7D");
	if (n->time_ns)
		buf_addf(query, "&from=%" PRId64 "&until=%" PRId64, from,
		         until > from ? until : from + 1);
}

static void add_comments(struct symbolized_profile *n, const struct push_labels *l)
{
	struct labels others = {0};

	named_comment(n, "host: %s", l->host);
	named_comment(n, "service: %s", l->service);
	if (l->version)
		named_comment(n, "version: %s", l->version);
	other_labels(l, &others);
	vec_each (label, &others.items)
		named_comment(n, "%s: %s", label->key, label->value);
	labels_done(&others);
}

/* NULL: not known. */
static const char *version_of(const struct symbolized_profile *n, char *text)
{
	uint32_t image = named_main_image(n);

	if (image == NAMED_NONE || !n->images.items[image].build_id.size)
		return NULL;
	build_id_text(&n->images.items[image].build_id, text);
	return text;
}

static int make(enum push_kind kind, const struct push_labels *l, struct symbolized_profile *n,
                struct push_batch *b, struct error *err)
{
	switch (kind) {
	case PUSH_OTLP:
		return make_otlp(n, l, &b->body);
	case PUSH_PYROSCOPE:
		return make_push(n, l, &b->body, err);
	case PUSH_INGEST:
		make_query(n, l, &b->query);
		return make_pprof(n, &b->body, err);
	default:
		add_comments(n, l);
		return make_pprof(n, &b->body, err);
	}
}

int push_batch_make(enum push_kind kind, const struct push_labels *labels,
                    struct symbolized_profile *n, struct push_batch *b, struct error *err)
{
	char version[2 * BUILD_ID_MAX + 1];
	struct push_labels l = *labels;
	char *version_text = NULL;
	const char *said;
	size_t size;
	int ret;

	*b = (struct push_batch){.samples = samples_of(n)};
	said = labels_find(l.labels, OTLP_SERVICE_VERSION, &size);
	if (!l.version && said)
		l.version = version_text = xstrndup(said, size);
	if (!l.version)
		l.version = version_of(n, version);
	ret = make(kind, &l, n, b, err);
	free(version_text);
	return ret;
}

void push_batch_done(struct push_batch *b)
{
	buf_done(&b->query);
	buf_done(&b->body);
	*b = (struct push_batch){0};
}
