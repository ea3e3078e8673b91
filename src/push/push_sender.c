/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_sender.h"

#include "base/process/sender_process.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FIRST_MS 500
#define MOST_MS 60000

struct push_sender {
	struct push_sender_options o;
	struct sender_process *process;
	struct push_delivery *delivery; /* in the child */
};

/* The file is removed and counted in one change, so that a reader sees both or none. */
static void settle(struct push_sender *p, struct sending *s, const struct push_item *item,
                   bool sent, const char *error)
{
	struct sender_state *state = sending_begin(s);

	push_spool_remove(p->o.spool, item);
	sending_count(sent ? &state->sent : &state->refused, 1, item->batch.samples);
	snprintf(state->error, sizeof(state->error), "%s", error);
	sending_end(s);
}

/* Errors that are not due to the batch: it may be accepted later. */
static bool keeps_batch(int ret)
{
	return ret != -EPROTO && ret != -EFBIG;
}

static enum sending_result fail(struct push_sender *p, const struct push_item *item, int ret)
{
	push_spool_return(p->o.spool, item);
	if (http_is_passing(ret))
		return SENDING_FAILED;
	/* The next attempt reads token and certificates again. */
	push_delivery_close(p->delivery);
	p->delivery = NULL;
	return SENDING_REFUSED;
}

static int deliver(struct push_sender *p, struct push_item *item, uint64_t *asked,
                   struct error *err)
{
	char name[sizeof(item->name)];
	int ret = 0;

	if (!p->delivery)
		ret = push_delivery_open(&p->delivery, p->o.target, &p->o.client, err);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(item->name, "."), item->name);
	return ret ? ret : push_delivery_send(p->delivery, name, &item->batch, asked, err);
}

static enum sending_result send_one(void *ctx, struct sending *s, struct error *err)
{
	enum sending_result result = SENDING_DONE;
	struct push_sender *p = ctx;
	struct push_item item;
	uint64_t asked = 0;
	int ret = push_spool_take(p->o.spool, &item, err);

	if (!item.name[0]) {
		push_item_done(&item);
		return SENDING_IDLE;
	}
	p->o.client.stop = sending_is_late;
	p->o.client.stop_ctx = s;
	if (ret) { /* a damaged file */
		settle(p, s, &item, false, err->text);
	} else {
		ret = deliver(p, &item, &asked, err);
		sending_asked(s, asked);
		if (ret && keeps_batch(ret))
			result = fail(p, &item, ret);
		else
			settle(p, s, &item, !ret, err->text);
	}
	push_item_done(&item);
	return result;
}

int push_sender_start(struct push_sender **out, const struct push_sender_options *o,
                      struct error *err)
{
	struct push_sender *p = xcalloc(1, sizeof(*p));
	struct sender_process_options process = {.name = "assay-push",
	                                         .attempt = send_one,
	                                         .ctx = p,
	                                         .token_file = o->client.token_file,
	                                         .kept = push_spool_descriptor(o->spool),
	                                         .first_ms = FIRST_MS,
	                                         .most_ms = MOST_MS,
	                                         .end_ms = PUSH_END_MS};

	*out = p;
	p->o = *o;
	return sender_process_start(&p->process, &process, err);
}

struct sender_process *push_sender_process(const struct push_sender *p)
{
	return p->process;
}

void push_sender_free(struct push_sender *p)
{
	if (!p)
		return;
	sender_process_free(p->process);
	free(p);
}
