/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/http/http_client.h"

#include "base/clock.h"
#include "base/http/http_library.h"
#include "base/http/http_url.h"
#include "base/limit.h"
#include "base/memory/deflate.h"
#include "base/memory/xalloc.h"
#include "base/read/regular_file.h"
#include "base/text/base64.h"
#include "base/text/plain_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PACK_LEVEL 3

struct http_client {
	struct http_library lib;
	struct http_client_options o;
	char *name, *user, *token_file, *ca_file;
	struct buf token, certificates; /* certificates: of files_once */
	struct timespec token_changed;
	CURL *curl;
	char reason[CURL_ERROR_SIZE];
};

/* One request while it runs. */
struct transfer {
	struct http_client *c;
	const struct http_request *r;
	struct http_answer *a;
	struct error *err;
	const char *place; /* the server, or the URL without its query, for sentences */
	int failed;        /* -errno of a callback */
	bool answered;     /* a byte of the answer came */
	curl_off_t sent;   /* bytes, */
	uint64_t sent_ns;  /* and when the last one was sent */
};

/* ---- the token ----------------------------------------------------------- */

static struct timespec changed_at(const char *path)
{
	struct stat st;

	return stat(path, &st) ? (struct timespec){0} : st.st_ctim;
}

static int read_token(struct http_client *c, struct error *err)
{
	if (c->o.password)
		buf_puts(&c->token, c->o.password);
	c->o.password = NULL; /* the text belongs to the caller */
	if (!c->token_file)
		return 0;
	c->token_changed = changed_at(c->token_file);
	return http_token_read(c->token_file, &c->token, err);
}

/* After a refusal: true if the file has another token now. */
static bool renew_token(struct http_client *c)
{
	struct timespec now;

	if (!c->token_file)
		return false;
	now = changed_at(c->token_file);
	if (now.tv_sec == c->token_changed.tv_sec && now.tv_nsec == c->token_changed.tv_nsec)
		return false;
	return !read_token(c, NULL);
}

static void add_authorization(const struct http_client *c, struct buf *line)
{
	struct buf pair = {0};

	if (!c->user) {
		buf_addf(line, "Authorization: Bearer %s", buf_text(&c->token));
		return;
	}
	buf_addf(&pair, "%s:%s", c->user, buf_text(&c->token));
	buf_puts(line, "Authorization: Basic ");
	base64_add(line, buf_text(&pair), pair.size);
	buf_done(&pair);
}

/* ---- callbacks of libcurl ------------------------------------------------ */

static size_t too_much(struct transfer *t, const char *what, size_t limit)
{
	t->failed = error_set(t->err, EFBIG, "%s: the %s of the answer is larger than %zu bytes",
	                      t->place, what, limit);
	return 0;
}

/* A new status line begins the headers of another answer (100 Continue, a proxy's). */
static size_t on_header(char *bytes, size_t one, size_t size, void *ctx)
{
	struct transfer *t = ctx;

	t->answered = true;
	if (size >= 5 && !memcmp(bytes, "HTTP/", 5))
		buf_clear(&t->a->headers);
	if (t->a->headers.size + size > LIMIT_HTTP_HEAD_BYTES)
		return too_much(t, "head", LIMIT_HTTP_HEAD_BYTES);
	buf_add(&t->a->headers, bytes, size);
	return size;
}

static unsigned status_now(struct http_client *c)
{
	long status = 0;

	c->lib.easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
	return status > 0 && status < 1000 ? (unsigned)status : 0;
}

static size_t on_body(char *bytes, size_t one, size_t size, void *ctx)
{
	struct transfer *t = ctx;
	size_t limit = t->r->receive ? LIMIT_HTTP_ERROR_BYTES : t->c->o.answer_max;
	unsigned status = t->r->receive ? status_now(t->c) : 0;

	if (status >= 200 && status < 300) {
		t->failed = t->r->receive(t->r->receive_ctx, bytes, size, t->err);
		return t->failed ? 0 : size;
	}
	if (t->a->body.size + size > limit)
		return too_much(t, "body", limit);
	buf_add(&t->a->body, bytes, size);
	return size;
}

