/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/process/foreign_internal.h"

#include "base/clock.h"
#include "base/text/plural.h"
#include "base/memory/vec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 10 /* interval at which a call that is not answered is checked */
#define START_MS 5000
#define END_LOOKS 20 /* checks until the process has ended; a process that is stuck ends later */

/*
 * The total time for which calls for one user may block the recorder: a fixed amount, and a share
 * of the time since (1 / CREDIT_SHARE).
 */
#define CREDIT_NS INT64_C(1000000000)
#define CREDIT_SHARE 100

/* After a restart the process is not restarted again within this time. */
#define RESTART_NS UINT64_C(1000000000)

#define USERS_MAX 64
#define USER_GONE (UINT32_MAX - 1)  /* user of processes that ended before their user was read */
#define USER_OTHER (UINT32_MAX - 2) /* users beyond the size of the table */
#define KNOWN 4096                  /* processes whose user is cached */
#define KNOWN_NS UINT64_C(1000000000)
/* After this time the pid of an ended process may belong to another user. */
#define ENDED_NS UINT64_C(60000000000)

struct user {
	uint32_t uid;
	unsigned stuck; /* threads that hang now */
	uint64_t unanswered, refused;
	int64_t credit_ns;
	uint64_t credited_ns; /* time at which credit_ns was updated */
};

struct known {
	pid_t pid;
	uint32_t uid;
	uint64_t looked_ns, lived_ns; /* times of the lookup, and when the process last existed */
};

struct foreign {
	struct foreign_shared *shared;
	int file;
	pid_t pid;
	bool ended; /* killed by another process, and not restarted yet */
	struct foreign_options options;
	uint32_t generation, restarts; /* generation: number of ends that were noticed */
	uint64_t restart_due_ns;
	bool slot_stuck[SLOTS];
	uint32_t slot_user[SLOTS];
	int slot_cpu[SLOTS];  /* by slot: the CPU that its thread may run on; -1: any */
	uint64_t calls, lost; /* lost: not answered because the process had ended */
	uint64_t cpu_ns;      /* of processes that have ended */
	void (*waiting)(void *ctx);
	void *waiting_ctx;
	VEC(struct user) users;
	struct known known[KNOWN];
};

static void start(struct foreign *f)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < SLOTS; i++)
		f->slot_cpu[i] = -1;
	f->pid = fork();
	if (!f->pid)
		foreign_process(f->shared, f->file, parent, &f->options);
}

