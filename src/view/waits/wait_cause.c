/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_cause.h"

#include <string.h>

/* User functions outside of the innermost one of a library that may decide. */
#define RUNTIME_DEPTH 12

void wait_causes_init(struct wait_causes *c, struct view *v)
{
	*c = (struct wait_causes){.view = v};
	c->frames = xcalloc(v->profile->frames.count + 1, sizeof(*c->frames));
}

void wait_causes_done(struct wait_causes *c)
{
	free(c->frames);
	c->frames = NULL;
	wait_peers_done(&c->peers);
	wait_sites_done(&c->sites);
}

static bool is_kernel(const struct wait_causes *c, uint32_t frame)
{
	return c->view->profile->frames.items[frame].kernel;
}

static const struct wait_frame_rules *rules_of(struct wait_causes *c, uint32_t frame)
{
	struct wait_frame_rules *r = &c->frames[frame];
	const struct symbol *symbol;
	enum wait_kind releases = WAIT_KIND_NONE;

	if (r->sought)
		return r;
	r->sought = true;
	symbol = view_function(c->view, frame);
	if (!symbol->named || symbol->range)
		return r;
	if (is_kernel(c, frame)) {
		r->rule = wait_rule_kernel(symbol->name);
		r->release = (uint8_t)wait_release_kernel(symbol->name);
		r->act = (uint8_t)wait_act_kernel(symbol->name);
		r->locking = wait_rule_is_locking(symbol->name);
	} else {
		r->rule = wait_rule_user(symbol->name);
		r->release = (uint8_t)wait_release_user(symbol->name, &releases);
		r->releases = (uint8_t)releases;
		r->wrapper = wait_rule_is_wrapper(symbol->name);
	}
	return r;
}

/* The parts of a wait's path, innermost first. */
struct path_walk {
	struct wait_causes *causes;
	uint32_t node;
};

/* The next frame outward; false at the end. */
static bool walk_next(struct path_walk *w, uint32_t *frame)
{
	const struct profile *p = w->causes->view->profile;

	if (w->node == PATH_ROOT)
		return false;
	*frame = p->paths.items[w->node].frame;
	w->node = p->paths.items[w->node].parent;
	return true;
}

/* Whether a user's frame belongs to code that only wraps a wait: a C library, a wrapper. */
static bool is_wrapper(struct wait_causes *c, uint32_t frame)
{
	const struct view *v = c->view;
	const char *image = view_image_short(v, v->profile->frames.items[frame].frame.image);

	return rules_of(c, frame)->wrapper || !view_function(c->view, frame)->named ||
	       view_function(c->view, frame)->range || !strncmp(image, "libc.so", 7) ||
	       !strncmp(image, "libc-", 5) || !strncmp(image, "libpthread", 10) ||
	       !strncmp(image, "ld-", 3) || !strncmp(image, "libstdc++", 9) ||
	       !strcmp(image, "[vdso]");
}

static uint32_t user_place(struct wait_causes *c, uint32_t path)
{
	struct path_walk w = {c, path};
	uint32_t frame;

	while (walk_next(&w, &frame))
		if (!is_kernel(c, frame) && !is_wrapper(c, frame))
			return frame;
	return ID_NONE;
}

/* What the kernel's functions of the path say. Returns the rule that decides, or NULL. */
static const struct wait_rule *kernel_rule(struct wait_causes *c, uint32_t path,
                                           struct wait_cause *cause)
{
	const struct wait_rule *weak = NULL, *strong = NULL, *rule;
	struct path_walk w = {c, path};
	uint32_t frame;

	while (walk_next(&w, &frame) && is_kernel(c, frame)) {
		rule = rules_of(c, frame)->rule;
		if (cause->lock == ID_NONE && !rules_of(c, frame)->locking)
			cause->lock = frame;
		if (!rule)
			continue;
		if (cause->argument == ARGUMENT_UNKNOWN)
			cause->argument = (enum wait_argument)rule->argument;
		if (rule->kind == WAIT_KIND_NONE || strong)
			continue;
		if (rule->rank == RULE_STRONG)
			strong = rule;
		else if (!weak)
			weak = rule;
		cause->call = frame;
	}
	return strong ? strong : weak;
}

