/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * http_client: requests to a server by HTTP or HTTPS, with limits of time and size.
 *
 *	http_client_open(&c, &options, err)	reads the token, loads libcurl
 *	http_client_send(c, &request, &answer, err)
 *	http_answer_check(&answer, url, err)	an error for each status but 2xx
 *	http_answer_done(&answer)
 *	http_client_close(c)			NULL-safe
 *
 * The connection is kept for the next request to the same server. libcurl is loaded when the first
 * client opens. Certificates and names of servers are always verified. Redirects are not followed:
 * they are an answer with a status of 3xx, which http_answer_check() refuses, so that a token goes
 * to no other server. No cookies, no ~/.netrc. http_proxy and the like in the environment are used
 * as by curl. The answer comes from a stranger: its size is limited after it was unpacked, and
 * texts of it in error sentences are printable.
 *
 * The token is sent as `Authorization: Bearer TOKEN`, or with a user as `Basic`. It is never part
 * of a sentence. Its file must be a regular file of this user or of root which others cannot read.
 * It is read again if the server answered 401 or 403 and the file changed.
 *
 * Errors (-errno with a sentence that names the URL): -ECONNREFUSED, -ETIMEDOUT, -ECONNRESET,
 * -EHOSTUNREACH (no such host, no route), -EAGAIN (429, 502, 503, 504, 408): passing, see
 * http_is_passing(). -EKEYREJECTED: the certificate; -EACCES: 401, 403; -EFBIG: the answer is
 * larger than its limit; -EREMOTE: 3xx; -EPROTO: any other answer; -ECANCELED: `stop` was true;
 * -ENOENT: libcurl is not installed.
 *
 * A client belongs to one thread. It does not survive fork(): open it in the process that uses it.
 * No signals are used. Times in ms. Uses: base.
 */
#ifndef ASSAY_BASE_HTTP_HTTP_CLIENT_H
#define ASSAY_BASE_HTTP_HTTP_CLIENT_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http_client_options {
	const char *name; /* of the server, in sentences; NULL: the URL of the request */
	/* 0: the limits of base/limit.h */
	uint64_t connect_ms;
	uint64_t silent_ms; /* no byte is sent or received for this time */
	uint64_t first_ms;  /* to the first byte of an answer, from the last one sent; 0: none */
	uint64_t total_ms;  /* a whole request */
	size_t answer_max;  /* bytes of a body, unpacked */
	const char *user;   /* NULL: none */
	const char *token_file; /* NULL: none */
	const char *password;   /* of `user`, in place of a file; NULL: none */
	const char *ca_file;    /* certificates to trust; NULL: those of the system */
	/*
	 * ca_file is read when the client is opened, for a process that will not be able to read it
	 * later. An earlier libcurl than 7.77 reads it later all the same.
	 */
	bool files_once;
	/* Called at least once a second while a request runs; true ends it. NULL: none. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

struct http_request {
	/* http:// or https://; a query (?a=b) is not part of error sentences. */
	const char *url;
	const char *method; /* NULL: POST with a body, else GET */
	/* "Name: value", NULL at the end; NULL: none. Content-Type of the body is one of them. */
	const char *const *headers;
	const void *body; /* NULL: none */
	size_t size;
	bool pack; /* the body is sent with gzip */
	/*
	 * The request has a connection of its own. libcurl sends a request a second time if a
	 * connection that was used before ends without an answer: the server may get it twice.
	 */
	bool fresh;
	/*
	 * Instead of answer->body, for an answer of 2xx: receives its bytes piece by piece; other
	 * answers are in answer->body. -errno with a sentence ends the request with this error.
	 * answer_max does not apply.
	 */
	int (*receive)(void *ctx, const void *bytes, size_t size, struct error *err);
	void *receive_ctx;
};

struct http_answer {
	unsigned status; /* 200, 404, ...; 0: none */
	/* Retry-After in ms, at most a day; 0: none. Dates are converted. */
	uint64_t retry_after_ms;
	uint64_t sent_bytes; /* of the body, as packed */
	struct buf headers;  /* lines of the last answer; see http_answer_header() */
	struct buf body;
};

struct http_client;

int http_client_open(struct http_client **c, const struct http_client_options *o,
                     struct error *err);
void http_client_close(struct http_client *c);

/*
 * 0: a complete answer arrived, with any status. The caller passes a zeroed struct, or one of an
 * earlier request, which is emptied.
 */
int http_client_send(struct http_client *c, const struct http_request *r, struct http_answer *a,
                     struct error *err);
void http_answer_done(struct http_answer *a);
/* 0 for 2xx, else the error for the status, with the first line of the body. */
int http_answer_check(const struct http_answer *a, const char *url, struct error *err);
/* The value of a header without spaces around it, in `value`; false: there is none. */
bool http_answer_header(const struct http_answer *a, const char *name, struct buf *value);

/* True for an error after which the same request may succeed later. */
bool http_is_passing(int error);

/*
 * Reads a token from a file by the rules above: its first line, printable, 1 to 4096 characters.
 * For protocols that send it in a header of their own.
 */
int http_token_read(const char *path, struct buf *token, struct error *err);

#endif
