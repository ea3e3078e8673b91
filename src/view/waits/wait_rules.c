/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_rules.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(*(array)))

#define USER(name, kind, object)                                                                   \
	{                                                                                          \
		name, kind, RULE_STRONG, ARGUMENT_FUTEX, object                                    \
	}
#define RUNTIME(name, kind, object)                                                                \
	{                                                                                          \
		name, kind, RULE_RUNTIME, ARGUMENT_FUTEX, object                                   \
	}

/* Functions of programs that wait in a futex. */
static const struct wait_rule user_rules[] = {
        USER("pthread_mutex_*", WAIT_LOCK, "mutex"),
        USER("___pthread_mutex_*", WAIT_LOCK, "mutex"),
        USER("__pthread_mutex_*", WAIT_LOCK, "mutex"),
        USER("__GI___pthread_mutex_*", WAIT_LOCK, "mutex"),
        USER("pthread_rwlock_*", WAIT_LOCK, "rwlock"),
        USER("___pthread_rwlock_*", WAIT_LOCK, "rwlock"),
        USER("__pthread_rwlock_*", WAIT_LOCK, "rwlock"),
        USER("pthread_spin_lock", WAIT_LOCK, "spin lock"),
        USER("pthread_cond_*", WAIT_CONDITION, "condition"),
        USER("___pthread_cond_*", WAIT_CONDITION, "condition"),
        USER("__pthread_cond_*", WAIT_CONDITION, "condition"),
        USER("cnd_*wait", WAIT_CONDITION, "condition"),
        USER("pthread_barrier_wait", WAIT_CONDITION, "barrier"),
        USER("___pthread_barrier_wait", WAIT_CONDITION, "barrier"),
        USER("__pthread_barrier_wait", WAIT_CONDITION, "barrier"),
        USER("__pthread_once*", WAIT_LOCK, "pthread_once"),
        USER("pthread_once", WAIT_LOCK, "pthread_once"),
        USER("__cxa_guard_acquire", WAIT_LOCK, "static initialization"),
        USER("sem_*wait", WAIT_SEMAPHORE, "semaphore"),
        USER("sem_wait*", WAIT_SEMAPHORE, "semaphore"),
        USER("sem_timedwait*", WAIT_SEMAPHORE, "semaphore"),
        USER("sem_clockwait*", WAIT_SEMAPHORE, "semaphore"),
        USER("__new_sem_wait*", WAIT_SEMAPHORE, "semaphore"),
        USER("___new_sem_wait*", WAIT_SEMAPHORE, "semaphore"),
        USER("__sem_timedwait*", WAIT_SEMAPHORE, "semaphore"),
        USER("do_futex_wait*", WAIT_SEMAPHORE, "semaphore"),
        USER("pthread_join", WAIT_CHILD, "a thread"),
        USER("___pthread_join", WAIT_CHILD, "a thread"),
        USER("__pthread_clockjoin_ex", WAIT_CHILD, "a thread"),
        USER("pthread_*join*", WAIT_CHILD, "a thread"),
        USER("thrd_join", WAIT_CHILD, "a thread"),
        USER("__pthread_timedjoin_ex", WAIT_CHILD, "a thread"),
        {"__lll_lock_wait*", WAIT_LOCK, RULE_WEAK, ARGUMENT_FUTEX, "mutex"},
        {"__GI___lll_lock_wait*", WAIT_LOCK, RULE_WEAK, ARGUMENT_FUTEX, "mutex"},
        {"___lll_lock_wait*", WAIT_LOCK, RULE_WEAK, ARGUMENT_FUTEX, "mutex"},
        {"lll_lock_wait*", WAIT_LOCK, RULE_WEAK, ARGUMENT_FUTEX, "mutex"},
        {"__lock", WAIT_LOCK, RULE_WEAK, ARGUMENT_FUTEX, "mutex"},
        {"__timedwait*", WAIT_CONDITION, RULE_WEAK, ARGUMENT_FUTEX, "condition"},
        RUNTIME("std::__atomic_wait*", WAIT_CONDITION, "std::atomic"),
        RUNTIME("std::__detail::__platform_wait*", WAIT_CONDITION, "std::atomic"),
        RUNTIME("gomp_barrier_*", WAIT_CONDITION, "OpenMP barrier"),
        RUNTIME("gomp_team_barrier_*", WAIT_CONDITION, "OpenMP barrier"),
        RUNTIME("gomp_mutex_lock*", WAIT_LOCK, "OpenMP lock"),
        RUNTIME("absl::*Mutex::Lock*", WAIT_LOCK, "absl::Mutex"),
        /* Python */
        RUNTIME("take_gil", WAIT_LOCK, "Python's GIL"),
        RUNTIME("_PyMutex_Lock*", WAIT_LOCK, "Python lock"),
        RUNTIME("PyThread_acquire_lock*", WAIT_LOCK, "Python lock"),
        RUNTIME("_PyThread_cond_*", WAIT_CONDITION, "condition"),
        /* Go: goroutines wait in the runtime, threads in the kernel. */
        RUNTIME("runtime.lock2*", WAIT_LOCK, "Go runtime lock"),
        RUNTIME("runtime.lockWithRank", WAIT_LOCK, "Go runtime lock"),
        RUNTIME("runtime.stopm", WAIT_CONDITION, "Go: no runnable goroutine"),
        RUNTIME("runtime.mPark", WAIT_CONDITION, "Go: no runnable goroutine"),
        RUNTIME("runtime.notetsleep*", WAIT_CONDITION, "Go runtime note"),
        RUNTIME("runtime.notesleep", WAIT_CONDITION, "Go runtime note"),
        RUNTIME("runtime.futexsleep", WAIT_CONDITION, "Go runtime note"),
        /* Java */
        RUNTIME("ObjectMonitor::enter*", WAIT_LOCK, "Java monitor"),
        RUNTIME("ObjectMonitor::EnterI*", WAIT_LOCK, "Java monitor"),
        RUNTIME("ObjectMonitor::ReenterI*", WAIT_LOCK, "Java monitor"),
        RUNTIME("ObjectMonitor::wait*", WAIT_CONDITION, "Java Object.wait"),
        RUNTIME("JavaThread::sleep*", WAIT_SLEEP, "Java Thread.sleep"),
        RUNTIME("Unsafe_Park", WAIT_CONDITION, "Java LockSupport.park"),
        RUNTIME("Parker::park*", WAIT_CONDITION, "Java LockSupport.park"),
        RUNTIME("Mutex::lock*", WAIT_LOCK, "mutex"),
        RUNTIME("Monitor::wait*", WAIT_CONDITION, "Java VM monitor"),
        /* Rust */
        RUNTIME("std::sys::*Mutex::lock*", WAIT_LOCK, "Rust Mutex"),
        RUNTIME("std::sys::*RwLock::*", WAIT_LOCK, "Rust RwLock"),
        RUNTIME("std::sys::*Condvar::*", WAIT_CONDITION, "Rust Condvar"),
        RUNTIME("std::sys::*Once::*", WAIT_CONDITION, "Rust Once"),
        RUNTIME("std::sync::barrier::*", WAIT_CONDITION, "Rust Barrier"),
        RUNTIME("std::thread::*park*", WAIT_CONDITION, "Rust thread::park"),
        RUNTIME("parking_lot::raw_mutex::*", WAIT_LOCK, "Rust Mutex"),
        RUNTIME("parking_lot::raw_rwlock::*", WAIT_LOCK, "Rust RwLock"),
        RUNTIME("parking_lot::condvar::*", WAIT_CONDITION, "Rust Condvar"),
};

