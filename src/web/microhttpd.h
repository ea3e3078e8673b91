/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * microhttpd: the functions of libmicrohttpd, which is loaded when a server starts.
 *
 * Linking it would make every command of assay load twelve more libraries (TLS, certificates),
 * which takes 1.3 ms of CPU time at each start. -ENOENT with a sentence: it is not installed.
 * Stateless; the library stays loaded. Any thread. Uses: base.
 */
#ifndef ASSAY_WEB_MICROHTTPD_H
#define ASSAY_WEB_MICROHTTPD_H

#include "base/error.h"

#include <microhttpd.h>

#define MICROHTTPD_FUNCTIONS(X)                                                                    \
	X(start_daemon)                                                                            \
	X(stop_daemon)                                                                             \
	X(run)                                                                                     \
	X(get_timeout)                                                                             \
	X(get_daemon_info)                                                                         \
	X(get_connection_info)                                                                     \
	X(get_connection_values)                                                                   \
	X(lookup_connection_value)                                                                 \
	X(create_response_from_buffer)                                                             \
	X(create_response_from_callback)                                                           \
	X(create_response_from_fd64)                                                               \
	X(add_response_header)                                                                     \
	X(queue_response)                                                                          \
	X(destroy_response)                                                                        \
	X(suspend_connection)                                                                      \
	X(resume_connection)

/* Pointers to MHD_start_daemon() and so on. */
struct microhttpd {
#define MICROHTTPD_POINTER(name) __typeof__(MHD_##name) *name;
	MICROHTTPD_FUNCTIONS(MICROHTTPD_POINTER)
#undef MICROHTTPD_POINTER
};

int microhttpd_load(struct microhttpd *m, struct error *err);

#endif
