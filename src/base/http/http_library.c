/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_library.h"

#include "base/library.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/* The two builds of Debian, with OpenSSL and with GnuTLS, have the same functions. */
static void *open_library(void)
{
	void *library = library_open("libcurl.so.4");

	return library ? library : library_open("libcurl-gnutls.so.4");
}

static int load(struct http_library *l, struct error *err)
{
	void *library = open_library();
	bool all = true;

	if (!library)
		return error_set(err, ENOENT,
		                 "requests by HTTP need libcurl.so.4, which is not installed "
		                 "(Debian: libcurl4)");
#define HTTP_LIBRARY_FIND(name) all &= library_find(library, "curl_" #name, &l->name);
	HTTP_LIBRARY_FUNCTIONS(HTTP_LIBRARY_FIND)
#undef HTTP_LIBRARY_FIND
	if (!all || l->global_init(CURL_GLOBAL_DEFAULT))
		return error_set(err, ENOENT, "libcurl.so.4 does not have the expected functions");
	return 0;
}

int http_library_load(struct http_library *l, struct error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct http_library loaded;
	int ret = 0;

	pthread_mutex_lock(&lock);
	if (!loaded.easy_init)
		ret = load(&loaded, err);
	if (ret)
		loaded = (struct http_library){0};
	*l = loaded;
	pthread_mutex_unlock(&lock);
	return ret;
}
