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

struct page_part {
	const char *at;
	size_t size;
};

static const char *find(struct page_part in, const char *what)
{
	return memmem(in.at, in.size, what, strlen(what));
}

static struct page_part from(struct page_part t, const char *begin)
{
	return (struct page_part){begin, (size_t)(t.at + t.size - begin)};
}

/* The meta element with the policy, and the policy; at NULL: there is none. */
static struct page_part find_policy(struct page_part html, struct page_part *policy)
{
	const char *name = find(html, POLICY), *begin = name, *end, *content, *quote;

	if (!name)
		return (struct page_part){0};
	while (begin > html.at && *begin != '<')
		begin--;
	end = memchr(name, '>', from(html, name).size);
	content = end ? find((struct page_part){begin, (size_t)(end - begin)}, CONTENT) : NULL;
	if (!content)
		return (struct page_part){0};
	content += strlen(CONTENT);
	quote = memchr(content, '"', (size_t)(end - content));
	if (!quote)
		return (struct page_part){0};
	*policy = (struct page_part){content, (size_t)(quote - content)};
	return (struct page_part){begin, (size_t)(end + 1 - begin)};
}

static void make_policy(struct page_part policy, struct buf *out)
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

static void add_without(struct buf *out, struct page_part html, struct page_part removed)
{
	struct page_part rest = html;

	if (removed.at >= html.at && removed.at < html.at + html.size) {
		buf_add(out, html.at, (size_t)(removed.at - html.at));
		rest = from(html, removed.at + removed.size);
	}
	buf_add(out, rest.at, rest.size);
}

int web_page_make(struct web_page *p, const char *viewer, size_t size,
                  const struct web_page_options *o, struct error *err)
{
	const struct page_part html = {viewer, size};
	struct page_part policy = {DEFAULT_POLICY, strlen(DEFAULT_POLICY)}, meta, rest;
	const char *place = find(html, WEB_PAGE_PLACE);

	*p = (struct web_page){0};
	if (!place)
		return error_set(err, EINVAL, "the page has no place for its data");
	meta = find_policy(html, &policy);
	make_policy(policy, &p->policy);
	add_without(&p->html, (struct page_part){viewer, (size_t)(place - viewer)}, meta);
	buf_addf(&p->html,
	         "<script type=\"application/octet-stream\" id=\"assay-data\" data-format=\"1\" "
	         "data-url=\"data?token=%s\"",
	         o->token);
	if (o->live)
		buf_addf(&p->html, " data-events=\"events?token=%s\"", o->token);
	if (o->asks)
		buf_puts(&p->html, " data-asks=\"1\"");
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
