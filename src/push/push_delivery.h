/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * push_delivery: delivers batches to a target.
 *
 *	push_delivery_open(&d, &target, &options, err)
 *	push_delivery_send(d, name, &batch, err)
 *	push_delivery_close(d)		NULL-safe
 *
 * 0: the back end accepted the batch. Errors are those of http_client.h; http_is_passing() tells
 * whether the same batch may be accepted later. A back end that accepts a part of a batch (OTLP's
 * partial success) gives -EPROTO, since repeating it would count the other part twice. One thread.
 * Uses: base, format.
 */
#ifndef ASSAY_PUSH_PUSH_DELIVERY_H
#define ASSAY_PUSH_PUSH_DELIVERY_H

#include "base/http/http_client.h"
#include "push/push_batch.h"

struct push_delivery;

int push_delivery_open(struct push_delivery **d, const struct push_target *target,
                       const struct http_client_options *options, struct error *err);
/* `name`: of a file in a directory, without a suffix. *wait_ms: the back end asks for this pause.
 */
int push_delivery_send(struct push_delivery *d, const char *name, const struct push_batch *b,
                       uint64_t *wait_ms, struct error *err);
void push_delivery_close(struct push_delivery *d);

#endif