int foreign_open(struct foreign **out, const struct foreign_options *options, struct error *err)
{
	struct foreign *f = xcalloc(1, sizeof(*f));
	void *shared = mmap(NULL, sizeof(*f->shared), PROT_READ | PROT_WRITE,
	                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	*out = NULL;
	f->options = *options;
	f->file = memfd_create("assay-foreign", MFD_CLOEXEC);
	if (shared != MAP_FAILED && f->file >= 0) {
		f->shared = shared;
		start(f);
	}
	if (f->pid > 0) {
		*out = f;
		return 0;
	}
	error_set(err, errno, "the process that reads memory and files of others: %s",
	          strerror(errno));
	if (f->file >= 0)
		close(f->file);
	if (shared != MAP_FAILED)
		munmap(shared, sizeof(*f->shared));
	free(f);
	return err ? -err->code : -EAGAIN;
}

static uint64_t time_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static bool has_ended(struct foreign *f)
{
	struct rusage used = {0};

	if (f->ended || !wait4(f->pid, NULL, WNOHANG, &used))
		return f->ended;
	f->cpu_ns += time_ns(&used.ru_utime) + time_ns(&used.ru_stime);
	f->ended = true;
	f->generation++;
	return true;
}

/* The threads of the ended process no longer hang. */
static void reset_slots(struct foreign *f)
{
	for (size_t i = 0; i < SLOTS; i++) {
		struct foreign_slot *slot = &f->shared->slots[i];

		slot->tid = 0;
		slot->abandoned = 0;
		slot->state = SLOT_IDLE;
		f->slot_stuck[i] = false;
	}
	vec_each (u, &f->users)
		u->stuck = 0;
}

/*
 * True: the process runs. The call that notices its end fails, since its request may name a
 * descriptor of that process; a later one starts the process again, at most once in RESTART_NS.
 */
static bool is_running(struct foreign *f, uint64_t now_ns)
{
	if (!f->ended)
		return !has_ended(f);
	if (now_ns < f->restart_due_ns)
		return false;
	f->restart_due_ns = now_ns + RESTART_NS;
	reset_slots(f);
	start(f);
	f->ended = f->pid < 0;
	f->restarts += !f->ended;
	return !f->ended;
}

void foreign_close(struct foreign *f)
{
	if (!f)
		return;
	if (!f->ended)
		kill(f->pid, SIGKILL);
	for (int i = 0; i < END_LOOKS && !has_ended(f); i++)
		usleep(1000);
	munmap(f->shared, sizeof(*f->shared));
	close(f->file);
	vec_done(&f->users);
	free(f);
}

/* The real user: a set-user-id program acts for that user. */
static uint32_t read_user(pid_t pid)
{
	char path[32], line[256];
	uint32_t uid = USER_GONE;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Uid: %" SCNu32, &uid) == 1)
			break;
	if (file)
		fclose(file);
	return uid;
}

uint32_t foreign_user(struct foreign *f, pid_t pid)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct known *k;
	uint32_t uid;

	if (!f)
		return 0;
	k = &f->known[(uint32_t)pid % KNOWN];
	if (k->pid == pid && now_ns - k->looked_ns <= KNOWN_NS)
		return k->uid;
	uid = read_user(pid);
	if (uid != USER_GONE)
		*k = (struct known){pid, uid, now_ns, now_ns};
	else if (k->pid != pid || now_ns - k->lived_ns > ENDED_NS)
		*k = (struct known){pid, USER_GONE, now_ns, 0};
	else
		k->looked_ns = now_ns;
	return k->uid;
}

static struct user *find_user(struct foreign *f, uint32_t uid)
{
	vec_each (u, &f->users)
		if (u->uid == uid)
			return u;
	if (f->users.count >= USERS_MAX && uid != USER_OTHER)
		return find_user(f, USER_OTHER);
	vec_push(&f->users, (struct user){.uid = uid, .credit_ns = CREDIT_NS});
	return vec_last(&f->users);
}

/* Frees the slots of threads that have returned. */
static unsigned reclaim(struct foreign *f)
{
	unsigned stuck = 0;

	for (size_t i = 0; i < SLOTS; i++) {
		struct foreign_slot *slot = &f->shared->slots[i];

		if (!f->slot_stuck[i])
			continue;
		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SLOT_DONE) {
			stuck++;
			continue;
		}
		f->slot_stuck[i] = false;
		find_user(f, f->slot_user[i])->stuck--;
		slot->abandoned = 0;
		__atomic_store_n(&slot->state, SLOT_IDLE, __ATOMIC_RELEASE);
	}
	return stuck;
}

/*
 * True if calls for this user are refused now. The recorder's own user and root have no time limit.
 */
static bool left_alone(struct user *u, unsigned stuck, uint64_t now_ns)
{
	bool trusted = !u->uid || u->uid == geteuid();
	int64_t earned = (int64_t)((now_ns - u->credited_ns) / CREDIT_SHARE);

	u->credit_ns = u->credit_ns > CREDIT_NS - earned ? CREDIT_NS : u->credit_ns + earned;
	u->credited_ns = now_ns;
	if (u->stuck >= FOREIGN_STUCK_USER)
		return true;
	return trusted ? stuck >= SLOTS : stuck >= FOREIGN_STUCK_MAX || u->credit_ns <= 0;
}

/* True if the thread of the slot waits, but not for a CPU. */
static bool is_blocked(const struct foreign *f, const struct foreign_slot *slot)
{
	int32_t tid = __atomic_load_n(&slot->tid, __ATOMIC_ACQUIRE);
	char path[64], text[256], *state;
	ssize_t size = -1;
	int fd;

	if (!tid)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)f->pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		size = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	if (size <= 0)
		return true;
	text[size] = '\0';
	state = strrchr(text, ')');
	return !state || !state[1] || state[2] != 'R';
}

