/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_process: the process that serves the page. It has no rights: it gets the data as files in
 * memory, and opens none.
 *
 *	web_process_start()	listens and starts the process, which drops its rights; p->url
 *	web_process_publish()	data for the page
 *	web_process_finish()	no data will follow
 *	web_process_fd()	readable when the process has exited; then web_process_failure();
 *				or, if it may ask, when a request waits: web_process_ask()
 *	web_process_stop()	ends it, and waits; accepts a zeroed struct
 *
 * The process ignores SIGINT, SIGTERM and SIGHUP: it exits when this process stops it or exits,
 * also by SIGKILL. 0 or -errno. One thread: start it before threads are created. Uses: base,
 * launch.
 */
#ifndef ASSAY_WEB_WEB_PROCESS_H
#define ASSAY_WEB_WEB_PROCESS_H

#include "web/web_ask.h"
#include "web/web_server.h"

struct web_process_options {
	struct web_address address;
	const char *viewer; /* the bundle; see web_page.h */
	size_t viewer_size;
	bool live;
	uid_t caller;                  /* the user who looks at the page, besides this one */
	uid_t reader;                  /* one more user who may connect; 0: none */
	bool asks;                     /* the page asks for the data of a selection */
	bool interface;                /* the server takes calls of WEB_INTERFACE */
	const struct web_token *token; /* NULL: a new one */
};

struct web_process {
	pid_t pid; /* 0: none */
	int channel;
	struct buf url;
	bool open_to_all; /* the kernel does not report which user connects */
};

int web_process_start(struct web_process *p, const struct web_process_options *o,
                      struct error *err);
int web_process_publish(struct web_process *p, const struct buf *data, struct error *err);
int web_process_finish(struct web_process *p, struct error *err);
int web_process_fd(const struct web_process *p);
/* The reason for which it has exited. */
int web_process_failure(struct web_process *p, struct error *err);
/* The next request; waits for it. The caller answers it, and calls web_ask_done(). */
int web_process_ask(struct web_process *p, struct web_ask *ask, struct error *err);
/* `status`: of HTTP. */
int web_process_answer(struct web_process *p, const struct web_ask *ask, unsigned status,
                       enum web_answer_type type, const struct buf *body, struct error *err);
void web_process_stop(struct web_process *p);

#endif
