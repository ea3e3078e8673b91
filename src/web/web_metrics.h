/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_metrics: serves a text at http://127.0.0.1:PORT/metrics, in a process without rights.
 *
 *	web_metrics_start(&m, &address, err)	while this process has one thread
 *	web_metrics_fd(&m)			readable: the text is needed, or the process has
 *						exited
 *	web_metrics_answer(&m, text, size)	-EPIPE: it has exited
 *	web_metrics_stop(&m)			accepts a zeroed struct
 *
 * The process opens no files and starts no programs; it asks its parent for the text at each
 * request. Requests with a Host other than the address are refused. At most 8 connections, 10 s
 * each. It exits when its parent exits. One thread. Uses: base, microhttpd.
 */
#ifndef ASSAY_WEB_WEB_METRICS_H
#define ASSAY_WEB_WEB_METRICS_H

#include "web/web_address.h"

#include <sys/types.h>

#define WEB_METRICS_MAX 65536 /* bytes of the text */

struct web_metrics {
	pid_t pid;   /* 0: none */
	int channel; /* valid with pid */
	struct web_address address;
};

int web_metrics_start(struct web_metrics *m, const struct web_address *a, struct error *err);
int web_metrics_fd(const struct web_metrics *m);
int web_metrics_answer(struct web_metrics *m, const char *text, size_t size);
void web_metrics_stop(struct web_metrics *m);

#endif
