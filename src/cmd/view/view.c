/* SPDX-License-Identifier: GPL-2.0-or-later */
/* view: shows a recording, a store or a session that runs as a page in the browser. */
#include "base/clock.h"
#include "base/read/file_probe.h"
#include "cmd/cli/command.h"
#include "cmd/cli/print.h"
#include "cmd/report/report.h"
#include "cmd/session/session_command.h"
#include "cmd/view/web_browser.h"
#include "cmd/view/view_fleet.h"
#include "cmd/view/view_pyroscope.h"
#include "cmd/view/view_session.h"
#include "base/process/privileges.h"
#include "cmd/view/view_token.h"
#include "output/html/page.h"
#include "store/store.h"
#include "web/web_process.h"

#include <errno.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_MS 1000   /* between two looks at a session */
#define PERIOD_MS 2000 /* between two updates, if they are that fast */
#define REST 19        /* time between two updates, as a multiple of the CPU time of one */

struct view_options {
	struct report_command_options report;
	struct session_name_option session;
	const char *port, *token_file, *user;
	bool no_browser, pyroscope;
};

#define AT(field) offsetof(struct view_options, field)

static const struct option options[] = {
        {OPTION_STRING, 0, "port", "PORT",
         "the port of the page on 127.0.0.1 (default: a free one)",
         .details = "[::1]:PORT is the loopback address of IPv6. Other addresses are refused.",
         .offset = AT(port)},
        {OPTION_FLAG, 0, "no-browser", NULL, "print the address, and open no browser",
         .offset = AT(no_browser)},
        {OPTION_FLAG, 0, "pyroscope", NULL,
         "of a store on a server: answer the queries of Grafana's Pyroscope data source, too",
         .details = "The address is http://127.0.0.1:PORT, and the data source sends the header "
                    "'Authorization: Bearer TOKEN'. docs/GRAFANA.md describes the set-up.",
         .offset = AT(pyroscope)},
        {OPTION_STRING, 0, "token-file", "FILE",
         "the token is in FILE, which is created if it does not exist (default: a new token)",
         .offset = AT(token_file)},
        {OPTION_STRING, 0, "user", "NAME", "one more user who may connect, for example grafana",
         .offset = AT(user)},
        {.kind = OPTION_INCLUDE, .include = session_name_option_table, .offset = AT(session)},
        {.kind = OPTION_INCLUDE, .include = report_read_table, .offset = AT(report)},
        {.kind = OPTION_GROUP, .help = "What is shown"},
        {.kind = OPTION_INCLUDE, .include = report_select_table, .offset = AT(report)},
        {.kind = OPTION_GROUP, .help = "Symbols"},
        {.kind = OPTION_INCLUDE, .include = symbol_option_table, .offset = AT(report.load)},
        {.kind = OPTION_INCLUDE, .include = inline_option_table, .offset = AT(report.load)},
        {.kind = OPTION_END},
};

static volatile sig_atomic_t stopped;

static void on_signal(int number)
{
	stopped = 1;
}

struct viewing {
	const struct view_options *options;
	char **files; /* of the command line */
	int file_count;
	struct view_session session; /* no name: a file or a store is shown */
	const char *fleet;           /* a store on a server: data is made on request; NULL: none */
	struct web_token token;
	uid_t reader; /* of --user */
	struct web_process server;
	struct privileges_caller caller;
	struct buf data; /* that the page has */
	bool changed;    /* the session has newer data */
	int64_t next_ms; /* of the next update; CLOCK_MONOTONIC */
	sigset_t before;
};

static void defaults(void *p)
{
	struct view_options *o = p;

	report_defaults(&o->report);
}

static int fail(int status, const struct error *err)
{
	return command_fail(status, "view: %s", err->text);
}

/* ---- what is shown ------------------------------------------------------- */

/* The only store on a server that the command line names; NULL: a page of a part is made once. */
static const char *fleet_of(const struct viewing *v)
{
	const struct load_options *load = &v->options->report.load;
	const char *name = load->store ? load->store : v->file_count == 1 ? v->files[0] : NULL;

	if (!name || !store_is_remote(name))
		return NULL;
	return v->options->pyroscope || (!load->host && !load->service) ? name : NULL;
}

