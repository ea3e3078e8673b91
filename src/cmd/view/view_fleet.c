/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/view_fleet.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "cmd/cli/medium.h"
#include "cmd/cli/parse_time.h"
#include "cmd/cli/print.h"
#include "cmd/load/load_machines.h"
#include "cmd/load/load_store.h"
#include "store/store.h"
#include "view/fleet/fleet_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HOUR_NS UINT64_C(3600000000000)
#define USUAL_FROM "-1h"
#define WORDS_MAX 16

/* ---- arguments ----------------------------------------------------------- */

/* An argument of one side of a comparison; without it that of the other side. */
static const char *of_side(const struct web_ask *ask, const char *name, bool first)
{
	char key[32];
	const char *value = NULL;

	if (first) {
		snprintf(key, sizeof(key), "%s_a", name);
		value = web_ask_argument(ask, key);
	}
	return value ? value : web_ask_argument(ask, name);
}

/* The host of a question: all, if none was chosen. */
static char *host_of(const struct view_fleet *f, const struct web_ask *ask, bool first)
{
	char *chosen = load_store_exactly(of_side(ask, "host", first));

	return chosen ? chosen : xstrdup(f->report->load.host ? f->report->load.host : "*");
}

static char *service_of(const struct view_fleet *f, const struct web_ask *ask, bool first)
{
	const char *usual = f->report->load.service;
	char *chosen = load_store_exactly(of_side(ask, "service", first));

	return chosen ? chosen : usual ? xstrdup(usual) : NULL;
}

static char *build_of(const struct view_fleet *f, const struct web_ask *ask, bool first)
{
	const char *usual = f->report->load.build;
	char *chosen = load_store_exactly(of_side(ask, "build", first));

	return chosen ? chosen : usual ? xstrdup(usual) : NULL;
}

static const char *from_of(const struct view_fleet *f, const struct web_ask *ask, bool first)
{
	const char *from = of_side(ask, "from", first);

	return from ? from : f->report->load.from ? f->report->load.from : USUAL_FROM;
}

static const char *until_of(const struct view_fleet *f, const struct web_ask *ask, bool first)
{
	const char *until = of_side(ask, "until", first);

	return until ? until : f->report->load.to;
}

/* ---- the list ------------------------------------------------------------ */

static int read_range(const struct view_fleet *f, const struct web_ask *ask, bool first_side,
                      struct store_range *range, struct error *err)
{
	const char *until = until_of(f, ask, first_side);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	int rc = when_parse("from", from_of(f, ask, first_side), now_ns, &range->from_ns, err);

	range->to_ns = now_ns;
	if (!rc && until)
		rc = when_parse("until", until, now_ns, &range->to_ns, err);
	if (!rc && until && range->to_ns <= range->from_ns)
		rc = error_set(err, EINVAL, "until %s is not after from %s", until,
		               from_of(f, ask, first_side));
	return rc;
}

/* Without a chosen range: the last hour, or if that is empty the last hour with data. */
static int read_sums(const struct view_fleet *f, const struct web_ask *ask,
                     struct store_sums_request *q, struct store_sums *sums, struct error *err)
{
	bool chosen = web_ask_argument(ask, "from") || web_ask_argument(ask, "until") ||
	              f->report->load.from || f->report->load.to;
	int rc = store_sums_read(f->store, q, sums, err);

	if (rc || sums->windows || !sums->last_ns || chosen)
		return rc;
	q->range.to_ns = sums->last_ns;
	q->range.from_ns = sums->last_ns > HOUR_NS ? sums->last_ns - HOUR_NS : 0;
	store_sums_done(sums);
	return store_sums_read(f->store, q, sums, err);
}

static void fill(struct fleet *fleet, const struct store_sums *sums,
                 const struct store_sums_request *q)
{
	fleet->from_ns = q->range.from_ns;
	fleet->until_ns = q->range.to_ns;
	fleet->first_ns = sums->first_ns;
	fleet->last_ns = sums->last_ns;
	fleet->machines = sums->hosts;
	fleet->windows = sums->windows;
	vec_each (sum, &sums->sums)
		fleet_add(fleet, intern_text(&sums->texts, sum->service),
		          intern_text(&sums->texts, sum->version),
		          intern_text(&sums->texts, sum->host), sum->samples, sum->weight_ns);
}