void foreign_set_waiting(struct foreign *f, void (*waiting)(void *ctx), void *ctx)
{
	if (!f)
		return;
	f->waiting = waiting;
	f->waiting_ctx = ctx;
}

/* False: the thread was blocked for the time limit, or the process has ended. */
static bool wait_for(struct foreign *f, struct foreign_slot *slot, struct user *u, unsigned limit)
{
	unsigned blocked = 0;

	while (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) != SLOT_DONE) {
		if (has_ended(f))
			return false;
		foreign_wait(&slot->state, SLOT_ASKED, LOOK_MS);
		/*
		 * Each check counts as LOOK_MS, even if it comes late: on a busy machine this
		 * process waits for a CPU, too.
		 */
		if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == SLOT_DONE)
			return true;
		if (f->waiting)
			f->waiting(f->waiting_ctx);
		if (!is_blocked(f, slot))
			continue;
		blocked += LOOK_MS;
		u->credit_ns -= LOOK_MS * INT64_C(1000000);
		if (blocked >= limit)
			return false;
	}
	return true;
}

static void take_file(struct foreign *f, const struct foreign_slot *slot, struct buf *out)
{
	size_t done = out->size;
	ssize_t n = 1;
	off_t at = (off_t)slot->file_at - (off_t)done;

	buf_pad(out, '\0', slot->out_size);
	for (; done < out->size && n > 0; done += n > 0 ? (size_t)n : 0)
		n = pread(f->file, out->data + done, out->size - done, at + (off_t)done);
	out->size = done;
	fallocate(f->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)slot->file_at,
	          (off_t)FOREIGN_PAGES(slot->out_size));
}

static int take(struct foreign *f, struct foreign_slot *slot, struct buf *out)
{
	int status = slot->status;

	if (!status && out && slot->in_file)
		take_file(f, slot, out);
	else if (!status && out)
		buf_add(out, slot->out, slot->out_size);
	__atomic_store_n(&slot->state, SLOT_IDLE, __ATOMIC_RELEASE);
	return status;
}

static int call_here(foreign_fn *fn, const void *in, size_t size, struct buf *out)
{
	struct foreign_reply reply = {0};
	int status = fn(in, size, &reply);

	if (!status && out)
		buf_add(out, reply.bytes.data, reply.bytes.size);
	buf_done(&reply.bytes);
	return status;
}

/*
 * The helper's thread runs on the CPU where this thread is about to sleep. On a busy machine, it
 * would wait on another CPU for the end of another program's time slice.
 */
static void bring_here(struct foreign *f, size_t i)
{
	int cpu = sched_getcpu();
	int32_t tid = __atomic_load_n(&f->shared->slots[i].tid, __ATOMIC_ACQUIRE);
	cpu_set_t set;

	if (cpu < 0 || cpu >= CPU_SETSIZE || !tid || cpu == f->slot_cpu[i])
		return;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	f->slot_cpu[i] = sched_setaffinity(tid, sizeof(set), &set) ? -1 : cpu;
}

static size_t free_slot(const struct foreign *f)
{
	size_t i = 0;

	while (i < SLOTS && f->slot_stuck[i])
		i++;
	return i;
}

/*
 * Makes a call and waits. Returns the slot with the answer, which the caller must set to IDLE.
 * NULL: *status is the reason.
 */
static struct foreign_slot *ask(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                                const void *in, size_t size, int *status)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
	struct foreign_slot *slot;
	struct user *u;
	size_t i;

	*status = size > FOREIGN_IN_MAX ? -ENAMETOOLONG : -ECANCELED;
	if (size > FOREIGN_IN_MAX)
		return NULL;
	if (!is_running(f, now_ns)) {
		f->lost++;
		return NULL;
	}
	u = find_user(f, user);
	if (left_alone(u, reclaim(f), now_ns)) {
		u->refused++;
		return NULL;
	}
	i = free_slot(f);
	slot = &f->shared->slots[i];
	bring_here(f, i);
	slot->fn = fn;
	slot->in_size = size;
	memcpy(slot->in, in, size);
	f->calls++;
	__atomic_store_n(&slot->state, SLOT_ASKED, __ATOMIC_RELEASE);
	foreign_wake(&slot->state);
	if (wait_for(f, slot, u, limit_ms))
		return slot;
	if (f->ended) {
		f->lost++;
		return NULL;
	}
	__atomic_store_n(&slot->abandoned, 1, __ATOMIC_RELEASE);
	f->slot_stuck[i] = true;
	f->slot_user[i] = u->uid;
	u->stuck++;
	u->unanswered++;
	*status = -ETIMEDOUT;
	return NULL;
}