/* The user's functions decide what a futex is. */
static const struct wait_rule *user_rule(struct wait_causes *c, uint32_t path)
{
	const struct wait_rule *found = NULL, *rule;
	struct path_walk w = {c, path};
	unsigned depth = 0;
	uint32_t frame;

	while (walk_next(&w, &frame) && depth < RUNTIME_DEPTH) {
		if (is_kernel(c, frame))
			continue;
		depth++;
		rule = rules_of(c, frame)->rule;
		if (rule && (!found || rule->rank > found->rank))
			found = rule;
	}
	return found;
}

/* If the waiter's functions have no names, those of the waker may show what a futex is. */
static enum wait_kind kind_by_waker(struct wait_causes *c, uint32_t path)
{
	struct path_walk w = {c, path};
	uint32_t frame;

	while (walk_next(&w, &frame)) {
		const struct wait_frame_rules *r = rules_of(c, frame);

		if (r->release == RELEASE_EXIT)
			return WAIT_CHILD;
		if (r->releases != WAIT_KIND_NONE)
			return (enum wait_kind)r->releases;
	}
	return WAIT_KIND_NONE;
}

static void decide_futex(struct wait_causes *c, const struct wait_key *key,
                         struct wait_cause *cause)
{
	const struct wait_rule *rule = user_rule(c, key->path);
	enum wait_kind kind = WAIT_KIND_NONE;

	if (rule) {
		cause->kind = (enum wait_kind)rule->kind;
		cause->object = rule->object;
		return;
	}
	if (key->waker_path != ID_NONE && key->woken == WAIT_BY_THREAD)
		kind = kind_by_waker(c, key->waker_path);
	if (kind != WAIT_KIND_NONE)
		cause->kind = kind;
	cause->object = cause->kind == WAIT_LOCK ? "lock" : "futex";
}

/* The words of a descriptor's name show its kind if the functions do not. */
static enum wait_kind kind_of_descriptor(const char *name)
{
	static const struct {
		const char *head;
		enum wait_kind kind;
	} heads[] = {{"pipe:", WAIT_PIPE},   {"socket:", WAIT_SOCKET}, {"tcp", WAIT_SOCKET},
	             {"udp", WAIT_SOCKET},   {"unix", WAIT_SOCKET},    {"anon_inode:", WAIT_EVENT},
	             {"/dev/", WAIT_DEVICE}, {"/", WAIT_FILE}};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++)
		if (!strncmp(name, heads[i].head, strlen(heads[i].head)))
			return heads[i].kind;
	return WAIT_OTHER;
}

bool wait_descriptor_fits(enum wait_kind kind, const char *name)
{
	enum wait_kind named = kind_of_descriptor(name);

	switch (kind) {
	case WAIT_FILE:
	case WAIT_DEVICE:
		return named != WAIT_PIPE && named != WAIT_SOCKET;
	case WAIT_PIPE: /* or a FIFO, which has a path */
		return named != WAIT_SOCKET && named != WAIT_EVENT;
	case WAIT_SOCKET:
		return named == WAIT_SOCKET || named == WAIT_OTHER;
	default:
		return true;
	}
}

static void decide_other(struct wait_causes *c, const struct wait_key *key, const char *descriptor,
                         struct wait_cause *cause)
{
	cause->kind = WAIT_OTHER;
	cause->no_stack = key->path == PATH_ROOT ||
	                  c->view->profile->paths.items[key->path].parent == PATH_ROOT;
	if (descriptor && cause->argument == ARGUMENT_DESCRIPTOR)
		cause->kind = kind_of_descriptor(descriptor);
}

