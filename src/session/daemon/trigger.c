/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/daemon/trigger.h"

#include "base/memory/vec.h"
#include "session/daemon/trigger_rule.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PID_MOST (1 << 22) /* the kernel's maximum */

struct watched_rule {
	struct trigger_rule rule;
	/* One bit per pid: the process has the name of the rule. */
	VEC(uint64_t) named;
};

struct trigger {
	VEC(struct watched_rule) rules;
	char *proc;
	bool begun;
	uint64_t busy, total; /* time of all CPUs at the last check, in kernel ticks */
};

static bool of_names(const struct trigger_rule *r)
{
	return r->kind == TRIGGER_PROCESS || r->kind == TRIGGER_EXIT;
}

/* Reads the first bytes of a file in /proc as text; false: there is no such file. */
static bool read_text(const struct trigger *t, const char *name, char *text, size_t room)
{
	char *path = xasprintf("%s/%s", t->proc, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	free(path);
	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool read_load(const struct trigger *t, struct trigger_rule *r)
{
	double load;
	char text[128];
	unsigned running;

	if (!read_text(t, "loadavg", text, sizeof(text)) ||
	    sscanf(text, "%lf %*f %*f %u/", &load, &running) != 2)
		return false;
	/* The count includes this thread. */
	r->value = r->kind == TRIGGER_LOAD ? load : running ? running - 1 : 0;
	return true;
}

static bool read_memory(const struct trigger *t, struct trigger_rule *r)
{
	uint64_t total, available;
	char text[1024];
	const char *p;

	if (!read_text(t, "meminfo", text, sizeof(text)) ||
	    sscanf(text, "MemTotal: %" SCNu64, &total) != 1 || !total)
		return false;
	p = strstr(text, "MemAvailable:");
	if (!p || sscanf(p, "MemAvailable: %" SCNu64, &available) != 1)
		return false;
	r->value = 100.0 * (double)available / (double)total;
	return true;
}

static bool read_pressure(const struct trigger *t, struct trigger_rule *r)
{
	const char *kind = strchr(r->pressure, '.') + 1, *p;
	char name[32], text[512];

	snprintf(name, sizeof(name), "pressure/%.*s", (int)(kind - 1 - r->pressure), r->pressure);
	/* Rules use "mem", the kernel uses "memory". */
	if (!strcmp(name, "pressure/mem"))
		snprintf(name, sizeof(name), "pressure/memory");
	if (!read_text(t, name, text, sizeof(text)))
		return false;
	p = strstr(text, kind);
	return p && sscanf(p + strlen(kind), " avg10=%lf", &r->value) == 1;
}

/* The busy share of all CPUs' time since the last check. */
static bool read_cpu(struct trigger *t, double *share)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq, steal, busy, total;
	uint64_t busy_before = t->busy, total_before = t->total;
	char text[256];

	if (!read_text(t, "stat", text, sizeof(text)) ||
	    sscanf(text,
	           "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	           " %" SCNu64 " %" SCNu64,
	           &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8)
		return false;
	busy = user + nice + system + irq + softirq;
	total = busy + idle + iowait + steal;
	t->busy = busy;
	t->total = total;
	if (!total_before || total <= total_before || busy < busy_before)
		return false;
	*share = 100.0 * (double)(busy - busy_before) / (double)(total - total_before);
	return true;
}

static bool fire(struct trigger_rule *r, uint64_t now_ns, uint64_t wall_ns)
{
	if (r->fired && now_ns - r->fired_ns < TRIGGER_PAUSE_NS) {
		r->held_back++;
		return false;
	}
	r->fired++;
	r->fired_ns = now_ns;
	r->fired_wall_ns = wall_ns;
	return true;
}

/* Checks a quantity; true: the rule has become true. */
static bool look_at(const struct trigger *t, struct trigger_rule *r, bool cpu_known, double cpu)
{
	bool before = r->known, held = r->holds;

	switch (r->kind) {
	case TRIGGER_LOAD:
	case TRIGGER_RUNQ:
		r->known = read_load(t, r);
		break;
	case TRIGGER_CPU:
		r->known = cpu_known;
		r->value = cpu;
		break;
	case TRIGGER_MEM:
		r->known = read_memory(t, r);
		break;
	case TRIGGER_PRESSURE:
		r->known = read_pressure(t, r);
		break;
	default:
		return false;
	}
	if (!r->known)
		return false;
	r->holds = r->above ? r->value > r->limit : r->value < r->limit;
	return before && !held && r->holds;
}

static bool is_named(const struct watched_rule *w, int32_t pid)
{
	return pid >= 0 && (size_t)pid / 64 < w->named.count &&
	       w->named.items[pid / 64] >> pid % 64 & 1;
}

static void set_named(struct watched_rule *w, int32_t pid, bool named)
{
	if (pid < 0 || pid >= PID_MOST || is_named(w, pid) == named)
		return;
	*vec_at(&w->named, (size_t)pid / 64) ^= UINT64_C(1) << pid % 64;
}

static bool matches(const struct trigger_rule *r, const char *name)
{
	return !fnmatch(r->name, name, 0);
}

/* Records the names of the processes that run already: a rule about exits applies to them too. */
static void learn_names(struct trigger *t)
{
	DIR *dir = opendir(t->proc);
	struct dirent *entry;
	char name[64];

	while (dir && (entry = readdir(dir))) {
		char *path;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		path = xasprintf("%s/comm", entry->d_name);
		if (read_text(t, path, name, sizeof(name))) {
			name[strcspn(name, "\n")] = '\0';
			vec_each (w, &t->rules)
				if (of_names(&w->rule) && matches(&w->rule, name))
					set_named(w, (int32_t)strtol(entry->d_name, NULL, 10),
					          true);
		}
		free(path);
	}
	if (dir)
		closedir(dir);
}

static void begin(struct trigger *t)
{
	if (t->begun)
		return;
	t->begun = true;
	vec_each (w, &t->rules)
		if (of_names(&w->rule)) {
			learn_names(t);
			return;
		}
}

const struct trigger_rule *trigger_look(struct trigger *t, uint64_t now_ns, uint64_t wall_ns)
{
	const struct trigger_rule *fired = NULL;
	double cpu = 0;
	bool cpu_known = read_cpu(t, &cpu);

	begin(t);
	vec_each (w, &t->rules)
		if (look_at(t, &w->rule, cpu_known, cpu) && fire(&w->rule, now_ns, wall_ns) &&
		    !fired)
			fired = &w->rule;
	return fired;
}

/* Applies an event to one rule; true: it is the event that the rule waits for. */
static bool take_task(struct watched_rule *w, const struct event *e)
{
	bool had = is_named(w, e->pid), has;

	switch (e->kind) {
	case EVENT_FORK:
		if (e->pid != e->fork.parent_pid)
			set_named(w, e->pid, is_named(w, e->fork.parent_pid));
		return false;
	case EVENT_COMM:
		has = matches(&w->rule, e->comm.name);
		set_named(w, e->pid, has);
		return w->rule.kind == TRIGGER_PROCESS && has && (!had || e->comm.exec);
	case EVENT_EXIT:
		set_named(w, e->pid, false);
		return w->rule.kind == TRIGGER_EXIT && had;
	default:
		return false;
	}
}

const struct trigger_rule *trigger_task(struct trigger *t, const struct event *e, uint64_t now_ns,
                                        uint64_t wall_ns)
{
	const struct trigger_rule *fired = NULL;

	begin(t);
	/* Only the first thread of a process counts. */
	if (e->pid != e->tid)
		return NULL;
	vec_each (w, &t->rules) {
		if (!of_names(&w->rule) || !take_task(w, e))
			continue;
		w->rule.pid = e->pid;
		if (fire(&w->rule, now_ns, wall_ns) && !fired)
			fired = &w->rule;
	}
	return fired;
}

static int check_pressure(const struct trigger *t, struct trigger_rule *r, struct error *err)
{
	if (r->kind != TRIGGER_PRESSURE || read_pressure(t, r))
		return 0;
	return error_set(
	        err, ENOTSUP,
	        "'%s': this kernel does not report %s in %s/pressure (it is built without PSI, "
	        "or needs psi=1 at boot); load>N and cpu>N%% work everywhere",
	        r->text, r->pressure, t->proc);
}

int trigger_new(struct trigger **out, const char *const *rules, size_t count, const char *proc,
                struct error *err)
{
	struct trigger *t = xcalloc(1, sizeof(*t));
	int status = 0;

	*out = NULL;
	t->proc = xstrdup(proc ? proc : "/proc");
	for (size_t i = 0; !status && i < count; i++) {
		struct watched_rule *w = vec_add(&t->rules);

		status = trigger_rule_parse(rules[i], &w->rule, err);
		if (!status)
			status = check_pressure(t, &w->rule, err);
	}
	if (status)
		trigger_free(t);
	else
		*out = t;
	return status;
}

void trigger_free(struct trigger *t)
{
	if (!t)
		return;
	vec_each (w, &t->rules) {
		trigger_rule_done(&w->rule);
		vec_done(&w->named);
	}
	vec_done(&t->rules);
	free(t->proc);
	free(t);
}

size_t trigger_count(const struct trigger *t)
{
	return t->rules.count;
}

const struct trigger_rule *trigger_at(const struct trigger *t, size_t i)
{
	return &t->rules.items[i].rule;
}
