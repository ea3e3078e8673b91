/* SPDX-License-Identifier: GPL-2.0-or-later */
/* web_server_none: for builds without the headers of libmicrohttpd. */
#include "web/web_server.h"

#include <errno.h>

int web_server_run(const struct web_server_options *o, struct error *err)
{
	return error_set(err, ENOSYS,
	                 "this assay was built without libmicrohttpd (Debian: libmicrohttpd-dev), "
	                 "which serves the page; 'assay report --html FILE' writes it as a file");
}
