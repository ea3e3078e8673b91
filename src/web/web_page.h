/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * web_page: the page that the server sends: the viewer, with the address of its data in place of
 * the data.
 *
 * The viewer is the bundle that `report --html` also writes. A policy in the bundle
 * (Content-Security-Policy, a meta element) forbids every connection; the served page may connect
 * to its own server. Since both a policy in the page and one in a header apply, the policy is moved
 * from the page to the header. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_WEB_WEB_PAGE_H
#define ASSAY_WEB_WEB_PAGE_H

#include "base/error.h"
#include "base/memory/buf.h"

#include <stdbool.h>

/* The place in the viewer that the address takes. */
#define WEB_PAGE_PLACE "<!--assay-data-->"

struct web_page {
	struct buf html, policy;
};

struct web_page_options {
	const char *token;
	bool live; /* the page also gets the address of the events */
	bool asks; /* the page asks for the data of the selection in its own address */
};

/* -EINVAL: this is not a viewer. */
int web_page_make(struct web_page *p, const char *viewer, size_t size,
                  const struct web_page_options *o, struct error *err);
void web_page_done(struct web_page *p);

#endif
