/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_document: the machines and services of a store as a document: the first page of a store on
 * a server.
 *
 *	fleet_init(); the caller sets the fields and adds rows; fleet_document(); fleet_done()
 *
 * The document refers to the fleet, which must outlive it. Its tables have the keys "services",
 * "versions", "hosts" and "machines", and the facts "from" and "until" are times that the option
 * --from accepts: the page makes links of them. Nothing fails. Uses: base, view.
 */
#ifndef ASSAY_VIEW_FLEET_FLEET_DOCUMENT_H
#define ASSAY_VIEW_FLEET_FLEET_DOCUMENT_H

#include "base/memory/intern.h"
#include "view/document/document.h"
#include "view/fleet/machine_states.h"

#define FLEET_NO_SERVICE "[no service]"
#define FLEET_NO_VERSION "[no version]"

struct fleet_row {
	uint32_t name; /* a text; 0: samples without a service or version */
	uint32_t of;   /* of a version: the text of its service; 0: none */
	uint64_t samples, cpu_ns;
};

struct fleet_rows {
	struct fleet *fleet;
	VEC(struct fleet_row) rows;
};

struct fleet {
	const char *store;
	uint64_t from_ns, until_ns; /* the range that is shown */
	uint64_t first_ns, last_ns; /* of the store's data; 0: it has none */
	uint64_t machines, windows; /* of the store; in the range */
	struct intern texts;
	struct fleet_rows services, versions, hosts;
	struct fleet_rows programs;    /* versions of each service */
	struct machine_states *states; /* of the machines; NULL: not known */
};

void fleet_init(struct fleet *f);
void fleet_done(struct fleet *f);
/* Adds samples of a service, version and machine to all tables. */
void fleet_add(struct fleet *f, const char *service, const char *version, const char *host,
               uint64_t samples, uint64_t cpu_ns);
void fleet_document(struct document *d, struct fleet *f);

#endif