/* A lock of the kernel by its record, if the functions have no names. */
static const char *lock_name(uint8_t flags)
{
	if (flags & WAIT_LOCK_MUTEX)
		return "kernel mutex";
	if (flags & WAIT_LOCK_RT)
		return "kernel rt_mutex";
	return flags & (WAIT_LOCK_READ | WAIT_LOCK_WRITE) ? "kernel rwsem" : "kernel lock";
}

struct wait_cause wait_cause_of(struct wait_causes *c, const struct wait_key *key,
                                const char *descriptor)
{
	struct wait_cause cause = {.call = ID_NONE, .lock = ID_NONE, .place = ID_NONE};
	const struct wait_rule *rule;

	cause.place = user_place(c, key->path);
	if (key->woken == WAIT_PREEMPTED) {
		cause.kind = WAIT_CPU;
		return cause;
	}
	rule = kernel_rule(c, key->path, &cause);
	if (!rule && key->lock_flags) {
		cause.kind = WAIT_LOCK;
		cause.argument = ARGUMENT_NONE;
		cause.object = lock_name(key->lock_flags);
		return cause;
	}
	if (!rule) {
		decide_other(c, key, descriptor, &cause);
		return cause;
	}
	cause.kind = (enum wait_kind)rule->kind;
	cause.object = rule->object;
	if (rule->argument != ARGUMENT_UNKNOWN)
		cause.argument = (enum wait_argument)rule->argument;
	if (cause.argument == ARGUMENT_FUTEX)
		decide_futex(c, key, &cause);
	/* poll() and select() without descriptors are used to sleep. */
	if (cause.kind == WAIT_EVENT && cause.argument == ARGUMENT_NONE && key->in_system_call &&
	    !key->argument && rule->object &&
	    (!strcmp(rule->object, "poll") || !strcmp(rule->object, "select")))
		cause.kind = WAIT_SLEEP;
	return cause;
}

/* What the functions of a waker's path show together. */
struct waker_signs {
	bool futex, kernel, pi;
	enum wait_release user, runtime; /* innermost of each; RELEASE_NONE: none */
};

static void add_sign(struct waker_signs *s, enum wait_release release)
{
	bool runtime = release == RELEASE_RUNTIME_LOCK || release == RELEASE_RUNTIME_ANY;

	s->futex |= release == RELEASE_FUTEX;
	s->pi |= release == RELEASE_PI;
	s->kernel |= release == RELEASE_KERNEL;
	if (runtime && s->runtime == RELEASE_NONE)
		s->runtime = release;
	if ((release == RELEASE_LOCK || release == RELEASE_ANY) && s->user == RELEASE_NONE)
		s->user = release;
}

static enum wait_evidence evidence_of(const struct wait_key *key, const struct wait_cause *cause,
                                      const struct waker_signs *s)
{
	bool owner = s->runtime == RELEASE_NONE ? s->user == RELEASE_LOCK
	                                        : s->runtime == RELEASE_RUNTIME_LOCK;

	if (cause->kind != WAIT_LOCK)
		return EVIDENCE_NONE;
	if (cause->argument != ARGUMENT_FUTEX && s->kernel)
		return EVIDENCE_UNLOCK;
	/* A signal may end other waits. */
	if (cause->argument != ARGUMENT_FUTEX)
		return key->waker_owned && key->uninterruptible ? EVIDENCE_CONTENTION
		                                                : EVIDENCE_NONE;
	if (s->pi)
		return EVIDENCE_PI;
	return s->futex && owner ? EVIDENCE_UNLOCK : EVIDENCE_NONE;
}

/*
 * Whether a thread raised the softirq in which it woke another one: it sent a packet, and received
 * it for the other thread (loopback). Other softirqs that it runs when it allows them again were
 * raised by interrupts: the end of an I/O request, a timer.
 */
