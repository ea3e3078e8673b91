/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The difference between the clock of this machine and that of the server. Windows have the time of
 * their own machine, and ranges of reports are compared with it, so a difference is a note of the
 * session.
 */
#include "store/clickhouse/click_sender_internal.h"

#include "base/clock.h"
#include "base/clock_difference.h"
#include "format/clickhouse/row_binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static int64_t magnitude(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

/* What is certain: the server's second is not exact, and the answer took some time. */
static int64_t ahead_by(int64_t before_ns, int64_t after_ns, int64_t server_s)
{
	if (before_ns > (server_s + 1) * SECOND)
		return before_ns - (server_s + 1) * SECOND;
	return after_ns < server_s * SECOND ? after_ns - server_s * SECOND : 0;
}

static int take_time(void *ctx, const struct row_value *v, struct error *err)
{
	*(uint64_t *)ctx = v[0].number;
	return 0;
}

static int ask_clock(struct click_sender *s, struct error *err)
{
	static const char sql[] = "SELECT toUInt64(toUInt32(now())) FORMAT RowBinary";
	int64_t before_ns = (int64_t)clock_ns(CLOCK_REALTIME), ahead_ns;
	uint64_t server_s = UINT64_MAX;
	int status =
	        click_server_rows(s->server, sql, NULL, "q", "its time", take_time, &server_s, err);

	if (!status && server_s > UINT32_MAX)
		status = click_server_bad(s->server, "its time", err);
	if (!status) {
		ahead_ns =
		        ahead_by(before_ns, (int64_t)clock_ns(CLOCK_REALTIME), (int64_t)server_s);
		if (magnitude(ahead_ns) > magnitude(s->ahead_ns))
			s->ahead_ns = ahead_ns;
	}
	return status;
}

int click_sender_clock(struct click_sender *s, struct error *err)
{
	int64_t offset_ns = (int64_t)clock_wall_offset();
	int status;

	if (!s->live || (s->clock_asked && magnitude(offset_ns - s->clock_offset_ns) < SECOND))
		return 0;
	status = database_number(s->db,
	                         "SELECT max(end_ns - start_ns) FROM window WHERE level IN (0, 8)",
	                         10 * SECOND, &s->window_ns, err);
	if (!status)
		status = ask_clock(s, err);
	s->clock_asked = !status;
	s->clock_offset_ns = offset_ns;
	return status;
}

#define NOTE_BEGIN "the clock of this machine was "

bool click_sender_clock_note(const struct click_sender *s, char *note, size_t size)
{
	if (!s->live || magnitude(s->ahead_ns) <= s->window_ns)
		return false;
	snprintf(note, size,
	         NOTE_BEGIN "%lld s %s that of the server: so are the times of its windows, and "
	                    "--from and --until are compared with these",
	         (long long)(magnitude(s->ahead_ns) / SECOND),
	         s->ahead_ns > 0 ? "ahead of" : "behind");
	return true;
}

int64_t click_clock_of_note(const char *note)
{
	long long seconds;
	char *end;

	if (strncmp(note, NOTE_BEGIN, strlen(NOTE_BEGIN)) != 0)
		return 0;
	seconds = strtoll(note + strlen(NOTE_BEGIN), &end, 10);
	if (seconds < 0 || seconds > UINT32_MAX)
		return 0;
	return strncmp(end, " s ahead", 8) ? -seconds * SECOND : seconds * SECOND;
}