/* A file of the command line, else a session that runs, else the default file. */
static int choose(struct viewing *v)
{
	const struct view_options *o = v->options;
	const char *name;
	struct error err = {0};
	int status = session_command_name("view", &o->session, &name);

	if (status)
		return status;
	v->fleet = fleet_of(v);
	if (o->pyroscope && !v->fleet)
		return command_fail(2, "view: --pyroscope shows a store on a server: give it with "
		                       "the name of one, clickhouse://HOST/DATABASE");
	if (o->pyroscope && (o->report.load.host || o->report.load.service))
		return command_fail(2,
		                    "view: --pyroscope answers queries about the whole store: give "
		                    "it without --host and --service");
	if (v->file_count || o->report.load.inputs.count || o->report.load.store)
		return o->session.name ? command_fail(2, "view: --name shows a session that runs: "
		                                         "give it without a file")
		                       : 0;
	if (!view_session_find(&v->session, name, &err) || !o->session.name)
		return 0;
	return fail(1, &err);
}

/* The data of this moment. The exit status; errors are printed. */
static int make(struct viewing *v, struct buf *data)
{
	struct report_command_options report = v->options->report;
	struct error err = {0};
	char *path = NULL;
	int status;

	report.load.stop = &stopped;
	report.interim = v->session.name && !v->session.ended;
	report.report.style.page_data = data;
	report.report.style.command = "view";
	if (v->session.name && view_session_file(&v->session, &path, &err))
		return fail(1, &err);
	status = v->session.name ? report_run(&report, 1, &path)
	                         : report_run(&report, v->file_count, v->files);
	view_session_file_done(&v->session);
	free(path);
	return status;
}

/* ---- rights -------------------------------------------------------------- */

/* A session of root and its files can be read by root alone. */
static void drop_rights(const struct viewing *v)
{
	bool reads = v->session.name && !v->session.ended;

	if (!reads)
		file_probe_end();
	if (reads)
		privileges_drop(PRIVILEGE_LOOK | PRIVILEGE_NAMES);
	else if (v->caller.user)
		privileges_become(&v->caller);
	else
		privileges_renounce();
	if (reads && !getuid())
		print_message(
		        "view: the session is root's, so the process that reads it stays root; "
		        "the one that serves the page has no rights");
}

/* ---- updates ------------------------------------------------------------- */

static int64_t now_ms(clockid_t clock)
{
	return (int64_t)(clock_ns(clock) / 1000000);
}

/* `cpu_ms`: of the last update. */
static void set_next(struct viewing *v, int64_t cpu_ms)
{
	v->next_ms =
	        now_ms(CLOCK_MONOTONIC) + (REST * cpu_ms > PERIOD_MS ? REST * cpu_ms : PERIOD_MS);
	v->changed = false;
}

static bool is_same(const struct buf *a, const struct buf *b)
{
	return a->size == b->size && !memcmp(buf_text(a), buf_text(b), a->size);
}

/* Sends the data if it has changed. After a failure, which was printed, it is tried again. */
static int update(struct viewing *v, struct error *err)
{
	int64_t began_ms = now_ms(CLOCK_PROCESS_CPUTIME_ID);
	struct buf data = {0};
	int rc = 0;

	if (!make(v, &data) && !is_same(&data, &v->data)) {
		rc = web_process_publish(&v->server, &data, err);
		buf_done(&v->data);
		v->data = data;
	} else {
		buf_done(&data);
	}
	set_next(v, now_ms(CLOCK_PROCESS_CPUTIME_ID) - began_ms);
	return rc;
}

static int look(struct viewing *v, struct error *err)
{
	enum view_session_change change = view_session_look(&v->session);
	int rc = 0;

	v->changed |= change != VIEW_SESSION_SAME;
	if (v->changed && (v->session.ended || now_ms(CLOCK_MONOTONIC) >= v->next_ms))
		rc = update(v, err);
	if (change == VIEW_SESSION_ENDED && !rc) {
		rc = web_process_finish(&v->server, err);
		drop_rights(v);
		print_message("view: the session '%s' has ended; the page shows all of it until ^C",
		              v->session.name);
	}
	return rc;
}

/* ---- requests ------------------------------------------------------------ */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
#define SIGNALS (sizeof(signals) / sizeof(*signals))

