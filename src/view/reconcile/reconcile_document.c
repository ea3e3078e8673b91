/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/reconcile/reconcile_document.h"

#include "base/text/figure.h"
#include "base/text/plural.h"

#include <math.h>

static void side_text(const struct reconcile_runs *t, enum reconcile_side side, struct buf *out)
{
	size_t seen = 0;

	text_counted(out, t->count[side], "run (", "runs (");
	vec_each (run, &t->runs)
		if (run->side == side && !seen++)
			buf_puts(out, run->name);
	if (seen > 1)
		buf_addf(out, " and %zu more", seen - 1);
	buf_putc(out, ')');
}

static void add_paths(struct document *out, const struct reconcile_runs *t, const char *key,
                      enum reconcile_side side)
{
	document_array(out, key);
	vec_each (run, &t->runs)
		if (run->side == side)
			document_string(out, NULL, run->name);
	document_end(out);
}

static void add_facts(struct document *out, const struct reconcile *r)
{
	document_string(out, "kind", "reconcile");
	add_paths(out, r->runs, "sampled", RECONCILE_SAMPLED);
	add_paths(out, r->runs, "counted", RECONCILE_COUNTED);
	document_bool(out, "native", r->runs->native);
	document_object(out, "verdicts");
	document_int(out, "agree", (int64_t)r->verdicts[RECONCILE_AGREE]);
	document_int(out, "differ", (int64_t)r->verdicts[RECONCILE_DIFFER]);
	document_int(out, "cannot_tell", (int64_t)r->verdicts[RECONCILE_CANNOT_TELL]);
	document_end(out);
	document_object(out, "verdict_shares");
	document_real(out, "agree", r->shares[RECONCILE_AGREE]);
	document_real(out, "differ", r->shares[RECONCILE_DIFFER]);
	document_real(out, "cannot_tell", r->shares[RECONCILE_CANNOT_TELL]);
	document_end(out);
	if (isfinite(r->longer))
		document_real(out, "times_longer", r->longer);
	else
		document_null(out, "times_longer");
}

/* "3 (12.3 % of the time)". */
static void verdict_text(const struct reconcile *r, enum reconcile_verdict verdict, struct buf *out)
{
	buf_addf(out, "%zu (", r->verdicts[verdict]);
	text_share(out, r->shares[verdict]);
	buf_puts(out, " of the time)");
}

/* What decides the rest. */
static void longer_text(const struct reconcile *r, struct buf *out)
{
	if (!isfinite(r->longer))
		return;
	buf_puts(out, "Runs of ");
	text_fine_time(out, r->longer * r->run_ns);
	buf_puts(out, " of CPU time instead of ");
	text_fine_time(out, r->run_ns);
	buf_addf(out, ", or %.0f times as many, would decide ", ceil(r->longer));
	text_share(out, r->decided);
	buf_puts(out, " of this time. ");
}

/* "5 for cost of counting". */
static void reasons_text(const struct reconcile *r, struct buf *out)
{
	const char *between = " (";

	for (int i = 1; i < RECONCILE_REASONS; i++) {
		if (!r->reasons[i])
			continue;
		buf_addf(out, "%s%zu: %s", between, r->reasons[i],
		         reconcile_reason_word((enum reconcile_reason)i));
		between = ", ";
	}
	if (*between == ',')
		buf_putc(out, ')');
}

static void summary(struct document *out, const struct reconcile *r)
{
	size_t open = r->verdicts[RECONCILE_DIFFER] + r->verdicts[RECONCILE_CANNOT_TELL];
	struct buf text = {0};

	side_text(r->runs, RECONCILE_SAMPLED, &text);
	document_line(out, "sampled", buf_text(&text));
	buf_clear(&text);
	side_text(r->runs, RECONCILE_COUNTED, &text);
	document_line(out, "counted", buf_text(&text));
	buf_clear(&text);
	if (!r->lines.count)
		buf_puts(&text, "No process has both samples and counted calls, so nothing can be "
		                "compared.");
	else {
		buf_puts(&text, "Of ");
		text_counted(&text, r->lines.count, "function", "functions");
		buf_puts(&text, " with at least ");
		text_share(&text, r->limit);
		buf_puts(&text, " of the time of their process, the two methods agree on ");
		verdict_text(r, RECONCILE_AGREE, &text);
		buf_puts(&text, " and differ on ");
		verdict_text(r, RECONCILE_DIFFER, &text);
		buf_puts(&text, "; not certain enough to tell: ");
		verdict_text(r, RECONCILE_CANNOT_TELL, &text);
		if (open)
			reasons_text(r, &text);
		buf_puts(&text, ". ");
		longer_text(r, &text);
	}
	if (r->reasons[REASON_UNKNOWN])
		buf_addf(&text, "%zu %s no known reason.", r->reasons[REASON_UNKNOWN],
		         plural(r->reasons[REASON_UNKNOWN], "difference has", "differences have"));
	document_text(out, "Summary", buf_text(&text));
	buf_done(&text);
}

static void only_text(const struct reconcile *r, const struct reconcile_process *p,
                      struct section *s)
{
	struct buf text = {0};

	buf_addf(&text, "%s of the process %s, so it is not compared.",
	         p->only_sampled ? "Calls are not counted" : "There are no samples",
	         intern_text(&r->runs->texts, p->process));
	section_note(s, buf_text(&text));
	buf_done(&text);
}

static void add_notes(struct document *out, const struct reconcile *r)
{
	struct section *s = document_notes(out, MEDIA_READERS, "Notes", NULL);
	bool used[RECONCILE_REASONS] = {false};

	vec_each (line, &r->lines)
		used[line->reason] = true;
	vec_each (process, &r->processes)
		used[process->line.reason] |= !process->only_sampled && !process->only_counted;
	for (int i = 1; i < RECONCILE_REASONS; i++) {
		struct buf text = {0};

		if (!used[i])
			continue;
		buf_addf(&text, "%s: %s", reconcile_reason_word((enum reconcile_reason)i),
		         reconcile_reason_text(r, (enum reconcile_reason)i));
		section_note(s, buf_text(&text));
		buf_done(&text);
	}
	section_note(s,
	             "Times are CPU time per run of a function and of the code without hooks "
	             "that it calls or that is inlined into it: libraries, system calls. Waiting "
	             "is left out.");
	for (int side = 0; side < RECONCILE_SIDES; side++)
		if (r->runs->count[side] < 3)
			section_note(s, side == RECONCILE_SAMPLED
			                        ? "Fewer than three sampled runs: intervals are "
			                          "those of the samples within a run."
			                        : "Fewer than three counted runs: intervals do not "
			                          "contain the scatter between runs.");
	vec_each (process, &r->processes)
		if (process->only_sampled || process->only_counted)
			only_text(r, process, s);
}

void reconcile_document(struct document *out, const struct reconcile *r,
                        const struct document_reader *reader, size_t lines)
{
	add_facts(out, r);
	summary(out, r);
	reconcile_processes_table(out, r);
	reconcile_functions_table(out, r, reader, lines);
	add_notes(out, r);
}