struct release_rule {
	const char *name;
	uint8_t release; /* enum wait_release */
	uint8_t kind;    /* enum wait_kind of the waits that it ends */
};

static const struct release_rule kernel_releases[] = {
        {"futex_unlock_pi", RELEASE_PI, WAIT_LOCK},
        {"mm_release", RELEASE_EXIT, WAIT_CHILD},
        {"do_exit", RELEASE_EXIT, WAIT_CHILD},
        {"futex_wake*", RELEASE_FUTEX, 0},
        {"futex_requeue", RELEASE_FUTEX, 0},
        {"do_futex", RELEASE_FUTEX, 0},
        {"mutex_unlock*", RELEASE_KERNEL, WAIT_LOCK},
        {"__mutex_unlock*", RELEASE_KERNEL, WAIT_LOCK},
        {"ww_mutex_unlock*", RELEASE_KERNEL, WAIT_LOCK},
        {"up_read*", RELEASE_KERNEL, WAIT_LOCK},
        {"up_write*", RELEASE_KERNEL, WAIT_LOCK},
        {"__up_read*", RELEASE_KERNEL, WAIT_LOCK},
        {"__up_write*", RELEASE_KERNEL, WAIT_LOCK},
        {"rwsem_wake*", RELEASE_KERNEL, WAIT_LOCK},
        {"rwsem_downgrade_wake*", RELEASE_KERNEL, WAIT_LOCK},
        {"downgrade_write*", RELEASE_KERNEL, WAIT_LOCK},
        {"percpu_up_*", RELEASE_KERNEL, WAIT_LOCK},
        {"rt_mutex_unlock*", RELEASE_KERNEL, WAIT_LOCK},
        {"rt_mutex_slowunlock*", RELEASE_KERNEL, WAIT_LOCK},
        {"__locks_wake_up_blocks", RELEASE_KERNEL, WAIT_LOCK},
        {"locks_wake_up_blocks", RELEASE_KERNEL, WAIT_LOCK},
        {"locks_unlink_lock_ctx", RELEASE_KERNEL, WAIT_LOCK},
        {"locks_delete_lock_ctx", RELEASE_KERNEL, WAIT_LOCK},
        /* Of packets of this machine only: those of a device are received in its own function. */
        {"process_backlog", RELEASE_RECEIVE, 0},
        {"do_softirq*", RELEASE_SOFTIRQ, 0},
        {"__local_bh_enable_ip", RELEASE_SOFTIRQ, 0},
        {"dev_queue_xmit*", RELEASE_SEND, 0},
        {"__dev_queue_xmit*", RELEASE_SEND, 0},
        {"tcp_*", RELEASE_SEND, 0},
        {"__tcp_*", RELEASE_SEND, 0},
        {"udp_*", RELEASE_SEND, 0},
        {"udpv6_*", RELEASE_SEND, 0},
        {"raw_sendmsg", RELEASE_SEND, 0},
        {"rawv6_sendmsg", RELEASE_SEND, 0},
        {"inet_*", RELEASE_SEND, 0},
        {"__inet_*", RELEASE_SEND, 0},
        {"sock_sendmsg*", RELEASE_SEND, 0},
        {"__sock_sendmsg*", RELEASE_SEND, 0},
        {"__irq_exit_rcu", RELEASE_INTERRUPT, 0},
        {"irq_exit*", RELEASE_INTERRUPT, 0},
        {"asm_sysvec_*", RELEASE_INTERRUPT, 0},
        {"asm_common_interrupt", RELEASE_INTERRUPT, 0},
        {"sysvec_*", RELEASE_INTERRUPT, 0},
        {"common_interrupt", RELEASE_INTERRUPT, 0},
        {"el1_interrupt", RELEASE_INTERRUPT, 0},
        {"el1h_64_irq*", RELEASE_INTERRUPT, 0},
        {"el0t_64_irq*", RELEASE_INTERRUPT, 0},
};

