/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_run.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "base/process/backoff.h"
#include "cmd/cli/print.h"
#include "cmd/session/session_command.h"
#include "session/daemon/control_client.h"
#include "view/status/status_metrics.h"
#include "web/web_metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME "agent"
#define MS UINT64_C(1000000)
#define AGAIN_FIRST_MS 1000
#define AGAIN_MOST_MS 10000
#define STEADY_NS (UINT64_C(60000) * MS) /* a session of this length was no failure */
#define EARLIER_MS 20000                 /* for the session of an agent that was killed to end */
#define LOOK_MS 100
#define METRICS_AGAIN_MS 10000 /* another program has the port of --metrics */
#define CENTRAL_FIRST_MS 5000  /* that the first session waits for the central configuration */
#define CENTRAL_MS 60000       /* between two questions for it */

struct agent {
	struct agent_course *c;
	struct web_metrics metrics;
	uint64_t metrics_again_ns; /* the next attempt to serve them; 0: now */
	sigset_t old_mask;
	int signals;
	pid_t pid;                /* of the session's process; 0: none */
	int begun;                /* pipe: a byte when sampling has started; -1: read */
	bool ever, ends, reloads; /* ever: a session has begun */
	bool tries, wrong;        /* a new configuration is tried; the last one was not used */
	uint64_t central_next_ns; /* of the next question; 0: there is no central configuration */
	bool central_tries;       /* what is tried came from there */
	char *central_refused;    /* lines that are not used; NULL: none */
	char *central_reason;     /* why */
	char central_why[1024];   /* why the last answer is not used; empty: it is used */
	char *note;               /* the same, shared with the session: START_NOTE_BYTES */
	uint64_t central_cpu_ns;
	uint64_t started_ns, again_ns; /* again: start of the next one; 0: it runs */
	unsigned failures;
	int status;
};

/* ---- the process of a session ---------------------------------------------- */

static int has_begun(void *ctx, const struct session_account *now)
{
	const struct start *s = ctx;

	if (!now->machine_wide)
		print_message(NAME
		              ": this user may not sample the whole machine, only processes of its "
		              "own: 'assay doctor' lists the missing rights");
	if (now->send_error)
		print_message(NAME ": %s; windows wait in %s until it is reached", now->send_error,
		              now->spool);
	return write(s->daemon.ready, "", 1) == 1 ? 0 : -EPIPE;
}

/* The session of an agent that was killed ends by itself. */
static void wait_for_earlier(const char *name)
{
	const struct timespec moment = {.tv_nsec = LOOK_MS * MS};
	struct session_registry place = {.fd = -1};
	struct session_account a;
	bool runs = !session_registry_open(&place, false, NULL);

	for (int ms = 0; runs && ms < EARLIER_MS; ms += LOOK_MS) {
		runs = session_registry_peek(&place, name, &a) == SESSION_RUNS;
		session_account_done(&a);
		if (runs)
			nanosleep(&moment, NULL);
	}
	session_registry_close(&place);
}

static int sample(struct agent *g, int begun)
{
	struct start s = {.o = g->c->options,
	                  .command = NAME,
	                  .place.fd = -1,
	                  .claim.fd = -1,
	                  .daemon.ready = begun,
	                  .note = g->note,
	                  .watched = true};
	struct error err = {0};
	int status;

	umask(077);
	wait_for_earlier(g->c->options->name.name);
	status = start_prepare(&s);
	if (!status && start_sample(&s, has_begun, &err))
		status = command_fail(1, NAME ": %s", err.text);
	start_done(&s);
	return status;
}

static _Noreturn void session_process(struct agent *g, int begun, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(1);
	/* Signals of a terminal go to the agent alone, which ends the session. */
	setpgid(0, 0);
	close(g->signals);
	if (g->c->lock >= 0)
		close(g->c->lock);
	if (g->metrics.pid)
		close(g->metrics.channel);
	if (agent_central_fd(g->c->central) >= 0)
		close(agent_central_fd(g->c->central));
	sigprocmask(SIG_SETMASK, &g->old_mask, NULL);
	_exit(sample(g, begun));
}

static int begin(struct agent *g)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return command_fail(1, NAME ": pipe: %s", strerror(errno));
	g->pid = fork();
	if (!g->pid) {
		close(ends[0]);
		session_process(g, ends[1], parent);
	}
	close(ends[1]);
	g->begun = ends[0];
	g->started_ns = clock_ns(CLOCK_MONOTONIC);
	g->again_ns = 0;
	if (g->pid > 0)
		return 0;
	g->pid = 0;
	return command_fail(1, NAME ": fork: %s", strerror(errno));
}

