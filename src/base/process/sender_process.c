/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/sender_process.h"

#include "base/clock.h"
#include "base/memory/xalloc.h"
#include "base/process/backoff.h"
#include "base/process/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REFUSED_MS 600000 /* the server refuses this sender */
#define LOOK_MS 1000      /* at the file of the token, while refused */
#define KILL_MS 3000      /* after the end */
#define WAIT_MS 5
#define ENDS 'e'
#define MS UINT64_C(1000000)
#define LOOKS 10      /* until no batch was sent between two readings */
#define SPINS 100     /* readings before the first pause, while the writer changes the state */
#define TRIES_MAX 600 /* with pauses of WAIT_MS: the writer may wait for a CPU or a disk */

/*
 * Shared with the process that samples. The writer makes `version` odd while it changes `state`;
 * the fences pair with those of sender_process_read(). `prepared` is set after `failure`, with
 * release order: 1, or a negative errno.
 */
struct shared {
	uint32_t version;
	struct sender_state state;
	int32_t prepared;
	char failure[1024];
};

struct sender_process {
	struct shared *shared;
	int pipe; /* a byte: something was added; ENDS: the end */
	pid_t pid;
	uint64_t end_ms;
};

/* ---- the child ------------------------------------------------------------- */

struct sending {
	struct sender_process_options o;
	struct shared *shared;
	int pipe;
	bool ended;
	unsigned attempts;             /* that failed since the last success */
	uint64_t next_ms, deadline_ms; /* of the next attempt; of the end, 0: not ended */
	uint64_t asked_ms;
	bool refused; /* until next_ms or a change of the token */
	struct timespec token_changed;
};

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / MS;
}

struct sender_state *sending_begin(struct sending *s)
{
	__atomic_store_n(&s->shared->version, s->shared->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return &s->shared->state;
}

void sending_end(struct sending *s)
{
	s->shared->state.cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	__atomic_store_n(&s->shared->version, s->shared->version + 1, __ATOMIC_RELEASE);
}

void sending_count(struct send_count *to, uint64_t batches, uint64_t samples)
{
	to->batches += batches;
	to->samples += samples;
}

bool sending_has_ended(const struct sending *s)
{
	return s->ended;
}

void sending_asked(struct sending *s, uint64_t ms)
{
	s->asked_ms = ms;
}

static struct timespec token_time(const struct sending *s)
{
	const char *path = s->o.token_file;
	struct stat st;