static int on_progress(void *ctx, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
	struct transfer *t = ctx;
	uint64_t first_ms = t->c->o.first_ms, now = clock_ns(CLOCK_MONOTONIC);

	if (up != t->sent || !t->sent_ns) {
		t->sent = up;
		t->sent_ns = now;
	}
	if (first_ms && !t->answered && now - t->sent_ns > first_ms * 1000000) {
		t->failed = error_set(t->err, ETIMEDOUT, "%s: the server has not answered for %g s",
		                      t->place, (double)first_ms / 1e3);
		return 1;
	}
	return t->c->o.stop && t->c->o.stop(t->c->o.stop_ctx);
}

/* ---- a request ----------------------------------------------------------- */

static int curl_error(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return EHOSTUNREACH;
	case CURLE_COULDNT_CONNECT:
		return ECONNREFUSED;
	case CURLE_OPERATION_TIMEDOUT:
		return ETIMEDOUT;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
		return ECONNRESET;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_ISSUER_ERROR:
		return EKEYREJECTED;
	case CURLE_ABORTED_BY_CALLBACK:
		return ECANCELED;
	case CURLE_OUT_OF_MEMORY:
		return ENOMEM;
	default:
		return EPROTO;
	}
}

static int transfer_failed(struct transfer *t, CURLcode code)
{
	struct http_client *c = t->c;
	const char *reason = *c->reason ? c->reason : c->lib.easy_strerror(code);
	struct buf shown = {0};

	if (t->failed)
		return t->failed;
	plain_text_add(&shown, reason, strlen(reason));
	error_set(t->err, curl_error(code), "%s: %s", t->place, buf_text(&shown));
	buf_done(&shown);
	return -curl_error(code);
}