/* ---- this process ---------------------------------------------------------- */

static void put_own_metric(const struct agent *g, struct buf *text, const char *name,
                           const char *type, const char *help, double value)
{
	buf_addf(text, "# HELP assay_%s %s\n# TYPE assay_%s %s\nassay_%s{session=\"%s\"} %.9g\n",
	         name, help, name, type, name, g->c->options->name.name, value);
}

/* Asks the session for its account; a session that does not answer is not up. */
static void serve_metrics(struct agent *g)
{
	const struct control_request request = {.verb = CONTROL_STATUS};
	const char *name = g->c->options->name.name;
	struct session_registry place = {.fd = -1};
	struct control_reply reply = {0};
	struct session_account down = {.name = (char *)(uintptr_t)name};
	const struct session_account *account = &down;
	struct buf text = {0};

	if (g->pid && !session_registry_open(&place, false, NULL) &&
	    !control_client_ask(&place, name, g->pid, &request, &reply, NULL))
		account = &reply.account;
	status_metrics(&text, &account, 1);
	put_own_metric(g, &text, "config_last_reload_successful", "gauge",
	               "0: the configuration has a mistake, and the one before is used.",
	               g->wrong ? 0 : 1);
	if (g->central_next_ns) {
		put_own_metric(g, &text, "central_config_successful", "gauge",
		               "0: the central configuration was not read or has a mistake, and "
		               "the one before is used.",
		               g->central_why[0] ? 0 : 1);
		put_own_metric(g, &text, "central_config_cpu_seconds_total", "counter",
		               "CPU time of the processes that asked for it.",
		               (double)g->central_cpu_ns / 1e9);
	}
	web_metrics_answer(&g->metrics, buf_text(&text), text.size);
	buf_done(&text);
	control_reply_done(&reply);
	session_registry_close(&place);
}

/*
 * Serves the metrics if they are not served. Any user may have taken the port, which must not keep
 * the agent from sampling.
 */
static int start_metrics(struct agent *g)
{
	bool first = !g->metrics_again_ns;
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error err = {0};
	int status;

	if (!g->c->metrics || g->metrics.pid || g->ends || now < g->metrics_again_ns)
		return 0;
	status = web_metrics_start(&g->metrics, g->c->metrics, &err);
	if (status == -EADDRINUSE) {
		if (first)
			print_message(NAME ": --metrics: another program uses port %u; metrics "
			                   "are served when it is free",
			              g->c->metrics->port);
		g->metrics_again_ns = now + METRICS_AGAIN_MS * MS;
		return 0;
	}
	g->metrics_again_ns = 0;
	return status ? command_fail(1, NAME ": --metrics: %s", err.text) : 0;
}

static void end_session(const struct agent *g)
{
	if (g->pid)
		kill(g->pid, SIGTERM);
}

/* The next session has what was loaded now. */
static void use_loaded(struct agent *g, bool central)
{
	g->central_tries = central;
	if (!g->pid) { /* no session runs now */
		g->tries = true;
		g->again_ns = 1;
		return;
	}
	g->reloads = true;
	end_session(g);
}

/* ---- the central configuration --------------------------------------------- */

/* `what`: it was not read, or is not used. Each reason is printed once. */
static void central_fails(struct agent *g, const char *what, const char *why)
{
	snprintf(g->note, START_NOTE_BYTES,
	         "the central configuration %s, and the one before stays: %s", what, why);
	if (!strcmp(why, g->central_why))
		return;
	snprintf(g->central_why, sizeof(g->central_why), "%s", why);
	print_message(NAME ": the central configuration %s: %s", what, why);
}

static void central_forget(struct agent *g)
{
	free(g->central_refused);
	free(g->central_reason);
	g->central_refused = g->central_reason = NULL;
}

static void central_is_used(struct agent *g)
{
	if (g->central_why[0])
		print_message(NAME ": the central configuration is read again");
	g->central_why[0] = g->note[0] = 0;
	central_forget(g);
}

static void central_refuse(struct agent *g, const char *why)
{
	central_forget(g);
	g->central_refused = xstrdup(buf_text(&g->c->central->lines));
	g->central_reason = xstrdup(why);
	central_fails(g, "is not used", why);
}

static void central_print(const char *lines)
{
	struct buf text = {0};

	for (size_t size; *lines; lines += size + !!lines[size]) {
		size = strcspn(lines, "\n");
		buf_addf(&text, "%s%.*s", text.size ? ", " : "", (int)size, lines);
	}
	print_message(NAME ": the server sets %s", text.size ? buf_text(&text) : "no options");
	buf_done(&text);
}