	return path && !stat(path, &st) ? st.st_ctim : (struct timespec){0};
}

/*
 * Reads the pipe without waiting. ENDS begins the time that is left; the end of the pipe without it
 * means that the session was killed: its successor sends the rest.
 */
static void hear(struct sending *s)
{
	char bytes[64];
	bool ends = false;
	ssize_t got;

	do {
		got = read(s->pipe, bytes, sizeof(bytes));
		ends |= got > 0 && memchr(bytes, ENDS, (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (s->ended || (got && !ends))
		return;
	s->ended = true;
	s->deadline_ms = now_ms() + (ends ? s->o.end_ms : 0);
	s->next_ms = 0; /* one attempt more */
	s->refused = false;
}

bool sending_is_late(void *sending)
{
	struct sending *s = sending;

	hear(s);
	return s->ended && now_ms() >= s->deadline_ms;
}

static void pause_for(struct sending *s, uint64_t ms)
{
	struct pollfd p = {.fd = s->ended ? -1 : s->pipe, .events = POLLIN};

	poll(&p, 1, ms > INT32_MAX ? INT32_MAX : (int)ms);
	hear(s);
}

/* True if the pause after a failure is over. */
static bool may_send(struct sending *s)
{
	struct timespec now;
	uint64_t left, ms = now_ms();

	if (ms >= s->next_ms)
		return true;
	left = s->next_ms - ms;
	if (s->refused && left > LOOK_MS)
		left = LOOK_MS;
	if (s->ended && ms + left > s->deadline_ms)
		left = s->deadline_ms > ms ? s->deadline_ms - ms : 0;
	pause_for(s, left);
	now = token_time(s);
	return s->refused &&
	       (now.tv_sec != s->token_changed.tv_sec || now.tv_nsec != s->token_changed.tv_nsec);
}

static void fail(struct sending *s, bool refused, const struct error *err)
{
	struct sender_state *state;

	s->attempts++;
	s->refused = refused;
	s->token_changed = token_time(s);
	s->next_ms = now_ms() +
	             (refused ? REFUSED_MS
	                      : backoff_ms(s->attempts, s->o.first_ms, s->o.most_ms, s->asked_ms));
	state = sending_begin(s);
	state->failures++;
	snprintf(state->error, sizeof(state->error), "%s", err->text);
	sending_end(s);
}

/* False: nothing waited. */
static bool attempt(struct sending *s)
{
	struct error err = {0};
	enum sending_result result;

	s->asked_ms = 0;
	result = s->o.attempt(s->o.ctx, s, &err);
	if (result == SENDING_FAILED || result == SENDING_REFUSED) {
		fail(s, result == SENDING_REFUSED, &err);
	} else {
		s->attempts = 0;
		s->next_ms = 0;
		s->refused = false;
	}
	return result != SENDING_IDLE;
}

static void run(struct sending *s)
{
	/* The parent may have ended during prepare(): the pipe is not polled then. */
	if (s->o.sleeps && !s->ended)
		pause_for(s, UINT64_MAX);
	for (;;) {
		hear(s);
		if (s->ended && now_ms() >= s->deadline_ms)
			return;
		if (!may_send(s))
			continue;
		if (attempt(s))
			continue;
		if (s->ended)
			return;
		pause_for(s, UINT64_MAX);
	}
}

/* Keeps the pipe and one more: locks and events belong to the session. */
static void detach(int a, int b)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR2};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), low = STDERR_FILENO + 1;
	const int kept[] = {a < b ? a : b, a < b ? b : a};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < 2; i++) {
		if (kept[i] > low)
			close_range((unsigned)low, (unsigned)kept[i] - 1, 0);
		if (kept[i] >= low)
			low = kept[i] + 1;
	}
	close_range((unsigned)low, ~0U, 0);
}

static void prepare(struct sending *s)
{
	struct error err = {0};
	int status = s->o.prepare ? s->o.prepare(s->o.ctx, s, &err) : 0;

	snprintf(s->shared->failure, sizeof(s->shared->failure), "%s", err.text);
	if (status < 0)
		fail(s, false, &err);
	__atomic_store_n(&s->shared->prepared, status < 0 ? status : 1, __ATOMIC_RELEASE);
}

static _Noreturn void process(const struct sender_process_options *o, struct shared *shared,
                              int pipe)
{
	struct sending s = {.o = *o, .shared = shared, .pipe = pipe};
	sigset_t none;

	sigemptyset(&none);
	detach(o->kept, pipe);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, o->name);
	privileges_drop(0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prepare(&s);
	run(&s);
	_exit(0);
}

/* ---- its parent ------------------------------------------------------------ */

int sender_process_start(struct sender_process **out, const struct sender_process_options *o,
                         struct error *err)
{
	struct sender_process *s = xcalloc(1, sizeof(*s));
	int ends[2];

	*out = s;
	s->pipe = -1;
	s->end_ms = o->end_ms;
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return error_set(err, errno, "mmap: %s", strerror(errno));
	}
	/* A pipe would end the parent by SIGPIPE if the child was killed. */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends))
		return error_set(err, errno, "socketpair: %s", strerror(errno));
	s->pid = fork();
	if (!s->pid)
		process(o, s->shared, ends[0]);
	close(ends[0]);
	s->pipe = ends[1];
	if (s->pid > 0)
		return 0;
	s->pid = 0;
	return error_set(err, errno, "fork: %s", strerror(errno));
}

