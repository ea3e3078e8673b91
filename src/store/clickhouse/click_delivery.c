/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_delivery.h"

#include "base/memory/xalloc.h"
#include "store/clickhouse/click_schema.h"
#include "store/clickhouse/click_spool.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

#define FIRST_MS 1000
#define MOST_MS 60000
#define END_MS 10000
#define READY_AWAY_MS 3000
#define END_AWAY_MS 2000 /* of a service, whose next session sends the rest */

struct click_delivery {
	struct sender_process *process;
	char *name, *path;
	struct store_server o;

	/* In the child. */
	struct click_server *server; /* NULL: not open */
	bool ready;                  /* it has the tables */
	struct database db;
	int lock_fd; /* of the spool; -1: not held */
	struct click_sender *sender;
	click_window_ids ids;
	bool sessions; /* the rows at the end were sent */
};

static void close_server(struct click_delivery *d)
{
	/* The sender stays: it knows the processes whose ends must be sent. */
	if (d->sender)
		click_sender_forget(d->sender);
	click_server_close(d->server);
	d->server = NULL;
	d->ready = false;
}

static int open_server(struct click_delivery *d, struct sending *s, struct error *err)
{
	const struct click_server_options o = {.token_file = d->o.token_file,
	                                       .ca_file = d->o.ca_file,
	                                       .stop = sending_is_late,
	                                       .stop_ctx = s};
	int status = 0;

	if (!d->server)
		status = click_server_open(&d->server, d->name, &o, err);
	if (!status && !d->ready)
		status = click_schema_ready(d->server, true, err);
	d->ready = !status;
	return status;
}

static int prepare(void *ctx, struct sending *s, struct error *err)
{
	return open_server(ctx, s, err);
}

static int open_spool(struct click_delivery *d, struct error *err)
{
	int status;

	if (d->db.handle)
		return 0;
	status = d->lock_fd < 0 ? click_spool_hold(d->path, 0, &d->lock_fd, err) : 0;
	if (!status)
		status = database_open(&d->db, d->path, DATABASE_WRITE, err);
	if (!status)
		status = database_run(&d->db,
		                      "PRAGMA synchronous = NORMAL; PRAGMA cache_size = -1000;"
		                      "PRAGMA wal_autocheckpoint = 256;",
		                      err);
	if (status)
		database_close(&d->db);
	return status;
}

static void make_sender(struct click_delivery *d)
{
	if (d->sender) {
		click_sender_to(d->sender, d->server);
		return;
	}
	d->sender = click_sender_new(d->server, &d->db);
	click_sender_live(d->sender);
}

/* Marked and counted in one change, so that a reader sees both or none. */
static int settle(struct click_delivery *d, struct sending *s, const struct send_count *count,
                  struct error *err)
{
	struct sender_state *state = sending_begin(s);
	int status = click_spool_sent(&d->db, &d->ids, err);

	if (!status) {
		sending_count(&state->sent, count->batches, count->samples);
		state->error[0] = 0;
	}
	sending_end(s);
	return status;
}

static int send_windows(struct click_delivery *d, struct sending *s, const struct send_count *count,
                        struct error *err)
{
	int status = open_server(d, s, err);

	if (!status)
		make_sender(d);
	if (!status)
		status = click_sender_windows(d->sender, d->ids.items, d->ids.count, err);
	return status ? status : settle(d, s, count, err);
}

/* The rows of sessions and gaps that changed since the last window. */
static int send_sessions(struct click_delivery *d, struct sending *s, struct error *err)
{
	int status = open_server(d, s, err);

	if (!status)
		make_sender(d);
	if (!status)
		status = click_sender_sessions(d->sender, err);
	d->sessions = !status;
	return status;
}

static enum sending_result failed(struct click_delivery *d, int status)
{
	/* The next attempt reads the password and the certificates again. */
	if (status == -EACCES || status == -EKEYREJECTED) {
		close_server(d);
		return SENDING_REFUSED;
	}
	d->ready = false;
	return SENDING_FAILED;
}

static enum sending_result attempt(void *ctx, struct sending *s, struct error *err)
{
	struct click_delivery *d = ctx;
	struct send_count count;
	int status = open_spool(d, err);

	if (!status)
		status = click_spool_take(&d->db, &d->ids, &count, err);
	if (status)
		return SENDING_FAILED;
	if (d->ids.count) {
		status = send_windows(d, s, &count, err);
		malloc_trim(0);
		return status ? failed(d, status) : SENDING_DONE;
	}
	if (!sending_has_ended(s) || d->sessions)
		return SENDING_IDLE;
	status = send_sessions(d, s, err);
	return status ? failed(d, status) : SENDING_IDLE;
}

int click_delivery_start(struct click_delivery **out, const char *name, const char *path,
                         const struct store_server *server, struct error *err)
{
	struct click_delivery *d = xcalloc(1, sizeof(*d));
	const char *password = getenv("ASSAY_CLICKHOUSE_PASSWORD_FILE");
	const struct sender_process_options process = {
	        .name = "assay-send",
	        .prepare = prepare,
	        .attempt = attempt,
	        .ctx = d,
	        .token_file = server->token_file ? server->token_file : password,
	        .kept = -1,
	        .sleeps = true,
	        .first_ms = FIRST_MS,
	        .most_ms = MOST_MS,
	        .end_ms = server->away ? END_AWAY_MS : END_MS,
	};

	*out = d;
	d->lock_fd = -1;
	d->name = xstrdup(name);
	d->path = xstrdup(path);
	d->o = *server;
	return sender_process_start(&d->process, &process, err);
}

int click_delivery_ready(struct click_delivery *d, struct error *err)
{
	/* A service starts although the server is slow, or never ends its answer. */
	return sender_process_ready(d->process, d->o.away ? READY_AWAY_MS : UINT64_MAX, err);
}

void click_delivery_wake(struct click_delivery *d)
{
	sender_process_wake(d->process);
}

struct sender_process *click_delivery_process(const struct click_delivery *d)
{
	return d->process;
}

void click_delivery_free(struct click_delivery *d)
{
	if (!d)
		return;
	sender_process_free(d->process);
	free(d->name);
	free(d->path);
	free(d);
}
