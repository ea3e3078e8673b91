/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pyroscope_labels: the labels of Pyroscope's query API, and the selectors of a request.
 *
 * Labels are those of the store (host, service_name, version), and those of processes under names
 * that Prometheus allows (format/pyroscope/label_name.h). A label of a process with the name of one
 * of the store is not used. Two labels of processes with one name are an error, if the request
 * uses the name, since it would mean both.
 *
 *	pyroscope_labels_init(&l), pyroscope_labels_done(&l)	done accepts zeros
 *	pyroscope_labels_add(&l, selector)	any number; one of them must hold
 *	pyroscope_labels_choice(&l)		for a question to the store; `l` must not move
 *	pyroscope_labels_reduce(&l, lines, ..)	the lines of the labels that are used
 *	pyroscope_labels_read(&l, lines, ..)	the labels of a process of the answer
 *	pyroscope_labels_check(&l)		after the question
 *
 * Errors: -EINVAL. One thread. Uses: base, format, store.
 */
#ifndef ASSAY_CMD_VIEW_PYROSCOPE_LABELS_H
#define ASSAY_CMD_VIEW_PYROSCOPE_LABELS_H

#include "base/memory/buf.h"
#include "base/memory/intern.h"
#include "format/pyroscope/label_selector.h"
#include "format/pyroscope/querier_request.h"
#include "store/store.h"

#define PYROSCOPE_TYPE_LABEL "__profile_type__"
#define PYROSCOPE_HOST "host"
#define PYROSCOPE_SERVICE "service_name"
#define PYROSCOPE_VERSION "version"

/* A label of an answer. */
struct pyroscope_label {
	const char *name, *value;
};
typedef VEC(struct pyroscope_label) pyroscope_label_list;

struct pyroscope_labels {
	VEC(struct label_selector) selectors;
	bool by_process;     /* some condition is on labels of processes */
	struct intern names; /* of labels of processes; 0: none */
	VEC(uint32_t) keys;  /* texts: the label that has the name; 0: none yet */
	struct intern texts; /* of keys and values */
	uint32_t twice[3];   /* a name and the two keys that have it; zeros: none */
};

/* The values of the labels of samples; NULL: any. "" is a label that the process lacks. */
struct pyroscope_values {
	const char *host, *service, *version;
	const char *lines; /* "key=value" */
};

void pyroscope_labels_init(struct pyroscope_labels *l);
void pyroscope_labels_done(struct pyroscope_labels *l);
int pyroscope_labels_add(struct pyroscope_labels *l, const char *selector, struct error *err);
/* Whether a name is that of a label of the store. */
bool pyroscope_label_is_own(const char *name);
/* Whether the answer to a request has a label, or has labels of processes. */
bool pyroscope_wants(const struct querier_request *q, const char *name);
bool pyroscope_wants_process(const struct querier_request *q);
/* The value of the label for a service of the store, which may be "". */
const char *pyroscope_service_text(const char *service);
struct store_choice pyroscope_labels_choice(struct pyroscope_labels *l);
bool pyroscope_labels_hold(struct pyroscope_labels *l, const struct pyroscope_values *v);
/*
 * Appends the lines whose labels the answer has, and with several selectors also those on which
 * they have conditions.
 */
void pyroscope_labels_reduce(const struct pyroscope_labels *l, const char *lines,
                             const struct querier_request *q, struct buf *out);
/* Appends the labels of a process that the request asks for; texts are valid as long as `l`. */
void pyroscope_labels_read(struct pyroscope_labels *l, const char *lines,
                           const struct querier_request *q, pyroscope_label_list *out);
int pyroscope_labels_check(const struct pyroscope_labels *l, struct error *err);

#endif
