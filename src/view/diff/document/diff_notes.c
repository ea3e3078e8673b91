/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/diff/document/diff_notes.h"

#include "base/text/figure.h"
#include "base/text/plural.h"
#include "view/diff/document/diff_measures.h"

#include <ctype.h>
#include <string.h>
#include <sys/wait.h>

#define LISTED 10 /* runs in one sentence, at most */

static void add(struct section *s, struct buf *text)
{
	section_note(s, buf_text(text));
	buf_done(text);
}

enum defect { LOST, FAILED, CUT_SHORT, MISSING };

static bool has(const struct diff_run *run, enum defect which)
{
	const struct diff_defects *d = &run->defects;

	return which == LOST      ? d->lost_records > 0
	       : which == FAILED  ? d->exit_status > 0
	       : which == MISSING ? d->missing_ns > 0
	                          : d->cut_short;
}

static void missing_text(const struct diff_defects *d, struct buf *out)
{
	buf_puts(out, " (");
	text_time(out, (int64_t)d->missing_ns);
	buf_putc(out, ')');
}

static void detail_text(const struct diff_defects *d, enum defect which, struct buf *out)
{
	if (which == LOST)
		buf_addf(out, " (%llu)", (unsigned long long)d->lost_records);
	else if (which == MISSING)
		missing_text(d, out);
	else if (which == FAILED && WIFSIGNALED(d->exit_status))
		buf_addf(out, " (%s)", strsignal(WTERMSIG(d->exit_status)));
	else if (which == FAILED)
		buf_addf(out, " (exit status %d)", WEXITSTATUS(d->exit_status));
}

/* "run 2 of A (exit status 3), run 4 of A (exit status 3)" */
static size_t runs_text(const struct diff_runs *t, enum defect which, struct buf *out)
{
	size_t number[DIFF_SIDES] = {0}, found = 0;

	vec_each (run, &t->runs) {
		number[run->side]++;
		if (!has(run, which) || found++ >= LISTED)
			continue;
		buf_addf(out, "%srun %zu of %c", found > 1 ? ", " : "", number[run->side],
		         run->side == DIFF_A ? 'A' : 'B');
		detail_text(&run->defects, which, out);
	}
	if (found > LISTED)
		buf_addf(out, " and %zu more", found - LISTED);
	return found;
}

static void add_defects(struct section *s, const struct diff_runs *t)
{
	static const struct {
		enum defect which;
		const char *before, *after;
	} notes[] = {
	        {CUT_SHORT,
	         "The recorder was killed or the file is damaged, so that the recording "
	         "is incomplete: ",
	         "."},
	        {FAILED, "The command failed: ", ". Such a run may have done other work."},
	        {LOST, "Records were lost, since the buffers were full: ",
	         ". The times of these runs are too small."},
	        {MISSING, "Events are missing, so that run time belongs to no function: ",
	         ". A function whose times may be equal because of it is not tested."},
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		struct buf text = {0};

		buf_puts(&text, notes[i].before);
		if (runs_text(t, notes[i].which, &text)) {
			buf_puts(&text, notes[i].after);
			section_note(s, buf_text(&text));
		}
		buf_done(&text);
	}
}

static void add_end(struct section *s, const struct diff_runs *t)
{
	struct buf text = {0};

	if (!t->ended)
		return;
	buf_addf(&text, "%c%s.", toupper((unsigned char)t->ended[0]), t->ended + 1);
	add(s, &text);
}

/* Eight intervals of 95 % together have less than 95 % confidence. */
static void add_measures(struct section *s, const struct diff *d)
{
	struct buf text = {0}, changed = {0};

	if (diff_measures_changed(d, &changed)) {
		buf_puts(&text, "Each interval of 'What a run used' is for one measure, so that "
		                "one of them may exclude 0 by chance. Corrected for their number "
		                "(Holm, 5 %), ");
		if (changed.size)
			buf_addf(&text, "these changed: %s.", buf_text(&changed));
		else
			buf_puts(&text, "none shows a change.");
		section_note(s, buf_text(&text));
	}
	buf_done(&text);
	buf_done(&changed);
}

static void add_joined(struct section *s, const struct diff_runs *t)
{
	vec_each (joined, &t->joined) {
		struct buf text = {0};

		buf_addf(&text,
		         "%s of A and %s of B have common functions and count as one file, %s.",
		         intern_text(&t->texts, joined->a), intern_text(&t->texts, joined->b),
		         intern_text(&t->texts, joined->a));
		add(s, &text);
	}
}

static void add_limits(struct section *s, const struct diff *d)
{
	struct buf text = {0};

	if (d->runs->wall_assumed && !d->runs->parts)
		section_note(s, "The recordings are not of whole commands, so their time per "
		                "second is compared. If each side did the same work, such as a "
		                "fixed number of requests, use --work run; --work EVENT counts "
		                "the work.");
	if (!d->runs->call_paths && !d->runs->groups && !d->runs->waits)
		section_note(s, "The recordings have no call paths ('assay record -g'): functions "
		                "count as moved if the changes in their file cancel each other.");
	if (d->pooled) {
		text_counted(&text, d->pooled, diff_row_noun(d->runs, false),
		             diff_row_noun(d->runs, true));
		if (d->untested)
			buf_addf(&text, " with little time %s in one row, [others].",
			         plural(d->pooled, "is", "are"));
		else
			buf_addf(&text,
			         " %s too %s for a test; they are tested as one row, [others].",
			         plural(d->pooled, "has", "have"),
			         d->runs->waits ? "little time" : "few samples");
		add(s, &text);
	}
	if (!d->paired && d->strength == DIFF_STRONG)
		section_note(s,
		             "The sides have different numbers of runs, so runs are not compared "
		             "in pairs: alternate the runs of A and B.");
}

void diff_notes(struct document *out, const struct diff *d)
{
	struct section *s = document_notes(out, MEDIA_READERS, "Notes", NULL);

	add_end(s, d->runs);
	add_defects(s, d->runs);
	add_measures(s, d);
	add_joined(s, d->runs);
	add_limits(s, d);
}