static void set_limits(struct http_client *c)
{
	const struct http_client_options *o = &c->o;
	__typeof__(c->lib.easy_setopt) set = c->lib.easy_setopt;

	set(c->curl, CURLOPT_NOSIGNAL, 1L);
	set(c->curl, CURLOPT_CONNECTTIMEOUT_MS, (long)o->connect_ms);
	set(c->curl, CURLOPT_TIMEOUT_MS, (long)o->total_ms);
	set(c->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	set(c->curl, CURLOPT_LOW_SPEED_TIME, (long)((o->silent_ms + 999) / 1000));
}

/* False: the library opens the file by itself. */
static bool set_certificates(struct http_client *c)
{
#if LIBCURL_VERSION_NUM >= 0x074d00
	struct curl_blob blob = {.data = c->certificates.data, .len = c->certificates.size};

	return blob.len && c->lib.easy_setopt(c->curl, CURLOPT_CAINFO_BLOB, &blob) == CURLE_OK;
#else
	return false;
#endif
}

/* The defaults of libcurl verify certificates too; they are set, so that they cannot be others. */
static void set_trust(struct http_client *c, bool loopback)
{
	__typeof__(c->lib.easy_setopt) set = c->lib.easy_setopt;

#if LIBCURL_VERSION_NUM >= 0x075500
	set(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	set(c->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	set(c->curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	set(c->curl, CURLOPT_FOLLOWLOCATION, 0L);
	set(c->curl, CURLOPT_SSL_VERIFYPEER, 1L);
	set(c->curl, CURLOPT_SSL_VERIFYHOST, 2L);
	set(c->curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (c->ca_file && !set_certificates(c))
		set(c->curl, CURLOPT_CAINFO, c->ca_file);
	if (loopback)
		set(c->curl, CURLOPT_PROXY, "");
	set(c->curl, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
}

static void set_callbacks(struct transfer *t)
{
	struct http_client *c = t->c;
	__typeof__(c->lib.easy_setopt) set = c->lib.easy_setopt;

	*c->reason = 0;
	set(c->curl, CURLOPT_ERRORBUFFER, c->reason);
	set(c->curl, CURLOPT_HEADERFUNCTION, on_header);
	set(c->curl, CURLOPT_HEADERDATA, t);
	set(c->curl, CURLOPT_WRITEFUNCTION, on_body);
	set(c->curl, CURLOPT_WRITEDATA, t);
	set(c->curl, CURLOPT_XFERINFOFUNCTION, on_progress);
	set(c->curl, CURLOPT_XFERINFODATA, t);
	set(c->curl, CURLOPT_NOPROGRESS, 0L);
	set(c->curl, CURLOPT_ACCEPT_ENCODING, "gzip");
	set(c->curl, CURLOPT_USERAGENT, "assay/" ASSAY_VERSION);
}

static void set_body(struct http_client *c, const struct http_request *r, const struct buf *packed)
{
	__typeof__(c->lib.easy_setopt) set = c->lib.easy_setopt;

	if (r->body) {
		set(c->curl, CURLOPT_POSTFIELDSIZE_LARGE,
		    (curl_off_t)(packed->data ? packed->size : r->size));
		set(c->curl, CURLOPT_POSTFIELDS, packed->data ? packed->data : r->body);
	} else {
		set(c->curl, CURLOPT_HTTPGET, 1L);
	}
	if (r->method)
		set(c->curl, CURLOPT_CUSTOMREQUEST, r->method);
	set(c->curl, CURLOPT_URL, r->url);
	set(c->curl, CURLOPT_FRESH_CONNECT, (long)r->fresh);
}

/* "Expect:" disables 100-continue, for which a server without it would be awaited for a second. */
static struct curl_slist *make_headers(struct http_client *c, const struct http_request *r)
{
	struct curl_slist *list = c->lib.slist_append(NULL, "Expect:");
	struct buf line = {0};

	for (const char *const *h = r->headers; h && *h; h++)
		list = c->lib.slist_append(list, *h);
	if (r->body && r->pack)
		list = c->lib.slist_append(list, "Content-Encoding: gzip");
	if (c->token.size || c->user) {
		add_authorization(c, &line);
		list = c->lib.slist_append(list, buf_text(&line));
		explicit_bzero(line.data, line.size);
	}
	buf_done(&line);
	return list;
}

static int pack(const struct http_request *r, struct buf *packed, struct error *err)
{
	struct deflate d;
	int ret = deflate_begin(&d, DEFLATE_GZIP, PACK_LEVEL, packed, err);

	if (ret)
		return ret;
	deflate_add(&d, r->body, r->size);
	return deflate_finish(&d, err);
}

static void take_answer(struct http_client *c, struct http_answer *a)
{
	curl_off_t seconds = 0;

	a->status = status_now(c);
	c->lib.easy_getinfo(c->curl, CURLINFO_RETRY_AFTER, &seconds);
	if (seconds > (curl_off_t)(LIMIT_HTTP_PAUSE_MS / 1000))
		seconds = LIMIT_HTTP_PAUSE_MS / 1000;
	a->retry_after_ms = seconds > 0 ? (uint64_t)seconds * 1000 : 0;
}

static int perform(struct transfer *t, const struct http_url *u, const struct buf *packed)
{
	struct http_client *c = t->c;
	struct curl_slist *headers = make_headers(c, t->r);
	CURLcode code;

	c->lib.easy_reset(c->curl);
	set_limits(c);
	set_trust(c, http_url_is_loopback(u));
	set_callbacks(t);
	set_body(c, t->r, packed);
	c->lib.easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
	t->answered = false;
	t->sent_ns = 0;
	t->a->status = 0;
	t->a->sent_bytes = packed->data ? packed->size : t->r->size;
	buf_clear(&t->a->headers);
	buf_clear(&t->a->body);
	code = c->lib.easy_perform(c->curl);
	c->lib.slist_free_all(headers);
	if (code)
		return transfer_failed(t, code);
	take_answer(c, t->a);
	return 0;
}

/* The token must not be readable on the way. */
static int check_url(const struct http_client *c, const char *url, struct http_url *u,
                     struct error *err)
{
	int ret = http_url_parse(url, u, err);

	if (ret)
		return ret;
	if (strcmp(u->scheme, "http") && strcmp(u->scheme, "https"))
		return error_set(err, EINVAL, "%s: not an address of http or https", url);
	if (c->token.size && !strcmp(u->scheme, "http") && !http_url_is_loopback(u))
		return error_set(err, EINVAL,
		                 "%s: a token is not sent to another machine without TLS; use an "
		                 "https address",
		                 url);
	return 0;
}

int http_client_send(struct http_client *c, const struct http_request *r, struct http_answer *a,
                     struct error *err)
{
	struct transfer t = {.c = c, .r = r, .a = a, .err = err};
	struct http_url u;
	struct buf packed = {0};
	char *url = xstrndup(r->url, strcspn(r->url, "?"));
	int ret = check_url(c, url, &u, err);

	t.place = c->name ? c->name : url;
	if (!ret && r->body && r->pack)
		ret = pack(r, &packed, err);
	if (!ret)
		ret = perform(&t, &u, &packed);
	if (!ret && (a->status == 401 || a->status == 403) && renew_token(c))
		ret = perform(&t, &u, &packed);
	buf_done(&packed);
	http_url_done(&u);
	free(url);
	return ret;
}

/* ---- life cycle ---------------------------------------------------------- */

static void set_defaults(struct http_client_options *o)
{
	o->connect_ms = o->connect_ms ? o->connect_ms : LIMIT_HTTP_CONNECT_MS;
	o->silent_ms = o->silent_ms ? o->silent_ms : LIMIT_HTTP_SILENT_MS;
	o->total_ms = o->total_ms ? o->total_ms : LIMIT_HTTP_TOTAL_MS;
	o->answer_max = o->answer_max ? o->answer_max : LIMIT_HTTP_ANSWER_BYTES;
}

static int read_certificates(struct http_client *c, struct error *err)
{
	struct stat st;
	int fd = regular_file_open(c->ca_file, &st), ret = fd < 0 ? fd : 0;

	if (!ret && (uint64_t)st.st_size > LIMIT_CERTIFICATES_BYTES)
		ret = -EFBIG;
	if (!ret && buf_read(&c->certificates, fd) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret ? error_set(err, -ret, "%s: %s", c->ca_file, strerror(-ret)) : 0;
}

int http_client_open(struct http_client **out, const struct http_client_options *o,
                     struct error *err)
{
	struct http_client *c = xcalloc(1, sizeof(*c));
	int ret;

	c->o = *o;
	set_defaults(&c->o);
	c->name = o->name ? xstrdup(o->name) : NULL;
	c->user = o->user ? xstrdup(o->user) : NULL;
	c->token_file = o->token_file ? xstrdup(o->token_file) : NULL;
	c->ca_file = o->ca_file ? xstrdup(o->ca_file) : NULL;
	ret = http_library_load(&c->lib, err);
	if (!ret)
		ret = read_token(c, err);
	if (!ret && c->ca_file && o->files_once)
		ret = read_certificates(c, err);
	if (!ret) {
		c->curl = c->lib.easy_init();
		if (!c->curl)
			ret = error_set(err, ENOMEM, "libcurl cannot start a transfer");
	}
	if (ret)
		http_client_close(c);
	*out = ret ? NULL : c;
	return ret;
}

void http_client_close(struct http_client *c)
{
	if (!c)
		return;
	if (c->curl)
		c->lib.easy_cleanup(c->curl);
	if (c->token.data)
		explicit_bzero(c->token.data, c->token.size);
	buf_done(&c->token);
	free(c->name);
	free(c->user);
	free(c->token_file);
	free(c->ca_file);
	buf_done(&c->certificates);
	free(c);
}
