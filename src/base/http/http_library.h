/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http_library: the functions of libcurl, which is loaded when the first client opens.
 *
 * Linking it would make every command load TLS, Kerberos and LDAP. -ENOENT with a sentence: it is
 * not installed. Stateless; the library stays loaded. Any thread. Uses: base.
 */
#ifndef ASSAY_BASE_HTTP_HTTP_LIBRARY_H
#define ASSAY_BASE_HTTP_HTTP_LIBRARY_H

#include "base/error.h"

/* Calls are by pointer, so the macros that check types in calls do not apply. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#undef curl_easy_setopt
#undef curl_easy_getinfo

#define HTTP_LIBRARY_FUNCTIONS(X)                                                                  \
	X(global_init)                                                                             \
	X(easy_init)                                                                               \
	X(easy_reset)                                                                              \
	X(easy_setopt)                                                                             \
	X(easy_perform)                                                                            \
	X(easy_getinfo)                                                                            \
	X(easy_strerror)                                                                           \
	X(easy_cleanup)                                                                            \
	X(slist_append)                                                                            \
	X(slist_free_all)

/* Pointers to curl_global_init() and so on. */
struct http_library {
#define HTTP_LIBRARY_POINTER(name) __typeof__(curl_##name) *name;
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_POINTER)
#undef HTTP_LIBRARY_POINTER
};

/* Loads the library and initialises it, once in this process. */
int http_library_load(struct http_library *l, struct error *err);

#endif
