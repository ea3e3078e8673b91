/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

/* The two builds of Debian, with OpenSSL and with GnuTLS, have the same functions. */
static void *open_library(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);

	return library ? library : dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
}

/* A pointer to a function cannot be assigned from void * in standard C. */
static bool find(void *library, const char *name, void *function)
{
	void *address = dlsym(library, name);

	*(void **)function = address;
	return address != NULL;
}

static int load(struct http_library *l, struct error *err)
{
	void *library = open_library();
	bool all = true;

	if (!library)
		return error_set(err, ENOENT,
		                 "requests by HTTP need libcurl.so.4, which is not installed "
		                 "(Debian: libcurl4)");
#define HTTP_LIBRARY_FIND(name) all &= find(library, "curl_" #name, &l->name);
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