static const struct release_rule user_releases[] = {
        {"drop_gil*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"_PyMutex_Unlock*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"PyThread_release_lock", RELEASE_RUNTIME_ANY, WAIT_LOCK},
        {"runtime.unlock2*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"runtime.notewakeup", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"ObjectMonitor::exit*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"ObjectMonitor::ExitEpilog*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"ObjectMonitor::notify*", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"Unsafe_Unpark", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"std::sys::*Mutex::wake*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"std::sys::*RwLock::wake*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"std::sys::*Condvar::notify*", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"std::thread::*unpark*", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"parking_lot::raw_mutex::*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"parking_lot::raw_rwlock::*", RELEASE_RUNTIME_LOCK, WAIT_LOCK},
        {"parking_lot::condvar::*", RELEASE_RUNTIME_ANY, WAIT_CONDITION},
        {"pthread_mutex_unlock*", RELEASE_LOCK, WAIT_LOCK},
        {"___pthread_mutex_unlock*", RELEASE_LOCK, WAIT_LOCK},
        {"__pthread_mutex_unlock*", RELEASE_LOCK, WAIT_LOCK},
        {"__GI___pthread_mutex_unlock*", RELEASE_LOCK, WAIT_LOCK},
        {"__lll_unlock*", RELEASE_LOCK, WAIT_LOCK},
        {"__lll_lock_wake*", RELEASE_LOCK, WAIT_LOCK},
        {"__GI___lll_lock_wake*", RELEASE_LOCK, WAIT_LOCK},
        {"pthread_rwlock_unlock", RELEASE_LOCK, WAIT_LOCK},
        {"___pthread_rwlock_unlock", RELEASE_LOCK, WAIT_LOCK},
        {"__pthread_rwlock_unlock", RELEASE_LOCK, WAIT_LOCK},
        {"mtx_unlock", RELEASE_LOCK, WAIT_LOCK},
        {"pthread_cond_*", RELEASE_ANY, WAIT_CONDITION},
        {"___pthread_cond_*", RELEASE_ANY, WAIT_CONDITION},
        {"__pthread_cond_*", RELEASE_ANY, WAIT_CONDITION},
        {"pthread_barrier_wait", RELEASE_ANY, WAIT_CONDITION},
        {"sem_post", RELEASE_ANY, WAIT_SEMAPHORE},
        {"__new_sem_post", RELEASE_ANY, WAIT_SEMAPHORE},
        {"___new_sem_post", RELEASE_ANY, WAIT_SEMAPHORE},
};

