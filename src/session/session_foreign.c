/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The session's process for foreign calls: started first, reported at the end. */
#include "session/session_internal.h"

#include "base/process/privileges.h"

#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/*
 * It reads files of other processes, and writes to the user's own cache. The recorder waits for it,
 * so it must run at the same priority as the recorder.
 */
static void keep_looking_alone(void)
{
	privileges_hurry();
	privileges_drop(PRIVILEGE_LOOK);
}

/* Recording also works without it, but then a file system that hangs stops the recorder. */
void session_foreign_open(struct session *s)
{
	struct foreign_options options = {.prepare = keep_looking_alone};
	struct error err = {0};

	/* Foreign calls add watches; this process reads them. */
	s->watches = options.keep = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	s->sink->foreign = NULL;
	if (!foreign_open(&s->foreign, &options, &err))
		s->sink->foreign = s->foreign;
	else
		plan_note(&s->plan,
		          "Memory and files of other processes are read by the recorder itself, "
		          "which "
		          "hangs if a file system does not respond: %s.",
		          err.text);
}

void session_foreign_close(struct session *s)
{
	/* Closed first, since removing the last watch of a file may wait for its file system. */
	if (s->watches >= 0)
		close(s->watches);
	s->watches = -1;
	foreign_close(s->foreign);
	s->foreign = NULL;
}

static void add_sentence(void *ctx, const char *text)
{
	struct buf *all = ctx;

	if (all->size)
		buf_putc(all, ' ');
	buf_puts(all, text);
}

void session_foreign_report(struct session *s)
{
	struct buf text = {0};

	foreign_report(s->foreign, add_sentence, &text);
	if (text.size)
		s->foreign_note = session_note(s, s->foreign_note, xstrdup(text.data));
	buf_done(&text);
}

void session_foreign_account(const struct session *s, struct account *account)
{
	struct foreign_counts counts = foreign_counts(s->foreign);

	account->reader_pid = foreign_pid(s->foreign);
	account->reads_unanswered = counts.unanswered;
	account->reads_not_made = counts.refused;
}