int foreign_call(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                 const void *in, size_t size, struct buf *out)
{
	struct foreign_slot *slot;
	int status;

	if (!f)
		return size > FOREIGN_IN_MAX ? -ENAMETOOLONG : call_here(fn, in, size, out);
	slot = ask(f, fn, user, limit_ms, in, size, &status);
	return slot ? take(f, slot, out) : status;
}

int foreign_call_mapped(struct foreign *f, foreign_fn *fn, uint32_t user, unsigned limit_ms,
                        const void *in, size_t size, void **bytes, size_t *count)
{
	int status;
	struct foreign_slot *slot = ask(f, fn, user, limit_ms, in, size, &status);

	if (!slot)
		return status;
	status = slot->status ? slot->status : slot->in_file ? 0 : -EINVAL;
	*count = slot->out_size;
	/* Mapped shared: foreign_unmap() frees the pages of the file. */
	if (!status)
		*bytes = mmap(NULL, *count, PROT_READ, MAP_SHARED | MAP_POPULATE, f->file,
		              (off_t)slot->file_at);
	if (!status && *bytes == MAP_FAILED)
		status = -errno;
	__atomic_store_n(&slot->state, SLOT_IDLE, __ATOMIC_RELEASE);
	return status;
}

void foreign_unmap(void *bytes, size_t count)
{
	madvise(bytes, count, MADV_REMOVE);
	munmap(bytes, count);
}

uint32_t foreign_generation(const struct foreign *f)
{
	return f ? f->generation : 0;
}

pid_t foreign_pid(const struct foreign *f)
{
	return f ? f->pid : 0;
}

uint64_t foreign_cpu_ns(const struct foreign *f)
{
	clockid_t clock;
	struct timespec t;

	if (!f)
		return 0;
	if (f->ended || clock_getcpuclockid(f->pid, &clock) || clock_gettime(clock, &t))
		return f->cpu_ns;
	return f->cpu_ns + (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct foreign_counts foreign_counts(const struct foreign *f)
{
	struct foreign_counts c = {0};

	if (!f)
		return c;
	c.calls = f->calls;
	c.refused = f->lost;
	vec_each (u, &f->users) {
		c.unanswered += u->unanswered;
		c.refused += u->refused;
	}
	return c;
}

static void name_user(const struct user *u, char *text, size_t size)
{
	if (u->uid == USER_GONE)
		snprintf(text, size, "processes that had ended");
	else if (u->uid == USER_OTHER)
		snprintf(text, size, "processes of other users");
	else
		snprintf(text, size, "processes of user %" PRIu32, u->uid);
}

void foreign_report(const struct foreign *f, void (*add)(void *ctx, const char *text), void *ctx)
{
	char who[64], text[512];

	if (!f)
		return;
	vec_each (u, &f->users) {
		if (!u->unanswered && !u->refused)
			continue;
		name_user(u, who, sizeof(who));
		snprintf(text, sizeof(text),
		         "Memory and files of %s: %" PRIu64 " %s not answered in time, %" PRIu64
		         " more %s not made: stacks may be cut, and functions have no names.",
		         who, u->unanswered, plural(u->unanswered, "read was", "reads were"),
		         u->refused, plural(u->refused, "was", "were"));
		add(ctx, text);
	}
	if (f->lost || f->restarts) {
		snprintf(text, sizeof(text),
		         "The process that reads memory and files of others was ended, and was "
		         "restarted %" PRIu32 " %s: %" PRIu64
		         " %s not made, and files that it held open were closed: stacks may be "
		         "cut, and functions have no names.",
		         f->restarts, plural(f->restarts, "time", "times"), f->lost,
		         plural(f->lost, "read was", "reads were"));
		add(ctx, text);
	}
}