static const char *const locking[] = {
        "__schedule*",
        "schedule*",
        "preempt_schedule*",
        "rt_mutex_*",
        "__rt_mutex_*",
        "mutex_lock*",
        "__mutex_lock*",
        "ww_mutex_lock*",
        "rwsem_down_*",
        "down_*",
        "__down*",
        "down",
        "percpu_*",
        "__percpu_*",
        "rtlock_slowlock*",
        "rt_spin_lock*",
        "lock_mm_and_find_vma",
        "mmap_read_lock*",
        "mmap_write_lock*",
        "vma_start_*",
};

/* The rest of a wrapper's list: names that have no rule of their own. */
static const char *const wrappers[] = {
        "std::thread::*park*",
        "__futex_abstimed_wait*",
        "futex_wait*",
        "syscall",
        "__libc_*",
        "clone*",
        "start_thread",
        "runtime.futex*",
        "__GI_*",
        "std::condition_variable*",
        "std::mutex*",
        "std::thread::join",
        "std::sys::*",

        "__new_sem_*",
        "do_futex_wait*",
};

static size_t plain_length(const char *name)
{
	size_t length = strcspn(name, "@");

	/* ".constprop.0", ".isra.0", ".part.0", ".cold"; Go's names have points, too. */
	for (const char *dot = memchr(name, '.', length); dot;
	     dot = memchr(dot + 1, '.', length - (size_t)(dot + 1 - name)))
		if (!strncmp(dot, ".constprop", 10) || !strncmp(dot, ".isra", 5) ||
		    !strncmp(dot, ".part", 5) || !strncmp(dot, ".cold", 5) ||
		    !strncmp(dot, ".llvm", 5))
			return (size_t)(dot - name);
	return length;
}

/* A function's name as patterns have it. */
struct plain_name {
	const char *text;
	size_t length;
	char own[256]; /* of a method of Rust; the rest of a longer one is left out */
};

/* A method of Rust, "<std::Type>::lock" or "<std::Type as Trait>::lock", is named
 * "std::Type::lock". */
static void plain_method(struct plain_name *p)
{
	size_t depth = 0, from = 0, size = 0;
	bool left_out = false;

	for (; from < p->length && (!from || depth); from++) {
		char c = p->text[from];

		/* The arrow of a function's type closes no bracket. */
		depth += c == '<';
		depth -= c == '>' && p->text[from - 1] != '-';
		left_out |= depth == 1 && !strncmp(p->text + from, " as ", 4);
		if (from && depth && !left_out && size < sizeof(p->own))
			p->own[size++] = c;
	}
	if (depth)
		return;
	for (; from < p->length && size < sizeof(p->own); from++)
		p->own[size++] = p->text[from];
	p->text = p->own;
	p->length = size;
}

