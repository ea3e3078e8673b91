/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store_engine.h"

#include "store/clickhouse/click_central.h"
#include "store/clickhouse/click_keep.h"
#include "store/clickhouse/click_machines.h"
#include "store/clickhouse/click_series.h"
#include "store/clickhouse/click_store.h"
#include "store/sqlite/sqlite_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* SQLite accepts all names, so it is the last engine. */
static const struct store_engine *const engines[] = {&click_engine, &sqlite_engine};

static const struct store_engine *engine_of(const char *path)
{
	size_t i = 0;

	while (i + 1 < sizeof(engines) / sizeof(*engines) && !engines[i]->has(path))
		i++;
	return engines[i];
}

int store_open(struct store **out, const char *path, const struct store_options *options,
               struct error *err)
{
	return engine_of(path)->open(out, path, options, err);
}

void store_close(struct store *s)
{
	if (s)
		s->engine->close(s);
}

int store_begin(struct store *s, const struct recording *described, uint64_t start_ns,
                struct error *err)
{
	return s->engine->begin(s, described, start_ns, err);
}

int store_set_notes(struct store *s, char *const *notes, size_t count, struct error *err)
{
	return s->engine->set_notes(s, notes, count, err);
}

int store_add_window(struct store *s, const struct profile *p, const struct store_window *w,
                     struct error *err)
{
	return s->engine->add_window(s, p, w, err);
}

int store_add_gap(struct store *s, uint64_t start_ns, uint64_t end_ns, const char *why,
                  struct error *err)
{
	return s->engine->add_gap(s, start_ns, end_ns, why, err);
}

int store_retention(struct store *s, uint64_t now_ns, struct error *err)
{
	return s->engine->retention(s, now_ns, err);
}

int store_end(struct store *s, uint64_t end_ns, const char *why, struct error *err)
{
	return s->engine->end(s, end_ns, why, err);
}

int store_copy(struct store *s, const char *path, struct error *err)
{
	return s->engine->copy(s, path, err);
}

uint64_t store_bytes(const struct store *s)
{
	return s->engine->bytes(s);
}

bool store_sent(const struct store *s, struct send_account *a)
{
	*a = (struct send_account){0};
	return s->engine->sent && s->engine->sent(s, a);
}

int store_read(const char *path, const struct store_range *range, struct profile *p,
               struct error *err)
{
	return engine_of(path)->read(path, range, p, err);
}

int store_changes_add(const char *path, const struct store_change *changes, size_t count,
                      struct error *err)
{
	return count ? engine_of(path)->add_changes(path, changes, count, err) : 0;
}

int store_waits_read(const char *path, const struct store_range *range, struct store_waits *waits,
                     struct error *err)
{
	store_waits_init(waits);
	return engine_of(path)->read_waits(path, range, waits, err);
}

bool store_is_remote(const char *path)
{
	return engine_of(path) == &click_engine;
}

int store_keep_password(struct error *err)
{
	return click_server_keep_password(err);
}

int store_create(const char *path, const char *cluster, struct error *err)
{
	if (strstr(path, ":/") && !store_is_remote(path))
		return error_set(err, EINVAL,
		                 "'%s' is not the name of a store on a server; the form is "
		                 "clickhouse://[USER@]HOST[:PORT]/DATABASE, or clickhouse+https:// "
		                 "for TLS",
		                 path);
	if (!store_is_remote(path))
		return error_set(err, EINVAL,
		                 "%s: a store in a file is created by 'assay start --store %s'",
		                 path, path);
	return click_store_create(path, cluster, err);
}

static int copy_file(const char *from, const char *to, struct error *err)
{
	struct store_options options = {.read_only = true};
	struct store *s;
	int status = store_open(&s, from, &options, err);

	if (!status)
		status = store_copy(s, to, err);
	store_close(s);
	return status;
}

int store_transfer(const char *from, const struct store_range *range, const char *to,
                   uint64_t *windows, struct error *err)
{
	*windows = 0;
	if (store_is_remote(from) && store_is_remote(to))
		return error_set(err, EINVAL,
		                 "both stores are on servers: copy to a file first, and then the "
		                 "file");
	if (store_is_remote(from))
		return click_store_fetch(from, range, to, err);
	if (range->from_ns || range->to_ns || range->host || range->service)
		return error_set(err, EINVAL,
		                 "a part can be copied from a store on a server only; a file is "
		                 "copied as a whole");
	return store_is_remote(to) ? click_store_send(from, to, windows, err)
	                           : copy_file(from, to, err);
}

int store_sums_read(const char *path, const struct store_sums_request *request,
                    struct store_sums *sums, struct error *err)
{
	*sums = (struct store_sums){0};
	if (!store_is_remote(path))
		return error_set(err, EOPNOTSUPP,
		                 "%s is a store in a file: sums of services and hosts are for "
		                 "stores on a server (clickhouse://HOST/DATABASE)",
		                 path);
	return click_series_read(path, request, sums, err);
}

void store_sums_done(struct store_sums *sums)
{
	if (sums->texts.texts.count)
		intern_done(&sums->texts);
	vec_done(&sums->sums);
}

int store_machines_read(const char *path, const struct store_range *range,
                        struct store_machines *machines, struct error *err)
{
	*machines = (struct store_machines){0};
	if (!store_is_remote(path))
		return error_set(err, EOPNOTSUPP,
		                 "%s is a store in a file: 'assay status' shows its writer. The "
		                 "machines of a store on a server (clickhouse://HOST/DATABASE) "
		                 "can be listed",
		                 path);
	return click_machines_read(path, range, machines, err);
}

void store_machines_done(struct store_machines *machines)
{
	if (machines->texts.texts.count)
		intern_done(&machines->texts);
	vec_done(&machines->machines);
}

int store_keep(const char *path, const struct store_retention_rules *rules, uint64_t now_ns,
               struct store_kept *kept, struct error *err)
{
	return store_is_remote(path) ? click_keep(path, rules, now_ns, kept, err)
	                             : sqlite_store_keep(path, rules, now_ns, kept, err);
}

static int central_is_remote(const char *name, struct error *err)
{
	if (store_is_remote(name))
		return 0;
	return error_set(err, EINVAL,
	                 "'%s' is not a database on a server; the form is "
	                 "clickhouse://[USER@]HOST[:PORT]/DATABASE, or clickhouse+https:// for TLS",
	                 name);
}

int store_central_create(const char *name, struct error *err)
{
	int status = central_is_remote(name, err);

	return status ? status : click_central_create(name, err);
}

int store_central_read(const char *name, const struct store_server *server, void (*opened)(void),
                       struct store_central *central, struct error *err)
{
	int status = central_is_remote(name, err);

	*central = (struct store_central){0};
	return status ? status : click_central_read(name, server, opened, central, err);
}

int store_central_add(const char *name, const struct store_central *central, struct error *err)
{
	int status = central_is_remote(name, err);

	return status ? status : click_central_add(name, central, err);
}

void store_central_done(struct store_central *central)
{
	vec_each (o, &central->options) {
		free(o->machines);
		free(o->option);
		free(o->value);
		free(o->author);
	}
	vec_done(&central->options);
}
