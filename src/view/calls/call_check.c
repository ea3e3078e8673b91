/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/calls/call_check.h"

#include "base/memory/xalloc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void add_thread(struct call_check *b, const struct call_thread *t)
{
	b->threads += t->threads ? t->threads : 1;
	b->net_ns += t->net_ns;
	b->own_ns += t->own_ns;
	b->blocked_ns += t->blocked_ns;
	b->preempted_ns += t->preempted_ns;
	b->tail_ns += t->tail_ns;
	b->wall_ns += t->wall_ns;
	b->wall_residual_ns += t->wall_residual_ns;
	if (isnan(t->cpu_ns)) {
		b->clockless++;
		return;
	}
	b->cpu_ns = isnan(b->cpu_ns) ? t->cpu_ns : b->cpu_ns + t->cpu_ns;
	b->cpu_net_ns += t->net_ns;
	b->cpu_own_ns += t->own_ns;
	b->cpu_residual_ns += t->cpu_residual_ns;
}

struct call_check call_check_of(const struct call_process *p)
{
	struct call_check b = {.cpu_ns = NAN};

	vec_each (t, &p->threads)
		add_thread(&b, t);
	return b;
}

struct call_check call_check_thread(const struct call_thread *t)
{
	struct call_check b = {.cpu_ns = NAN};

	add_thread(&b, t);
	return b;
}

double call_check_net_ns(const struct call_process *p)
{
	if (p->threads.count || !p->paths.count)
		return call_check_of(p).net_ns;
	return p->paths.items[0].total_ns;
}

/* The sums of a function over its paths. */
struct function_net {
	double net_ns, error_ns;
	uint64_t samples;
	bool is_sampled;
};

static struct function_net *function_nets(const struct call_process *p, size_t functions)
{
	struct function_net *nets = xcalloc(functions + 1, sizeof(*nets));

	vec_each (path, &p->paths) {
		struct function_net *n = &nets[path->function];

		n->net_ns += path->net_ns;
		n->error_ns += path->net_error_ns;
		n->samples += path->samples;
		n->is_sampled |= path->is_sampled;
	}
	return nets;
}

static double error_of(const struct function_net *n, const struct call_process *p)
{
	return call_error_ns(n->error_ns, n->is_sampled, n->samples, p->sample_ns);
}

struct call_unknown call_check_unknown(const struct call_process *p, size_t functions)
{
	struct function_net *nets = function_nets(p, functions), all = {0};
	struct call_unknown unknown = {0};

	for (size_t i = 0; i < functions; i++) {
		const struct function_net *n = &nets[i];

		if (n->net_ns == 0 || error_of(n, p) <= fabs(n->net_ns))
			continue;
		all.net_ns += n->net_ns;
		all.error_ns += n->error_ns;
		all.samples += n->samples;
		all.is_sampled |= n->is_sampled;
		unknown.count++;
	}
	unknown.net_ns = all.net_ns;
	unknown.error_ns = error_of(&all, p);
	free(nets);
	return unknown;
}

double call_check_share(double residual_ns, double of_ns)
{
	return of_ns > 0 ? residual_ns / of_ns : 0;
}

double call_check_own_share(const struct call_process *p)
{
	return call_check_share(p->own_ns, call_check_net_ns(p) + p->own_ns);
}

bool call_check_unseparated(const struct call_process *p)
{
	const struct call_path *root = p->paths.items;

	/* A non-zero waiting time comes from threads whose switches were recorded. */
	return p->flags & CALL_UNSWITCHED && p->paths.count && root->total_blocked_ns == 0 &&
	       root->total_preempted_ns == 0;
}