static void plain_name(struct plain_name *p, const char *name)
{
	p->text = name;
	p->length = plain_length(name);
	if (*name == '<')
		plain_method(p);
}

/* A pattern has at most two stars: in it, and at its end. */
static bool matches(const char *pattern, const struct plain_name *plain)
{
	const char *name = plain->text;
	size_t length = plain->length;
	const char *star = strchr(pattern, '*');
	size_t head = star ? (size_t)(star - pattern) : strlen(pattern), tail;

	if (!star)
		return head == length && !memcmp(pattern, name, length);
	if (length < head || memcmp(pattern, name, head) != 0)
		return false;
	if (!star[1])
		return true;
	tail = strcspn(star + 1, "*");
	for (size_t at = head; at + tail <= length; at++)
		if (!memcmp(name + at, star + 1, tail) &&
		    (star[1 + tail] == '*' || at + tail == length))
			return true;
	return false;
}

const struct wait_rule *wait_rule_find(const struct wait_rule *rules, size_t count,
                                       const char *function)
{
	struct plain_name name;

	plain_name(&name, function);
	for (size_t i = 0; i < count; i++)
		if (matches(rules[i].name, &name))
			return &rules[i];
	return NULL;
}

const struct wait_rule *wait_rule_user(const char *function)
{
	return wait_rule_find(user_rules, LENGTH(user_rules), function);
}

static const struct release_rule *find_release(const struct release_rule *rules, size_t count,
                                               const char *function)
{
	struct plain_name name;

	plain_name(&name, function);
	for (size_t i = 0; i < count; i++)
		if (matches(rules[i].name, &name))
			return &rules[i];
	return NULL;
}

enum wait_release wait_release_kernel(const char *function)
{
	const struct release_rule *rule =
	        find_release(kernel_releases, LENGTH(kernel_releases), function);

	return rule ? (enum wait_release)rule->release : RELEASE_NONE;
}

enum wait_release wait_release_user(const char *function, enum wait_kind *kind)
{
	const struct release_rule *rule =
	        find_release(user_releases, LENGTH(user_releases), function);

	*kind = rule ? (enum wait_kind)rule->kind : WAIT_KIND_NONE;
	return rule ? (enum wait_release)rule->release : RELEASE_NONE;
}

static bool matches_any(const char *const *patterns, size_t count, const char *function)
{
	struct plain_name name;

	plain_name(&name, function);
	for (size_t i = 0; i < count; i++)
		if (matches(patterns[i], &name))
			return true;
	return false;
}

bool wait_rule_is_locking(const char *function)
{
	return matches_any(locking, LENGTH(locking), function);
}

bool wait_rule_is_wrapper(const char *function)
{
	const struct wait_rule *rule = wait_rule_user(function);
	enum wait_release release;
	enum wait_kind kind;

	release = wait_release_user(function, &kind);
	return (rule && rule->rank != RULE_RUNTIME) || release == RELEASE_LOCK ||
	       release == RELEASE_ANY || matches_any(wrappers, LENGTH(wrappers), function);
}

static const char *const kind_names[WAIT_KINDS] = {
        [WAIT_KIND_NONE] = "none",        [WAIT_LOCK] = "lock",   [WAIT_CONDITION] = "condition",
        [WAIT_SEMAPHORE] = "semaphore",   [WAIT_PIPE] = "pipe",   [WAIT_SOCKET] = "socket",
        [WAIT_EVENT] = "event",           [WAIT_CHILD] = "child", [WAIT_FILE] = "file",
        [WAIT_DEVICE] = "device",         [WAIT_TIMER] = "timer", [WAIT_SLEEP] = "sleep",
        [WAIT_PAGE_FAULT] = "page_fault", [WAIT_CPU] = "cpu",     [WAIT_OTHER] = "other",
};

const char *wait_kind_name(enum wait_kind kind)
{
	return kind_names[kind];
}

bool wait_kind_parse(const char *name, enum wait_kind *kind)
{
	for (int i = WAIT_LOCK; i < WAIT_KINDS; i++)
		if (!strcmp(kind_names[i], name)) {
			*kind = (enum wait_kind)i;
			return true;
		}
	return false;
}
