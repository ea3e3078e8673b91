/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_delivery.h"

#include "base/file/replace_file.h"
#include "base/file/safe_directory.h"
#include "base/file/write_all.h"
#include "format/otlp/otlp_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

struct push_delivery {
	const struct push_target *target;
	struct http_client *client; /* NULL: a directory */
	struct http_answer answer;
};

/* The directory is made here, so that an error is reported before the first batch. */
static int make_directory(const char *path, struct error *err)
{
	int fd = safe_directory_open(path, SAFE_DIRECTORY_MAKE | SAFE_DIRECTORY_SUDO, NULL, err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

int push_delivery_open(struct push_delivery **out, const struct push_target *target,
                       const struct http_client_options *options, struct error *err)
{
	struct push_delivery *d = xcalloc(1, sizeof(*d));
	struct http_client_options o = *options;
	int ret;

	d->target = target;
	o.user = target->user;
	ret = target->directory ? make_directory(target->directory, err)
	                        : http_client_open(&d->client, &o, err);
	if (ret)
		push_delivery_close(d);
	*out = ret ? NULL : d;
	return ret;
}

static int write_file(struct push_delivery *d, const char *name, const struct push_batch *b,
                      struct error *err)
{
	char *path = xasprintf("%s/%s.pb.gz", d->target->directory, name);
	struct replacement r;
	int fd = replacement_begin(&r, path, NULL, err), ret = fd < 0 ? fd : 0;

	if (!ret) {
		ret = write_all(fd, b->body.data, b->body.size);
		if (ret)
			error_set(err, -ret, "%s: %s", path, write_error(-ret));
		close(fd);
		if (!ret)
			ret = replacement_put(&r, err);
		else
			replacement_discard(&r);
	}
	free(path);
	return ret;
}

/* pprof is compressed already. */
static int send_request(struct push_delivery *d, const struct push_batch *b, struct error *err)
{
	static const char *const types[] = {
	        [PUSH_OTLP] = "Content-Type: application/x-protobuf",
	        [PUSH_PYROSCOPE] = "Content-Type: application/proto",
	        [PUSH_INGEST] = "Content-Type: application/octet-stream",
	};
	const char *const headers[] = {
	        types[d->target->kind],
	        d->target->kind == PUSH_PYROSCOPE ? "Connect-Protocol-Version: 1" : NULL, NULL};
	char *url = xasprintf("%s%s", d->target->url, buf_text(&b->query));
	struct http_request r = {.url = url,
	                         .headers = headers,
	                         .body = buf_text(&b->body),
	                         .size = b->body.size,
	                         .pack = d->target->kind == PUSH_OTLP};
	int ret = http_client_send(d->client, &r, &d->answer, err);

	free(url);
	return ret;
}

static int check_partial(const struct push_delivery *d, struct error *err)
{
	struct otlp_answer a;
	int ret = 0;

	if (otlp_answer_read(d->answer.body.data, d->answer.body.size, &a) && a.rejected > 0)
		ret = error_set(err, EPROTO, "%s: the server rejected %" PRId64 " profiles: %s",
		                d->target->url, a.rejected, buf_text(&a.message));
	buf_done(&a.message);
	return ret;
}

int push_delivery_send(struct push_delivery *d, const char *name, const struct push_batch *b,
                       uint64_t *wait_ms, struct error *err)
{
	int ret;

	*wait_ms = 0;
	if (d->target->directory)
		return write_file(d, name, b, err);
	ret = send_request(d, b, err);
	if (ret)
		return ret;
	*wait_ms = d->answer.retry_after_ms;
	ret = http_answer_check(&d->answer, d->target->url, err);
	if (!ret && d->target->kind == PUSH_OTLP)
		ret = check_partial(d, err);
	return ret;
}

void push_delivery_close(struct push_delivery *d)
{
	if (!d)
		return;
	http_client_close(d->client);
	http_answer_done(&d->answer);
	free(d);
}
