/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/top/screen.h"

#include "base/clock.h"
#include "cmd/cli/command.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define SECOND UINT64_C(1000000000)

static volatile sig_atomic_t ended;

struct following {
	uint64_t delay_ns;
	screen_look_fn *look; /* NULL: the model does not change */
	void *ctx;
};

static void on_end(int number)
{
	ended = 1;
}

bool screen_has_colour(const struct style_options *style)
{
	struct text_style chosen;

	style_choose(style, &chosen);
	return chosen.colour;
}

void screen_draw(struct terminal *t, struct browser *b)
{
	struct canvas c;
	unsigned width, height;

	terminal_size(t, &width, &height);
	canvas_init(&c, width, height);
	browser_draw(b, &c);
	terminal_show(t, &c);
	canvas_done(&c);
}

bool screen_keys(struct terminal *t, struct browser *b)
{
	unsigned width, height;
	struct key_event key;
	bool any = false;

	while (!browser_is_over(b) && terminal_key(t, &key)) {
		terminal_size(t, &width, &height);
		browser_key(b, &key, width, height);
		any = true;
	}
	return any;
}

/* A signal that comes before poll() waits is handled by ppoll(), which unblocks it. */
static void follow(struct terminal *t, struct browser *b, const struct following *f,
                   const sigset_t *open)
{
	struct pollfd fd = {.fd = terminal_fd(t), .events = POLLIN};
	uint64_t due = clock_ns(CLOCK_MONOTONIC) + f->delay_ns, now, left;
	struct timespec wait;

	while (!ended && !browser_is_over(b)) {
		screen_draw(t, b);
		now = clock_ns(CLOCK_MONOTONIC);
		left = due > now ? due - now : 0;
		wait = (struct timespec){(time_t)(left / SECOND), (long)(left % SECOND)};
		if (ppoll(&fd, 1, f->look ? &wait : NULL, open) < 0 && errno != EINTR)
			break;
		screen_keys(t, b);
		if (!f->look || clock_ns(CLOCK_MONOTONIC) < due)
			continue;
		browser_forget(b);
		f->look(f->ctx);
		browser_refresh(b);
		due = clock_ns(CLOCK_MONOTONIC) + f->delay_ns;
	}
}

static int screen_run(const char *command, const struct browser_host *host,
                      const struct style_options *style, const struct following *f)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_end}, before[3];
	struct terminal *t = NULL;
	struct browser *b = browser_new(host);
	struct error err = {0};
	sigset_t held, open;

	sigemptyset(&held);
	for (size_t i = 0; i < 3; i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, &open);
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &action, &before[i]);
	if (!terminal_open(&t, screen_has_colour(style), &err)) {
		browser_refresh(b);
		follow(t, b, f, &open);
	}
	terminal_close(t);
	browser_free(b);
	for (size_t i = 0; i < 3; i++)
		sigaction(signals[i], &before[i], NULL);
	sigprocmask(SIG_SETMASK, &open, NULL);
	return err.code ? command_fail(1, "%s: %s", command, err.text) : 0;
}

int screen_show(const char *command, const struct browser_host *host,
                const struct style_options *style)
{
	return screen_run(command, host, style, &(struct following){0});
}

int screen_follow(const char *command, const struct browser_host *host,
                  const struct style_options *style, uint64_t delay_ns, screen_look_fn *look)
{
	return screen_run(command, host, style, &(struct following){delay_ns, look, host->ctx});
}