static bool is_own_softirq(struct wait_causes *c, uint32_t path)
{
	struct path_walk w = {c, path};
	bool received = false, left = false;
	uint32_t frame;

	while (walk_next(&w, &frame) && is_kernel(c, frame)) {
		enum wait_release release = (enum wait_release)rules_of(c, frame)->release;

		received |= release == RELEASE_RECEIVE;
		left |= release == RELEASE_SOFTIRQ;
		if (release == RELEASE_INTERRUPT || (left && !received))
			return false;
		if (left && release == RELEASE_SEND)
			return true;
	}
	return false;
}

struct wait_waker wait_waker_of(struct wait_causes *c, const struct wait_key *key,
                                const struct wait_cause *cause)
{
	struct wait_waker waker = {.is_thread = key->woken == WAIT_BY_THREAD, .place = ID_NONE};
	struct path_walk w = {c, key->waker_path};
	struct waker_signs signs = {0};
	uint32_t frame;

	if (key->waker_path == ID_NONE)
		return waker;
	if (key->woken == WAIT_BY_SOFTIRQ && key->waker != ID_NONE)
		waker.is_thread = is_own_softirq(c, key->waker_path);
	if (!waker.is_thread)
		return waker;
	while (walk_next(&w, &frame))
		add_sign(&signs, (enum wait_release)rules_of(c, frame)->release);
	waker.place = user_place(c, key->waker_path);
	waker.evidence = evidence_of(key, cause, &signs);
	return waker;
}

enum wait_act wait_act_of(struct wait_causes *c, const struct wait_key *key, bool is_thread)
{
	struct path_walk w = {c, key->waker_path};
	uint32_t frame;

	if (key->waker_path == ID_NONE)
		return ACT_NONE;
	/* The frames outside of an interrupt are those of the interrupted thread. An interrupt that
	 * uses a socket receives a packet. */
	while (walk_next(&w, &frame) && is_kernel(c, frame)) {
		const struct wait_frame_rules *r = rules_of(c, frame);

		if (!is_thread && r->release == RELEASE_INTERRUPT)
			return ACT_NONE;
		if (r->act != ACT_NONE && !(is_thread && r->act == ACT_NETWORK))
			return !is_thread && r->act == ACT_SOCKET ? ACT_NETWORK
			                                          : (enum wait_act)r->act;
	}
	return ACT_NONE;
}

const char *wait_evidence_name(enum wait_evidence evidence)
{
	static const char *const names[] = {
	        [EVIDENCE_UNLOCK] = "unlock",
	        [EVIDENCE_PI] = "pi",
	        [EVIDENCE_CONTENTION] = "contention",
	};

	return names[evidence];
}

enum wait_evidence wait_evidence_parse(const char *name)
{
	for (int i = EVIDENCE_NONE + 1; i <= EVIDENCE_CONTENTION; i++)
		if (!strcmp(wait_evidence_name((enum wait_evidence)i), name))
			return (enum wait_evidence)i;
	return EVIDENCE_NONE;
}

uint32_t wait_path_leaf(struct wait_causes *c, uint32_t path)
{
	struct path_walk w = {c, path};
	uint32_t frame, leaf = ID_NONE;
	bool in_interrupt = true;

	if (path == ID_NONE)
		return ID_NONE;
	while (walk_next(&w, &frame)) {
		bool interrupt =
		        is_kernel(c, frame) && rules_of(c, frame)->release == RELEASE_INTERRUPT;

		if (in_interrupt && !interrupt)
			leaf = frame;
		in_interrupt = interrupt;
	}
	return leaf;
}

bool wait_path_is_exit(struct wait_causes *c, uint32_t path)
{
	struct path_walk w = {c, path};
	const struct symbol *symbol;
	uint32_t frame;

	while (walk_next(&w, &frame) && is_kernel(c, frame)) {
		symbol = view_function(c->view, frame);
		if (symbol->named && !strcmp(symbol->name, "do_task_dead"))
			return true;
	}
	return false;
}