static void central_answered(struct agent *g)
{
	const char *lines = buf_text(&g->c->central->lines);
	struct error err = {0};
	int status;

	if (g->central_refused && !strcmp(lines, g->central_refused)) {
		central_fails(g, "is not used", g->central_reason);
		return;
	}
	status = g->c->take_central(g->c->ctx, !g->reloads && !g->tries, &err);
	if (status < 0) {
		central_refuse(g, err.text);
		return;
	}
	central_is_used(g);
	if (!status) {
		central_print(lines);
		use_loaded(g, true);
	}
}

/* The first session waits for the first answer. */
static void central_read(struct agent *g)
{
	struct error err = {0};
	int status = agent_central_take(g->c->central, &err);

	if (status == -EAGAIN)
		return;
	if (!g->ends && status)
		central_fails(g, "cannot be read", err.text);
	else if (!g->ends)
		central_answered(g);
	if (!g->ever && !g->pid && !g->failures)
		g->again_ns = 1;
}

static uint64_t central_pause_ns(void)
{
	const char *ms = getenv("ASSAY_CENTRAL_MS"); /* for tests */

	return (ms ? (uint64_t)atoi(ms) : CENTRAL_MS) * MS;
}

static void central_ask(struct agent *g)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	struct error err = {0};

	if (!g->central_next_ns || g->ends)
		return;
	if (agent_central_fd(g->c->central) >= 0) {
		if (now >= g->c->central->deadline_ns)
			central_read(g);
		return;
	}
	if (now < g->central_next_ns || g->c->central->pid)
		return;
	g->central_next_ns = now + central_pause_ns();
	if (agent_central_start(g->c->central, &err))
		central_fails(g, "cannot be read", err.text);
}

static int central_begin(struct agent *g)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	g->note = mmap(NULL, START_NOTE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
	               -1, 0);
	if (g->note == MAP_FAILED) {
		g->note = NULL;
		return command_fail(1, NAME ": mmap: %s", strerror(errno));
	}
	g->central_next_ns = 1;
	g->again_ns = now + CENTRAL_FIRST_MS * MS;
	return 0;
}

/* ---- the course ------------------------------------------------------------ */

static void reload(struct agent *g)
{
	struct error err = {0};
	int status = g->c->reload(g->c->ctx, !g->reloads && !g->tries, &err);

	g->wrong = status < 0;
	if (g->wrong) {
		print_message(NAME ": the configuration stays as it was: %s", err.text);
		return;
	}
	print_message(NAME ": the configuration was read again");
	if (g->central_next_ns) {
		/* What was refused may fit to the new file. */
		central_forget(g);
		if (status)
			central_fails(g, "is not used", err.text);
		g->central_next_ns = 1;
	}
	use_loaded(g, false);
}

static void hear_begun(struct agent *g)
{
	char byte;

	if (read(g->begun, &byte, 1) == 1) {
		if (!g->ever)
			print_message(NAME ": samples go to %s; 'assay status --name %s' shows the "
			                   "state",
			              g->c->options->sink.store ? g->c->options->sink.store
			                                        : g->c->options->sink.to,
			              g->c->options->name.name);
		g->ever = true;
		g->tries = false;
	}
	close(g->begun);
	g->begun = -1;
}

static void plan_again(struct agent *g, int how)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), pause;

	g->failures = now - g->started_ns > STEADY_NS ? 1 : g->failures + 1;
	pause = backoff_ms(g->failures, AGAIN_FIRST_MS, AGAIN_MOST_MS, 0);
	g->again_ns = now + pause * MS;
	if (WIFSIGNALED(how))
		print_message(NAME ": the process that samples was killed by signal %d; it begins "
		                   "again in %.1f s",
		              WTERMSIG(how), (double)pause / 1e3);
	else
		print_message(NAME ": it begins again in %.1f s", (double)pause / 1e3);
}

/* Then it did not report that it cannot begin. */
static bool was_killed(int how)
{
	return WIFSIGNALED(how) && WTERMSIG(how) != SIGTERM;
}

/* The process of the session has exited. */
static void session_ended(struct agent *g, int how)
{
	g->pid = 0;
	if (g->begun >= 0)
		hear_begun(g);
	/* A second SIGTERM kills it at its end. */
	g->status = WIFEXITED(how) ? WEXITSTATUS(how) : WTERMSIG(how) != SIGTERM;
	if (g->ends)
		return;
	if (g->reloads) {
		g->reloads = false;
		g->tries = true;
		g->again_ns = 1;
	} else if (WIFEXITED(how) && !WEXITSTATUS(how)) {
		g->ends = true; /* by 'assay stop' */
	} else if (g->tries) {
		print_message(NAME ": no session begins with the new configuration: the one before "
		                   "is used again");
		g->tries = false;
		if (g->central_tries)
			central_refuse(g, "no session begins with it");
		else
			g->wrong = true;
		g->c->go_back(g->c->ctx);
		g->again_ns = 1;
	} else if (g->ever || was_killed(how)) {
		plan_again(g, how);
	} else {
		g->ends = true; /* it cannot begin */
	}
}