static void set_signals(struct viewing *v)
{
	const struct sigaction action = {.sa_handler = on_signal};
	struct sigaction old;
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < SIGNALS; i++) {
		/* nohup, and shells for jobs in the background, ignore some of them. */
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(&held, signals[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &v->before);
}

/* A question to the server may take minutes: signals then have their usual effect. */
static void unset_signals(struct viewing *v)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	struct sigaction old;

	for (size_t i = 0; i < SIGNALS; i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler == on_signal)
			sigaction(signals[i], &usual, NULL);
	sigprocmask(SIG_SETMASK, &v->before, NULL);
}

static int answer(struct viewing *v, struct error *err)
{
	const struct view_fleet fleet = {v->fleet, &v->options->report};
	const struct view_pyroscope pyroscope = {v->fleet, &v->options->report.load};
	enum web_answer_type type = WEB_ANSWER_DATA;
	struct web_ask ask;
	struct buf body = {0};
	unsigned status;
	int rc = web_process_ask(&v->server, &ask, err);

	if (rc)
		return rc;
	unset_signals(v);
	if (!strncmp(ask.path, WEB_INTERFACE, strlen(WEB_INTERFACE)))
		status = view_pyroscope_answer(&pyroscope, &ask, &body, &type);
	else
		status = view_fleet_answer(&fleet, &ask, &body);
	set_signals(v);
	if (type == WEB_ANSWER_DATA && status != 200)
		type = WEB_ANSWER_TEXT;
	rc = web_process_answer(&v->server, &ask, status, type, &body, err);
	web_ask_done(&ask);
	buf_done(&body);
	return rc;
}

/* Signals come in ppoll() and while an update is made. */
static int wait(struct viewing *v, struct error *err)
{
	struct pollfd server = {.fd = web_process_fd(&v->server), .events = POLLIN};
	bool waits = v->session.name && !v->session.ended;
	const struct timespec pause = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000000};
	int rc = ppoll(&server, 1, waits ? &pause : NULL, &v->before);

	if (rc > 0)
		return v->fleet ? answer(v, err) : web_process_failure(&v->server, err);
	if (rc < 0 && errno != EINTR)
		return error_set(err, errno, "ppoll: %s", strerror(errno));
	return 0;
}

static int serve(struct viewing *v)
{
	struct error err = {0};
	sigset_t held;
	int rc = 0;

	while (!rc && !stopped) {
		rc = wait(v, &err);
		if (rc || stopped || !v->session.name)
			continue;
		sigprocmask(SIG_SETMASK, &v->before, &held);
		rc = look(v, &err);
		sigprocmask(SIG_SETMASK, &held, NULL);
	}
	return rc ? fail(1, &err) : 0;
}

/* ---- the command --------------------------------------------------------- */

static void tell(const struct viewing *v)
{
	print_line("%s", buf_text(&v->server.url));
	if (v->session.name)
		print_message("view: shows the session '%s' while it runs", v->session.name);
	if (v->options->pyroscope)
		print_message("view: the Pyroscope data source has this address without the "
		              "token, and the header 'Authorization: Bearer TOKEN'");
	if (v->server.open_to_all)
		print_message("view: this kernel does not report who connects: each user of the "
		              "machine who knows the address can read the page");
	/* The reader of a pipe needs the line now. */
	print_message("view: ^C ends it");
}

static void open_browser(const struct viewing *v)
{
	struct error err = {0};

	if (!v->options->no_browser && web_browser_open(buf_text(&v->server.url), &err) &&
	    err.code != ENODEV)
		print_message("view: %s: open the address in a browser", err.text);
}

/* A store has no data before its first window. */
static void await_data(struct viewing *v)
{
	const struct timespec pause = {LOOK_MS / 1000, LOOK_MS % 1000 * 1000000};
	bool told = false;

	while (v->session.name && !view_session_has_data(&v->session) &&
	       view_session_look(&v->session) != VIEW_SESSION_ENDED) {
		if (!told)
			print_message("view: waits for the first window of the store %s",
			              v->session.output);
		told = true;
		nanosleep(&pause, NULL);
	}
}

