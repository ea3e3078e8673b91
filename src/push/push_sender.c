/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "push/push_sender.h"

#include "base/clock.h"
#include "launch/privileges.h"
#include "push/push_backoff.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST_MS 500
#define MOST_MS 60000
#define REFUSED_MS 600000 /* the back end refuses this sender */
#define LOOK_MS 1000      /* at the file of the token, while refused */
#define KILL_MS 3000      /* after PUSH_END_MS */
#define WAIT_MS 5
#define ENDS 'e'
#define MS UINT64_C(1000000)

/*
 * Shared with the process that samples. The writer makes `version` odd while it changes the rest;
 * the fences pair with those of push_sender_read().
 */
struct push_shared {
	uint32_t version;
	struct push_sender_state state;
};

struct push_sender {
	struct push_sender_options o;
	struct push_shared *shared;
	int pipe; /* a byte: a batch was added; ENDS: the session ends */
	pid_t pid;
};

/* ---- the process --------------------------------------------------------- */

struct sending {
	const struct push_sender_options *o;
	struct push_shared *shared;
	struct push_delivery *delivery;
	int pipe;
	bool ended;
	unsigned attempts;             /* that failed since the last success */
	uint64_t next_ms, deadline_ms; /* of the next attempt; of the end, 0: not ended */
	bool refused;                  /* until next_ms or a change of the token */
	struct timespec token_changed;
};

static uint64_t now_ms(void)
{
	return clock_ns(CLOCK_MONOTONIC) / MS;
}

static void begin_change(struct push_shared *s)
{
	__atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(struct push_shared *s)
{
	__atomic_store_n(&s->version, s->version + 1, __ATOMIC_RELEASE);
}

static struct timespec token_time(const struct sending *s)
{
	const char *path = s->o->client.token_file;
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
	s->deadline_ms = now_ms() + (ends ? PUSH_END_MS : 0);
	s->next_ms = 0; /* one attempt more */
	s->refused = false;
}

static bool is_late(void *ctx)
{
	struct sending *s = ctx;

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

static void count(struct push_count *to, uint64_t samples)
{
	to->batches++;
	to->samples += samples;
}

static void fail(struct sending *s, const struct push_item *item, int ret, uint64_t asked_ms,
                 const struct error *err)
{
	struct push_sender_state *state = &s->shared->state;

	push_spool_return(s->o->spool, item);

	s->attempts++;
	s->refused = !http_is_passing(ret);
	s->token_changed = token_time(s);
	if (s->refused) { /* the next attempt reads token and certificates again */
		push_delivery_close(s->delivery);
		s->delivery = NULL;
	}
	s->next_ms =
	        now_ms() + (s->refused ? REFUSED_MS
	                               : push_backoff_ms(s->attempts, FIRST_MS, MOST_MS, asked_ms));
	begin_change(s->shared);
	state->failures++;
	snprintf(state->error, sizeof(state->error), "%s", err->text);
	end_change(s->shared);
}

/* The file is removed and counted in one change, so that a reader sees both or none. */
static void settle(struct sending *s, const struct push_item *item, bool sent, const char *error)
{
	struct push_sender_state *state = &s->shared->state;

	s->attempts = 0;
	s->next_ms = 0;
	s->refused = false;
	begin_change(s->shared);
	push_spool_remove(s->o->spool, item);
	count(sent ? &state->sent : &state->refused, item->batch.samples);
	snprintf(state->error, sizeof(state->error), "%s", error);
	end_change(s->shared);
}

/* Errors that are not due to the batch: it may be accepted later. */
static bool keeps_batch(int ret)
{
	return ret != -EPROTO && ret != -EFBIG;
}

static int deliver(struct sending *s, struct push_item *item, uint64_t *asked, struct error *err)
{
	char name[sizeof(item->name)];
	int ret = 0;

	if (!s->delivery)
		ret = push_delivery_open(&s->delivery, s->o->target, &s->o->client, err);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(item->name, "."), item->name);
	return ret ? ret : push_delivery_send(s->delivery, name, &item->batch, asked, err);
}

/* False: there was no batch. */
static bool send_one(struct sending *s)
{
	struct push_item item;
	struct error err = {0};
	uint64_t asked = 0;
	int ret = push_spool_take(s->o->spool, &item, &err);

	if (!item.name[0]) {
		push_item_done(&item);
		return false;
	}
	if (ret) { /* a damaged file */
		settle(s, &item, false, err.text);
	} else {
		ret = deliver(s, &item, &asked, &err);
		if (ret && keeps_batch(ret))
			fail(s, &item, ret, asked, &err);
		else
			settle(s, &item, !ret, err.text);
	}
	push_item_done(&item);
	return true;
}

static void run(struct sending *s)
{
	for (;;) {
		hear(s);
		if (s->ended && now_ms() >= s->deadline_ms)
			return;
		if (!may_send(s))
			continue;
		if (send_one(s))
			continue;
		if (s->ended)
			return;
		pause_for(s, UINT64_MAX);
	}
}

/* Keeps the pipe and the spool alone: locks and events belong to the session. */
static void detach(const int *kept, size_t count)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR2};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), low = STDERR_FILENO + 1;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	for (size_t i = 0; i < count; i++) { /* in ascending order */
		if (kept[i] > low)
			close_range((unsigned)low, (unsigned)kept[i] - 1, 0);
		low = kept[i] + 1;
	}
	close_range((unsigned)low, ~0U, 0);
}