/* It was waited for: its number may belong to another process now. */
static void metrics_ended(struct agent *g)
{
	print_message(NAME ": the process that serves metrics has ended; it begins again");
	close(g->metrics.channel);
	g->metrics = (struct web_metrics){0};
}

static uint64_t time_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000 * MS + (uint64_t)t->tv_usec * 1000;
}

static void reap(struct agent *g)
{
	struct rusage used;
	int how;
	pid_t pid;

	while ((pid = wait4(-1, &how, WNOHANG, &used)) > 0) {
		if (pid == g->pid) {
			session_ended(g, how);
		} else if (pid == g->c->central->pid) {
			g->c->central->pid = 0;
			g->central_cpu_ns += time_of(&used.ru_utime) + time_of(&used.ru_stime);
		} else if (pid == g->metrics.pid)
			metrics_ended(g);
	}
}

static void hear_signal(struct agent *g)
{
	struct signalfd_siginfo info;

	if (read(g->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if (info.ssi_signo == SIGHUP) {
		reload(g);
	} else if (info.ssi_signo == SIGCHLD) {
		reap(g);
	} else {
		/* A second SIGTERM would kill the session at its end, which takes 10 s at most. */
		if (!g->ends)
			end_session(g);
		g->ends = true;
	}
}

static void sooner(uint64_t *next_ns, uint64_t ns)
{
	if (ns && (!*next_ns || ns < *next_ns))
		*next_ns = ns;
}

static int wait_ms(const struct agent *g)
{
	bool asked = agent_central_fd(g->c->central) >= 0;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = g->again_ns;

	if (!g->ends) {
		sooner(&next, g->metrics_again_ns);
		/* A process that was killed is waited for. */
		sooner(&next, asked                ? g->c->central->deadline_ns
		              : g->c->central->pid ? 0
		                                   : g->central_next_ns);
	}
	if (!next)
		return -1;
	return next > now ? (int)((next - now) / MS) + 1 : 0;
}

static void look(struct agent *g)
{
	struct pollfd p[] = {{.fd = g->signals, .events = POLLIN},
	                     {.fd = g->begun, .events = POLLIN},
	                     {.fd = web_metrics_fd(&g->metrics), .events = POLLIN},
	                     {.fd = agent_central_fd(g->c->central), .events = POLLIN}};

	if (poll(p, 4, wait_ms(g)) <= 0)
		return;
	if (p[3].revents)
		central_read(g);
	if (p[1].revents && g->begun >= 0)
		hear_begun(g);
	if (p[2].revents)
		serve_metrics(g);
	if (p[0].revents)
		hear_signal(g);
}

static int serve(struct agent *g)
{
	int status = g->c->central->url ? central_begin(g) : begin(g);

	while (!status && (!g->ends || g->pid)) {
		central_ask(g);
		look(g);
		status = start_metrics(g);
		if (!status && !g->ends && g->again_ns && clock_ns(CLOCK_MONOTONIC) >= g->again_ns)
			status = begin(g);
	}
	return status ? status : g->status;
}

static int open_signals(struct agent *g)
{
	sigset_t taken;

	sigemptyset(&taken);
	sigaddset(&taken, SIGTERM);
	sigaddset(&taken, SIGINT);
	sigaddset(&taken, SIGHUP);
	sigaddset(&taken, SIGCHLD);
	sigprocmask(SIG_BLOCK, &taken, &g->old_mask);
	g->signals = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
	return g->signals < 0 ? command_fail(1, NAME ": signalfd: %s", strerror(errno)) : 0;
}

int agent_run(struct agent_course *c)
{
	struct agent g = {.c = c, .begun = -1};
	int status = open_signals(&g);

	if (!status)
		status = start_metrics(&g);
	if (!status)
		status = serve(&g);
	if (g.pid) { /* after an error of this process */
		end_session(&g);
		waitpid(g.pid, NULL, 0);
	}
	web_metrics_stop(&g.metrics);
	agent_central_stop(c->central);
	central_forget(&g);
	if (g.note)
		munmap(g.note, START_NOTE_BYTES);
	if (g.signals >= 0)
		close(g.signals);
	return status;
}