static const struct flag_text {
	uint32_t flag;
	const char *word, *sentence; /* "%" stands for the count */
	size_t count;                /* offset of the count in struct call_process; 0: none */
} flag_texts[] = {
        {CALL_KILLED, "killed", "a signal ended it", 0},
        {CALL_END_UNKNOWN, "end_unknown",
         "it ended without a final record, by a signal or by the exit_group system call", 0},
        {CALL_NO_END, "no_end",
         "the time of its end is not known: what its threads did after their last events, running "
         "or "
         "waiting, is missing",
         0},
        {CALL_RUNNING, "running", "it was still running: the figures are those up to that time", 0},
        {CALL_MOVED, "moved", "it became another program (exec)", 0},
        {CALL_FORKED, "forked", "it started as a fork, inside the functions marked inherited", 0},
        {CALL_RESET, "reset", "the figures start at a reset", 0},
        {CALL_UNSWITCHED, "unswitched",
         "waiting not separated: the kernel denied perf_event, so net, total and own cost are wall "
         "times (assay doctor says how to allow it)",
         0},
        {CALL_UNSAMPLED, "unsampled",
         "the kernel denied samples of the CPU time, so each call reads the clock, and the times "
         "of calls shorter than a microsecond are biased (assay doctor says how to allow it)",
         0},
        {CALL_SETTLED, "settled",
         "a thread was switched more often between two calls than the kernel's ring holds: its "
         "waiting time there comes from the CPU clock and is all counted as blocked",
         0},
        {CALL_FULL, "full",
         "the table was full: % calls of paths that did not fit are in (other); --memory (or "
         "$ASSAY_CALLS_MEM) makes the table larger",
         offsetof(struct call_process, other_calls)},
        {CALL_DEEP, "deep",
         "calls deeper than the limit are in (other), % calls in all; "
         "$ASSAY_CALLS_DEPTH sets it",
         offsetof(struct call_process, other_calls)},
        {CALL_UNCOUNTED, "uncounted",
         "children that were still running when COMMAND ended and had called no counted function: "
         "%; the recording has no calls of them ('assay calls get' reads calls that they count "
         "later)",
         offsetof(struct call_process, uncounted)},
        {CALL_LOST, "lost", "% events were lost", offsetof(struct call_process, lost_events)},
        {CALL_UNMATCHED, "unmatched", "% exits had no matching entry",
         offsetof(struct call_process, unmatched_exits)},
        {CALL_RESYNCED, "resynced",
         "% times calls that ended without an exit were closed (longjmp, exceptions, thread "
         "cancel)",
         offsetof(struct call_process, resyncs)},
        {CALL_STACKS, "stacks",
         "there were more stacks (coroutines) than the runtime can distinguish", 0},
        {CALL_IMAGES, "images",
         "libraries that were loaded after the table was full, or after 4095 other libraries, are "
         "not in the table: their functions have addresses instead of names, and functions at the "
         "same address are counted as one; --memory (or $ASSAY_CALLS_MEM) makes the table larger",
         0},
        {CALL_FILTERED, "filtered",
         "a filter excluded functions: their time is counted for their callers", 0},
        {CALL_LIBRARIES, "libraries", "calls into libraries are counted", 0},
        {CALL_KERNEL, "kernel", "the functions are functions of the kernel", 0},
        {CALL_DAMAGED, "damaged", "parts of the table are damaged and were discarded", 0},
};

static const struct flag_text *flag_text(unsigned bit)
{
	for (size_t i = 0; i < sizeof(flag_texts) / sizeof(*flag_texts); i++)
		if (bit < CALL_FLAGS && flag_texts[i].flag == UINT32_C(1) << bit)
			return &flag_texts[i];
	return NULL;
}

const char *call_flag_word(unsigned bit)
{
	const struct flag_text *t = flag_text(bit);

	return t ? t->word : NULL;
}

bool call_flag_sentence(const struct call_process *p, unsigned bit, struct buf *out)
{
	const struct flag_text *t = flag_text(bit);
	const char *mark;
	uint64_t count;

	if (!t || !(p->flags & t->flag))
		return false;
	mark = t->count ? strchr(t->sentence, '%') : NULL;
	if (!mark) {
		buf_puts(out, t->sentence);
		return true;
	}
	memcpy(&count, (const char *)p + t->count, sizeof(count));
	buf_add(out, t->sentence, (size_t)(mark - t->sentence));
	buf_addf(out, "%" PRIu64 "%s", count, mark + 1);
	return true;
}
