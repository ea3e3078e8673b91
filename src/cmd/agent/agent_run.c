/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/agent/agent_run.h"

#include "base/clock.h"
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
#include <string.h>
#include <sys/prctl.h>
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

struct agent {
	struct agent_course *c;
	struct web_metrics metrics;
	uint64_t metrics_again_ns; /* the next attempt to serve them; 0: now */
	sigset_t old_mask;
	int signals;
	pid_t pid;                     /* of the session's process; 0: none */
	int begun;                     /* pipe: a byte when sampling has started; -1: read */
	bool ever, ends, reloads;      /* ever: a session has begun */
	bool tries, wrong;             /* a new configuration is tried; the last one was not used */
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
	buf_addf(&text,
	         "# HELP assay_config_last_reload_successful 0: the configuration has a mistake, "
	         "and "
	         "the one before is used.\n# TYPE assay_config_last_reload_successful gauge\n"
	         "assay_config_last_reload_successful{session=\"%s\"} %d\n",
	         name, !g->wrong);
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

static void reload(struct agent *g)
{
	struct error err = {0};

	g->wrong = g->c->reload(g->c->ctx, !g->reloads && !g->tries, &err);
	if (g->wrong) {
		print_message(NAME ": the configuration stays as it was: %s", err.text);
		return;
	}
	print_message(NAME ": the configuration was read again");
	if (!g->pid) { /* no session runs now */
		g->tries = true;
		g->again_ns = 1;
		return;
	}
	g->reloads = true;
	end_session(g);
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

static void reap(struct agent *g)
{
	int how;
	pid_t pid;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if (pid == g->pid)
			session_ended(g, how);
		else if (pid == g->metrics.pid)
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

static int wait_ms(const struct agent *g)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), next = g->again_ns;

	if (g->metrics_again_ns && !g->ends && (!next || g->metrics_again_ns < next))
		next = g->metrics_again_ns;
	if (!next)
		return -1;
	return next > now ? (int)((next - now) / MS) + 1 : 0;
}

static void look(struct agent *g)
{
	struct pollfd p[] = {{.fd = g->signals, .events = POLLIN},
	                     {.fd = g->begun, .events = POLLIN},
	                     {.fd = web_metrics_fd(&g->metrics), .events = POLLIN}};

	if (poll(p, 3, wait_ms(g)) <= 0)
		return;
	if (p[1].revents && g->begun >= 0)
		hear_begun(g);
	if (p[2].revents)
		serve_metrics(g);
	if (p[0].revents)
		hear_signal(g);
}

static int serve(struct agent *g)
{
	int status = begin(g);

	while (!status && (!g->ends || g->pid)) {
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
	if (g.signals >= 0)
		close(g.signals);
	return status;
}