static int list(const struct view_fleet *f, const struct web_ask *ask, struct buf *data)
{
	struct store_sums_request q = {.by_service = true, .by_host = true, .by_version = true};
	char *host = host_of(f, ask, false), *service = service_of(f, ask, false);
	char *build = build_of(f, ask, false);
	struct store_sums sums = {0};
	struct machine_states states;
	struct document document;
	struct error err = {0};
	struct fleet fleet;
	int rc = read_range(f, ask, false, &q.range, &err);

	q.range.host = host;
	q.range.service = service;
	q.range.version = build;
	if (!rc)
		rc = read_sums(f, ask, &q, &sums, &err);
	machine_states_init(&states);
	if (!rc)
		rc = load_machines(&states, f->store, &q.range, &err);
	fleet_init(&fleet);
	fleet.store = f->store;
	fleet.states = &states;
	document_init(&document);
	if (!rc) {
		fill(&fleet, &sums, &q);
		fleet_document(&document, &fleet);
		rc = page_data(
		        &(struct page){.title = f->store, .kind = "fleet", .document = &document},
		        data, &err);
	}
	document_done(&document);
	fleet_done(&fleet);
	machine_states_done(&states);
	store_sums_done(&sums);
	free(host);
	free(service);
	free(build);
	return rc ? command_fail(1, "%s", err.text) : 0;
}

/* ---- a selection --------------------------------------------------------- */

static int report(const struct view_fleet *f, const struct web_ask *ask, struct buf *data)
{
	struct report_command_options o = *f->report;
	char *host = host_of(f, ask, false), *service = service_of(f, ask, false);
	char *build = build_of(f, ask, false);
	int status;

	o.load.store = f->store;
	o.load.host = host;
	o.load.service = service;
	o.load.build = build;
	o.load.from = from_of(f, ask, false);
	o.load.to = until_of(f, ask, false);
	o.interim = true;
	o.no_idle = true;
	o.report.style.page_data = data;
	o.report.style.command = "view";
	status = report_run(&o, 0, NULL);
	free(host);
	free(service);
	free(build);
	return status;
}

/* Words of a command line. Each value is in the word of its option, so it is no option itself. */
struct word_list {
	char *items[WORDS_MAX];
	int count;
};

static void add_word(struct word_list *words, const char *option, const char *value)
{
	if (value)
		words->items[words->count++] = xasprintf("%s%s", option, value);
}

static void add_range(const struct view_fleet *f, const struct web_ask *ask, bool first,
                      struct word_list *words)
{
	add_word(words, "--from=", from_of(f, ask, first));
	add_word(words, "--until=", until_of(f, ask, first));
}

static void add_names(const struct view_fleet *f, const struct web_ask *ask, bool first,
                      bool services, struct word_list *words)
{
	char *host = host_of(f, ask, first);
	char *service = services ? service_of(f, ask, first) : NULL;
	char *build = services ? build_of(f, ask, first) : NULL;

	add_word(words, "--host=", host);
	add_word(words, "--service=", service);
	add_word(words, "--build=", build);
	free(host);
	free(service);
	free(build);
}

static int run(const char *name, struct word_list *words, struct buf *data)
{
	int status = medium_page_of(command_find(name), words->count, words->items, data);

	for (int i = 0; i < words->count; i++)
		free(words->items[i]);
	return status;
}

static int diff(const struct view_fleet *f, const struct web_ask *ask, struct buf *data)
{
	struct word_list words = {0};

	add_word(&words, "", "diff");
	add_names(f, ask, true, true, &words);
	add_range(f, ask, true, &words);
	add_word(&words, "", f->store);
	add_word(&words, "", "--");
	add_names(f, ask, false, true, &words);
	add_range(f, ask, false, &words);
	add_word(&words, "", f->store);
	return run("diff", &words, data);
}

static int watch(const struct view_fleet *f, const struct web_ask *ask, struct buf *data)
{
	struct word_list words = {0};

	add_word(&words, "", "watch");
	add_names(f, ask, false, false, &words);
	add_range(f, ask, false, &words);
	add_word(&words, "", f->store);
	return run("watch", &words, data);
}

/* The times of a page that a client asks for. */
static int check_times(const struct view_fleet *f, const struct web_ask *ask, struct error *err)
{
	struct store_range ignored;
	int rc = read_range(f, ask, false, &ignored, err);

	return rc ? rc : read_range(f, ask, true, &ignored, err);
}

unsigned view_fleet_answer(const struct view_fleet *f, const struct web_ask *ask, struct buf *data)
{
	static const struct {
		const char *show;
		int (*make)(const struct view_fleet *f, const struct web_ask *ask,
		            struct buf *data);
	} pages[] = {{"report", report}, {"diff", diff}, {"watch", watch}, {"list", list}};
	const char *show = web_ask_argument(ask, "show");
	struct buf messages = {0};
	struct error err = {0};
	size_t i = 0;
	int status;

	if (check_times(f, ask, &err)) {
		buf_puts(data, err.text);
		return 400;
	}
	while (i + 1 < sizeof(pages) / sizeof(*pages) && (!show || strcmp(show, pages[i].show)))
		i++;
	print_collect(&messages);
	status = pages[i].make(f, ask, data);
	print_collect(NULL);
	if (status) {
		buf_clear(data);
		buf_add(data, buf_text(&messages), messages.size);
	}
	buf_done(&messages);
	return status == 0 ? 200 : status == 2 ? 400 : 500;
}