static bool has_exited(struct sender_process *s)
{
	if (s->pid && waitpid(s->pid, NULL, WNOHANG) == s->pid) {
		s->pid = 0;
		s->shared->state.exited = true;
	}
	return !s->pid;
}

int sender_process_ready(struct sender_process *s, uint64_t most_ms, struct error *err)
{
	const struct timespec moment = {.tv_nsec = WAIT_MS * MS};
	uint64_t begin_ms = now_ms();
	int status;

	while (!(status = __atomic_load_n(&s->shared->prepared, __ATOMIC_ACQUIRE))) {
		if ((status = sender_process_alive(s, err)))
			return status;
		if (now_ms() - begin_ms >= most_ms)
			return error_set(err, ETIMEDOUT, "the server has not answered yet");
		nanosleep(&moment, NULL);
	}
	if (status > 0)
		return 0;
	s->shared->failure[sizeof(s->shared->failure) - 1] = 0;
	return error_set(err, -status, "%s", s->shared->failure);
}

int sender_process_alive(struct sender_process *s, struct error *err)
{
	return has_exited(s) ? error_set(err, ECHILD, "the process that sends was killed") : 0;
}

/* A full pipe wakes it too. */
void sender_process_wake(struct sender_process *s)
{
	ssize_t ignored = send(s->pipe, "", 1, MSG_NOSIGNAL);

	(void)ignored;
	has_exited(s);
}

void sender_process_read(struct sender_process *s, struct sender_state *state)
{
	const struct timespec moment = {.tv_nsec = WAIT_MS * MS};
	uint32_t before, after;
	unsigned tries = 0;

	do {
		before = __atomic_load_n(&s->shared->version, __ATOMIC_ACQUIRE);
		*state = s->shared->state;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&s->shared->version, __ATOMIC_RELAXED);
		if (!(before & 1) && before == after)
			break;
		/* A process that was killed leaves its change as it is. */
		if (++tries > SPINS && has_exited(s))
			break;
		if (tries > SPINS)
			nanosleep(&moment, NULL);
	} while (tries < TRIES_MAX);
	state->error[sizeof(state->error) - 1] = 0;
}

void sender_process_look(struct sender_process *s, void (*count)(void *ctx, struct send_count *c),
                         void *ctx, struct send_account *a)
{
	struct sender_state before, after;

	sender_process_read(s, &after);
	for (int i = 0; i < LOOKS; i++) {
		before = after;
		a->waiting = (struct send_count){0};
		count(ctx, &a->waiting);
		sender_process_read(s, &after);
		if (before.sent.batches == after.sent.batches &&
		    before.refused.batches == after.refused.batches)
			break;
	}
	a->sent = after.sent;
	a->refused = after.refused;
	a->failures = after.failures;
	a->cpu_ns = after.cpu_ns;
	a->exited = after.exited;
	snprintf(a->error, sizeof(a->error), "%s", after.error);
}

void sender_process_end(struct sender_process *s)
{
	const struct timespec moment = {.tv_nsec = WAIT_MS * MS};
	const char ends = ENDS;

	if (s->pipe >= 0) {
		/* A pipe that is full of other bytes is read within a second, as the request
		 * that runs looks at it. */
		while (s->pid && send(s->pipe, &ends, 1, MSG_NOSIGNAL) < 0 && errno == EAGAIN)
			nanosleep(&moment, NULL);
		close(s->pipe);
	}
	s->pipe = -1;
	for (uint64_t ms = 0; s->pid && waitpid(s->pid, NULL, WNOHANG) != s->pid; ms += WAIT_MS) {
		if (ms == s->end_ms + KILL_MS)
			kill(s->pid, SIGKILL);
		nanosleep(&moment, NULL);
	}
	s->pid = 0;
}

void sender_process_free(struct sender_process *s)
{
	if (!s)
		return;
	sender_process_end(s);
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	free(s);
}
