/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export/export_push.h"

#include "base/text/plural.h"
#include "cmd/cli/print.h"
#include "base/process/backoff.h"
#include "push/push_service.h"
#include "view/symbolized/symbolized.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#define ATTEMPTS 5
#define FIRST_MS 250
#define MOST_MS 10000
#define ASKED_MS 30000 /* a longer pause ends the command */

struct export_push {
	struct push_target target;
	struct push_delivery *delivery;
	const struct push_options *o;
	const char *to;
	uint64_t batches, samples;
	char host[HOST_NAME_MAX + 1]; /* of this machine */
};

int export_push_open(struct export_push **out, const char *to, const struct push_options *o)
{
	struct export_push *p = xcalloc(1, sizeof(*p));
	struct http_client_options client = push_options_client(o);
	struct error err = {0};
	int status = 0;

	*out = p;
	p->o = o;
	p->to = to;
	gethostname(p->host, sizeof(p->host) - 1);
	if (push_target_parse(to, &p->target, &err) || push_options_check(o, &p->target, &err))
		status = command_fail(2, "export: --to: %s", err.text);
	else if (push_delivery_open(&p->delivery, &p->target, &client, &err))
		status = command_fail(1, "export: %s", err.text);
	return status;
}

const char *export_push_format(const struct export_push *p)
{
	return p->target.kind == PUSH_OTLP ? "otlp" : "pprof";
}

static int send_batch(struct export_push *p, const struct push_batch *b, struct error *err)
{
	char *name = xasprintf("assay-%u-%06" PRIu64, (unsigned)getpid(), p->batches + 1);
	uint64_t asked = 0, pause;
	int ret = 0;

	for (unsigned attempt = 1; attempt <= ATTEMPTS; attempt++) {
		ret = push_delivery_send(p->delivery, name, b, &asked, err);
		if (!http_is_passing(ret) || asked > ASKED_MS || attempt == ATTEMPTS)
			break;
		pause = backoff_ms(attempt, FIRST_MS, MOST_MS, asked);
		nanosleep(
		        &(struct timespec){(time_t)(pause / 1000), (long)(pause % 1000) * 1000000},
		        NULL);
	}
	free(name);
	return ret;
}

static int send_profile(struct export_push *p, struct symbolized_profile *n,
                        const struct push_labels *labels)
{
	struct push_batch b = {0};
	struct error err = {0};
	int ret = push_batch_make(p->target.kind, labels, n, &b, &err);

	if (!ret)
		ret = send_batch(p, &b, &err);
	if (!ret) {
		p->batches++;
		p->samples += b.samples;
	}
	push_batch_done(&b);
	return ret ? command_fail(1, "export: %s", err.text) : 0;
}

int export_push_profile(struct export_push *p, struct symbolized_profile *n)
{
	const char *main = intern_text(&n->texts, named_main_process(n));
	const struct push_labels labels = {.host = p->host,
	                                   .service = p->o->service ? p->o->service
	                                              : *main       ? main
	                                                            : "unknown_service"};

	return send_profile(p, n, &labels);
}

/* ---- samples, by service ------------------------------------------------- */

static uint32_t service_of(struct push_services *s, struct view *v, uint32_t row)
{
	const struct profile_row *r = &v->profile->rows.items[row];

	return view_is_interrupt(v, r) ? push_service_system(s) : push_service_of(s, v->profile, r);
}

/* The rows of one service; NULL services: all rows. */
static int send_rows(struct export_push *p, struct view *v, const struct selection *s,
                     struct push_services *services, uint32_t service)
{
	const struct recording *r =
	        v->profile->recordings.count ? v->profile->recordings.items[0] : NULL;
	struct selection part = {.event = s->event, .weight = s->weight};
	struct push_labels labels = {.host = r && r->hostname ? r->hostname : p->host};
	struct symbolized_profile n;
	struct push_group group;
	int status = 0;

	vec_each (id, &s->rows)
		if (service_of(services, v, *id) == service)
			vec_push(&part.rows, *id);
	vec_each (id, &s->waits)
		if (service_of(services, v, *id) == service)
			vec_push(&part.waits, *id);
	push_service_group(services, service, &group);
	labels.service = group.service;
	labels.labels = group.labels;
	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	named_of_samples(&n, v, &part, NULL);
	if (part.rows.count || part.waits.count)
		status = send_profile(p, &n, &labels);
	symbolized_profile_done(&n);
	selection_done(&part);
	return status;
}

static bool is_of_machine(const struct profile *p)
{
	vec_each (r, &p->recordings)
		if ((*r)->account.present && (*r)->account.machine_wide)
			return true;
	return false;
}

static int send_whole(struct export_push *p, struct view *v, const struct selection *s)
{
	const struct profile *profile = v->profile;
	const struct recording *r = profile->recordings.count ? profile->recordings.items[0] : NULL;
	struct push_labels labels = {.host = r && r->hostname ? r->hostname : p->host,
	                             .service = p->o->service};
	struct symbolized_profile n;
	int status;

	symbolized_profile_init(&n);
	n.depth_max = NAMED_DEPTH_MAX;
	named_of_samples(&n, v, s, NULL);
	if (!labels.service && !is_of_machine(profile) && named_main_process(&n))
		labels.service = intern_text(&n.texts, named_main_process(&n));
	else if (!labels.service)
		labels.service = PUSH_SERVICE_SYSTEM;
	status = send_profile(p, &n, &labels);
	symbolized_profile_done(&n);
	return status;
}

int export_push_samples(struct export_push *p, struct view *v, const struct selection *s)
{
	struct push_services services;
	int status = 0;

	if (p->o->service || !push_services_known(v->profile))
		return send_whole(p, v, s);
	push_services_init(&services);
	vec_each (id, &s->rows)
		service_of(&services, v, *id);
	vec_each (id, &s->waits)
		service_of(&services, v, *id);
	for (uint32_t i = 1; !status && i <= push_services_count(&services); i++)
		status = send_rows(p, v, s, &services, i);
	if (services.unlabelled)
		print_message("%" PRIu64
		              " %s sent without labels: there are more than %d sets of them",
		              services.unlabelled,
		              plural(services.unlabelled, "process was", "processes were"),
		              PUSH_GROUPS_MAX);
	push_services_done(&services);
	return status;
}

int export_push_end(struct export_push *p, int status)
{
	if (!p)
		return status;
	if (p->batches)
		print_message("%" PRIu64 " %s with %" PRIu64 " %s sent to %s", p->batches,
		              plural(p->batches, "batch", "batches"), p->samples,
		              plural(p->samples, "sample", "samples"),
		              p->target.url ? p->target.url : p->target.directory);
	push_delivery_close(p->delivery);
	push_target_done(&p->target);
	free(p);
	return status;
}