static _Noreturn void process(const struct push_sender_options *o, struct push_shared *shared,
                              int pipe)
{
	struct push_sender_options own = *o;
	struct sending s = {.o = &own, .shared = shared, .pipe = pipe};
	const int spool = push_spool_descriptor(o->spool);
	const int kept[] = {spool < pipe ? spool : pipe, spool < pipe ? pipe : spool};

	own.client.stop = is_late;
	own.client.stop_ctx = &s;
	detach(kept, 2);
	prctl(PR_SET_NAME, "assay-push");
	privileges_drop(0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	run(&s);
	_exit(0);
}

/* ---- its parent ---------------------------------------------------------- */

int push_sender_start(struct push_sender **out, const struct push_sender_options *o,
                      struct error *err)
{
	struct push_sender *s = xcalloc(1, sizeof(*s));
	int ends[2];

	*out = s;
	s->o = *o;
	s->pipe = -1;
	s->shared = mmap(NULL, sizeof(*s->shared), PROT_READ | PROT_WRITE,
	                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (s->shared == MAP_FAILED) {
		s->shared = NULL;
		return error_set(err, errno, "mmap: %s", strerror(errno));
	}
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return error_set(err, errno, "pipe: %s", strerror(errno));
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

/* A full pipe wakes it too. */
void push_sender_wake(struct push_sender *s)
{
	ssize_t ignored = write(s->pipe, "", 1);

	(void)ignored;
	if (s->pid && waitpid(s->pid, NULL, WNOHANG) == s->pid) {
		s->pid = 0;
		s->shared->state.exited = true;
	}
}

void push_sender_read(struct push_sender *s, struct push_sender_state *state)
{
	uint32_t before, after;
	unsigned tries = 0;

	do {
		before = __atomic_load_n(&s->shared->version, __ATOMIC_ACQUIRE);
		*state = s->shared->state;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		after = __atomic_load_n(&s->shared->version, __ATOMIC_RELAXED);
	} while (((before & 1) || before != after) && tries++ < 1000);
	state->error[sizeof(state->error) - 1] = 0;
}

void push_sender_end(struct push_sender *s)
{
	const struct timespec moment = {.tv_nsec = WAIT_MS * MS};
	const char ends = ENDS;

	if (s->pipe >= 0) {
		/* A pipe that is full of other bytes is read within a second, as the request
		 * that runs looks at it. */
		while (s->pid && write(s->pipe, &ends, 1) < 0 && errno == EAGAIN)
			nanosleep(&moment, NULL);
		close(s->pipe);
	}
	s->pipe = -1;
	for (int ms = 0; s->pid && waitpid(s->pid, NULL, WNOHANG) != s->pid; ms += WAIT_MS) {
		if (ms == PUSH_END_MS + KILL_MS)
			kill(s->pid, SIGKILL);
		nanosleep(&moment, NULL);
	}
	s->pid = 0;
}

void push_sender_free(struct push_sender *s)
{
	if (!s)
		return;
	push_sender_end(s);
	if (s->shared)
		munmap(s->shared, sizeof(*s->shared));
	free(s);
}
