/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * wait_rules: which functions on the stack of a waiting thread, or of its waker, have a meaning.
 *
 * The rules are data: names of functions of the kernel (6.1 to 6.18) and of C libraries and
 * language runtimes. A name with a '*' at its end is a prefix. Suffixes of compilers and symbol
 * versions (".constprop.0", "@GLIBC_2.34") are ignored, and the brackets of Rust's methods.
 * Constants; any thread. Uses: nothing.
 */
#ifndef ASSAY_VIEW_WAITS_WAIT_RULES_H
#define ASSAY_VIEW_WAITS_WAIT_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wait_kind {
	WAIT_KIND_NONE,
	WAIT_LOCK,
	WAIT_CONDITION,
	WAIT_SEMAPHORE,
	WAIT_PIPE,
	WAIT_SOCKET,
	WAIT_EVENT,
	WAIT_CHILD,
	WAIT_FILE,
	WAIT_DEVICE,
	WAIT_TIMER,
	WAIT_SLEEP,
	WAIT_PAGE_FAULT,
	WAIT_CPU,
	WAIT_OTHER,
	WAIT_KINDS,
};

/* Which of several functions on a stack decides. */
enum wait_rule_rank {
	RULE_WEAK,    /* the innermost one, if no other function decides */
	RULE_STRONG,  /* the innermost one */
	RULE_RUNTIME, /* of a language: decides also if it is outside of a strong one */
};

/* What the first argument of the system call is. */
enum wait_argument {
	ARGUMENT_UNKNOWN,
	ARGUMENT_NONE, /* no name of an object: a pointer, a flag */
	ARGUMENT_FUTEX,
	ARGUMENT_DESCRIPTOR,
	ARGUMENT_NUMBER, /* of a System V object */
};

struct wait_rule {
	const char *name;
	uint8_t kind;       /* enum wait_kind; WAIT_KIND_NONE: the rule is about the argument */
	uint8_t rank;       /* enum wait_rule_rank */
	uint8_t argument;   /* enum wait_argument */
	const char *object; /* the object's name if the argument has none; NULL: none */
};

/* The rule for a function on the stack of a waiting thread; NULL: the function has no meaning. */
const struct wait_rule *wait_rule_kernel(const char *function);
const struct wait_rule *wait_rule_user(const char *function);
/* For both: the first rule whose name matches. */
const struct wait_rule *wait_rule_find(const struct wait_rule *rules, size_t count,
                                       const char *function);

/* What a function on the stack of a waker shows. */
enum wait_release {
	RELEASE_NONE,
	RELEASE_FUTEX, /* the waker is in a futex wake */
	RELEASE_LOCK,  /* in the release of a user's lock, which only an owner may do */
	RELEASE_ANY,   /* in the release of an object that has no owner: a semaphore, a signal */
	RELEASE_RUNTIME_LOCK, /* the two of a language's runtime, also outside of those above */
	RELEASE_RUNTIME_ANY,
	RELEASE_PI,        /* in FUTEX_UNLOCK_PI */
	RELEASE_KERNEL,    /* in the release of a lock of the kernel, or of a file */
	RELEASE_EXIT,      /* at its end */
	RELEASE_INTERRUPT, /* in an interrupt, so functions outside of it are not the waker's */
	RELEASE_RECEIVE,   /* in the network's softirq, for a packet of this machine */
	RELEASE_SOFTIRQ,   /* in a softirq that was run when the thread allowed them again */
	RELEASE_SEND,      /* in code of network protocols that may send a packet */
};
enum wait_release wait_release_kernel(const char *function);

/* What a waker did in the kernel that may end a wait for one of several files. */
enum wait_act {
	ACT_NONE,
	ACT_SOCKET,
	ACT_PIPE,
	ACT_EVENTFD,
	ACT_TIMERFD,
	ACT_TIMEOUT, /* of the wait itself */
	ACT_SIGNAL,
	ACT_CHILD,
	ACT_NETWORK, /* a packet was received; unless the thread sent it itself */
	ACT_DISK,
	ACT_TERMINAL,
	ACT_QUEUE,
	ACT_WATCH, /* inotify, fanotify */
	ACT_URING,
	ACT_CONTROL, /* epoll_ctl() added a file that was ready */
	ACT_PERF,
	ACTS,
};
enum wait_act wait_act_kernel(const char *function);
const char *wait_act_name(enum wait_act act); /* "timeout", "a signal" */
/* `kind`: the kind of a wait that is released so; WAIT_KIND_NONE: not known. */
enum wait_release wait_release_user(const char *function, enum wait_kind *kind);

/* True for functions that only take a lock of the kernel, or call the scheduler: the function
 * outside of them says which lock it is. */
bool wait_rule_is_locking(const char *function);
/* True for functions of a C library that only wrap a wait or a wake-up. */
bool wait_rule_is_wrapper(const char *function);

const char *wait_kind_name(enum wait_kind kind); /* "lock", "page_fault" */
/* False: there is no such kind. */
bool wait_kind_parse(const char *name, enum wait_kind *kind);

#endif
