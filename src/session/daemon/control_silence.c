/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/control_silence.h"

#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND_NS UINT64_C(1000000000)
/* Time limit for a stopped process, which may continue soon, for example after 'fg' */
#define STOPPED_NS (3 * SECOND_NS)
#define STATUS_NS (10 * SECOND_NS)
/* Time limit for an idle process, which may wait for a slow disk */
#define IDLE_NS (60 * SECOND_NS)
#define MOST_NS (600 * SECOND_NS)

/* Reads the state letter after the name, which may contain any character; 0: no such process. */
static char read_state(pid_t pid)
{
	char path[64], text[512], state = 0;
	const char *end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	end = strrchr(text, ')');
	if (end && end[1] == ' ')
		state = end[2];
	return state;
}

/* CPU time of its first thread, which answers requests. */
static uint64_t read_ran_ns(pid_t pid)
{
	uint64_t ran_ns = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	file = fopen(path, "re");
	if (file && fscanf(file, "%" SCNu64, &ran_ns) != 1)
		ran_ns = 0;
	if (file)
		fclose(file);
	return ran_ns;
}

void control_silence_begin(struct control_silence *s, pid_t pid, enum control_verb verb)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	*s = (struct control_silence){.pid = pid, .verb = verb, .began_ns = now, .worked_ns = now};
	if (pid > 0)
		s->ran_ns = read_ran_ns(pid);
}

static bool is_stopped(char state)
{
	return state == 'T' || state == 't';
}

bool control_silence_look(struct control_silence *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), ran_ns;

	if (s->pid > 0) {
		s->state = read_state(s->pid);
		ran_ns = read_ran_ns(s->pid);
		if (ran_ns != s->ran_ns)
			s->worked_ns = now;
		s->ran_ns = ran_ns;
	}
	if (!is_stopped(s->state))
		s->stopped_ns = 0;
	else if (!s->stopped_ns)
		s->stopped_ns = now;
	if (s->stopped_ns && now - s->stopped_ns >= STOPPED_NS)
		return true;
	if (s->verb == CONTROL_STATUS)
		return now - s->began_ns >= STATUS_NS;
	return now - s->worked_ns >= IDLE_NS || now - s->began_ns >= MOST_NS;
}

static const char *what_is_it(char state)
{
	switch (state) {
	case 'T':
		return "it was stopped by a signal";
	case 't':
		return "a debugger holds it";
	case 'D':
		return "it waits for a disk, or a device";
	case 'Z':
	case 'X':
		return "it is ending";
	case 'R':
		return "it runs";
	default:
		return "it sleeps";
	}
}

int control_silence_tell(const struct control_silence *s, const char *name, struct error *err)
{
	uint64_t waited = clock_ns(CLOCK_MONOTONIC) - s->began_ns;
	char goes_on[64] = "", later[96] = "";

	if (s->verb != CONTROL_STATUS)
		snprintf(later, sizeof(later),
		         "; the %s was requested, and follows when the session continues",
		         s->verb == CONTROL_STOP       ? "end"
		         : s->verb == CONTROL_SNAPSHOT ? "snapshot"
		                                       : "release of files");
	if (!s->state)
		return error_set(err, ETIMEDOUT,
		                 "the session '%s' does not answer, for %" PRIu64 " s%s", name,
		                 waited / SECOND_NS, later);
	if (s->state == 'T')
		snprintf(goes_on, sizeof(goes_on), "'kill -CONT %d' continues it, ", (int)s->pid);
	return error_set(
	        err, ETIMEDOUT,
	        "the session '%s' (process %d) does not answer, for %" PRIu64
	        " s: %s (state %c in /proc/%d/stat)%s; %s'kill -KILL %d' ends it, and what "
	        "was written until then is kept",
	        name, (int)s->pid, waited / SECOND_NS, what_is_it(s->state), s->state, (int)s->pid,
	        later, goes_on, (int)s->pid);
}
