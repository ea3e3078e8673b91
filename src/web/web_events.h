/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_events: streams of server-sent events: the pages that wait for new data.
 *
 *	web_events_new()
 *	web_events_join()	a response for one more page
 *	web_events_tell()	sends an event to all of them: "update", "end"
 *	web_events_tick()	sends a comment after WEB_EVENTS_SILENCE_S without an event, so
 *				that closed connections are noticed
 *	web_events_close()	before MHD_stop_daemon()
 *	web_events_free()	after it; NULL-safe
 *
 * A stream whose page has all events is suspended, and takes no time. One thread. Uses: microhttpd.
 */
#ifndef ASSAY_WEB_WEB_EVENTS_H
#define ASSAY_WEB_WEB_EVENTS_H

#include "web/microhttpd.h"

#define WEB_EVENTS_MAX 16
#define WEB_EVENTS_SILENCE_S 15

struct web_events;

struct web_events *web_events_new(const struct microhttpd *m);
/* NULL: there are WEB_EVENTS_MAX streams already. */
struct MHD_Response *web_events_join(struct web_events *e, struct MHD_Connection *connection);
void web_events_tell(struct web_events *e, const char *event);
void web_events_tick(struct web_events *e);
void web_events_close(struct web_events *e);
void web_events_free(struct web_events *e);

#endif
