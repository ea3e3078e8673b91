/* SPDX-License-Identifier: GPL-2.0-or-later */
/* web_server_none: for builds without the headers of libmicrohttpd. */
#include "web/web_metrics.h"
#include "web/web_server.h"

#include <errno.h>

int web_server_run(const struct web_server_options *o, struct error *err)
{
	return error_set(err, ENOSYS,
	                 "this assay was built without libmicrohttpd (Debian: libmicrohttpd-dev), "
	                 "which serves the page; 'assay report --html FILE' writes it as a file");
}

int web_metrics_start(struct web_metrics *m, const struct web_address *a, struct error *err)
{
	*m = (struct web_metrics){0};
	return error_set(err, ENOSYS,
	                 "this assay was built without libmicrohttpd (Debian: libmicrohttpd-dev), "
	                 "which serves the metrics; 'assay status --metrics' prints them");
}

int web_metrics_fd(const struct web_metrics *m)
{
	return -1;
}

int web_metrics_answer(struct web_metrics *m, const char *text, size_t size)
{
	return -EPIPE;
}

void web_metrics_stop(struct web_metrics *m)
{
}