/* The store exists, and answers. */
static int check_fleet(const struct viewing *v)
{
	const struct store_sums_request nothing = {.range = {.to_ns = 1}};
	struct store_sums sums;
	struct error err = {0};
	int rc = store_sums_read(v->fleet, &nothing, &sums, &err);

	store_sums_done(&sums);
	return rc ? fail(1, &err) : 0;
}

/* While the first data is made, signals have their usual effect: then nothing is to be removed. */
static int show(struct viewing *v)
{
	struct error err = {0};
	int status;

	/* After the start of the server, which must not share memory with the process of the probe.
	 */
	file_probe_begin();
	await_data(v);
	status = v->fleet ? check_fleet(v) : make(v, &v->data);
	if (status)
		return status;
	set_signals(v);
	if (!v->fleet && web_process_publish(&v->server, &v->data, &err))
		return fail(1, &err);
	open_browser(v);
	if (v->fleet && store_keep_password(&err))
		return fail(1, &err);
	drop_rights(v);
	tell(v);
	set_next(v, 0);
	return serve(v);
}

/* The exit status; errors are printed. */
static int read_access(struct viewing *v, struct web_process_options *web)
{
	const struct view_options *o = v->options;
	const struct passwd *user;
	struct error err = {0};

	if (o->port && web_address_parse(&web->address, "--port", o->port, &err))
		return fail(2, &err);
	if (o->token_file && view_token_read(&v->token, o->token_file, &err))
		return fail(1, &err);
	if (o->token_file)
		web->token = &v->token;
	if (!o->user)
		return 0;
	user = getpwnam(o->user);
	if (!user)
		return command_fail(2, "view: --user: there is no user %s", o->user);
	web->reader = user->pw_uid;
	return 0;
}

static int run(void *p, int argc, char **argv)
{
	struct viewing v = {.options = p, .session.fd = -1, .files = argv, .file_count = argc};
	struct view_options *o = p;
	struct web_process_options web;
	struct buf viewer = {0};
	struct error err = {0};
	int status;

	privileges_caller(&v.caller);
	web = (struct web_process_options){.caller = v.caller.user};
	status = read_access(&v, &web);
	if (!status)
		status = choose(&v);
	web.live = v.session.name != NULL;
	web.asks = v.fleet != NULL;
	web.interface = o->pyroscope;
	page_shell(WEB_PAGE_PLACE, &viewer);
	web.viewer = viewer.data;
	web.viewer_size = viewer.size;
	if (!status && web_process_start(&v.server, &web, &err))
		status = fail(1, &err);
	else if (!status)
		status = show(&v);
	web_process_stop(&v.server);
	view_session_done(&v.session);
	buf_done(&v.data);
	buf_done(&viewer);
	return status;
}

const struct command cmd_view = {
        .name = "view",
        .synopsis = "[OPTIONS] [FILE|STORE]",
        .summary = "show a recording, or a session while it runs, in the browser",
        .description =
                "Shows the page that 'assay report --html' writes, from a server on the loopback "
                "address, which it prints and opens in the browser. Without FILE it shows the "
                "session in the background, if one runs, and the page follows it: the data is "
                "read again every few seconds, for at most 5 % of the time of a CPU. Otherwise it "
                "shows the file that 'assay report' would read. ^C ends the server.\n\n"
                "The address has a random token, without which the server refuses to answer. It "
                "accepts connections of the user who runs it and of root alone. The process that "
                "serves the page has no rights and opens no files. From another machine, the page "
                "is reached through ssh: ssh -L 8080:127.0.0.1:8080 HOST, and assay view --port "
                "8080 there.\n\n"
                "Of a store on a server (clickhouse://HOST/DATABASE) the page lists services and "
                "machines of a time range. A selection of them has the report, a comparison with "
                "another machine, service or time, and the changes in it. With --host or --service "
                "the report of that part is shown alone. --pyroscope also answers the queries of "
                "Grafana's Pyroscope data source.",
        .examples = "assay view\n    the session that runs, else ./perf.data\n"
                    "assay view --store day.db --from -2h\n    the last two hours of a store\n"
                    "assay view clickhouse://db.example.com/assay\n    the services and machines "
                    "of a fleet\n"
                    "assay view --no-browser --port 8080 perf.data\n    for ssh -L "
                    "8080:127.0.0.1:8080\n",
        .options = options,
        .options_size = sizeof(struct view_options),
        .defaults = defaults,
        .run = run,
};
