/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/web_page.h"

#include <errno.h>
#include <string.h>

#define POLICY "http-equiv=\"Content-Security-Policy\""
#define CONTENT "content=\""
#define OFFLINE "connect-src 'none'"
#define OWN_SERVER "connect-src 'self'"

/* Directives that a meta element cannot have, or that the page does not need. */
#define ALWAYS "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
#define DEFAULT_POLICY                                                                             \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "              \
	"img-src data: blob:; " OFFLINE

struct text {
	const char *at;
	size_t size;
};

static const char *find(struct text in, const char *what)
{
	return memmem(in.at, in.size, what, strlen(what));
}

static struct text from(struct text t, const char *begin)
{
	return (struct text){begin, (size_t)(t.at + t.size - begin)};
}

/* The meta element with the policy, and the policy; at NULL: there is none. */
static struct text find_policy(struct text html, struct text *policy)
{
	const char *name = find(html, POLICY), *begin = name, *end, *content, *quote;

	if (!name)
		return (struct text){0};
	while (begin > html.at && *begin != '<')
		begin--;
	end = memchr(name, '>', from(html, name).size);
	content = end ? find((struct text){begin, (size_t)(end - begin)}, CONTENT) : NULL;
	if (!content)
		return (struct text){0};
	content += strlen(CONTENT);
	quote = memchr(content, '"', (size_t)(end - content));
	if (!quote)
		return (struct text){0};
	*policy = (struct text){content, (size_t)(quote - content)};
	return (struct text){begin, (size_t)(end + 1 - begin)};
}

static void make_policy(struct text policy, struct buf *out)
{
	const char *offline = find(policy, OFFLINE);

	if (offline) {
		buf_add(out, policy.at, (size_t)(offline - policy.at));
		buf_puts(out, OWN_SERVER);
		policy = from(policy, offline + strlen(OFFLINE));
		buf_add(out, policy.at, policy.size);
	} else {
		buf_add(out, policy.at, policy.size);
		buf_puts(out, "; " OWN_SERVER);
	}
	buf_puts(out, ALWAYS);
}

static void add_without(struct buf *out, struct text html, struct text removed)
{
	struct text rest = html;

	if (removed.at >= html.at && removed.at < html.at + html.size) {
		buf_add(out, html.at, (size_t)(removed.at - html.at));
		rest = from(html, removed.at + removed.size);
	}
	buf_add(out, rest.at, rest.size);
}

int web_page_make(struct web_page *p, const char *viewer, size_t size, const char *token, bool live,
                  struct error *err)
{
	const struct text html = {viewer, size};
	struct text policy = {DEFAULT_POLICY, strlen(DEFAULT_POLICY)}, meta, rest;
	const char *place = find(html, WEB_PAGE_PLACE);

	*p = (struct web_page){0};
	if (!place)
		return error_set(err, EINVAL, "the page has no place for its data");
	meta = find_policy(html, &policy);
	make_policy(policy, &p->policy);
	add_without(&p->html, (struct text){viewer, (size_t)(place - viewer)}, meta);
	buf_addf(&p->html,
	         "<script type=\"application/octet-stream\" id=\"assay-data\" data-format=\"1\" "
	         "data-url=\"data?token=%s\"",
	         token);
	if (live)
		buf_addf(&p->html, " data-events=\"events?token=%s\"", token);
	buf_puts(&p->html, "></script>");
	rest = from(html, place + strlen(WEB_PAGE_PLACE));
	add_without(&p->html, rest, meta);
	return 0;
}

void web_page_done(struct web_page *p)
{
	buf_done(&p->html);
	buf_done(&p->policy);
}
