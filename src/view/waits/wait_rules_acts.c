/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the kernel that end a wait for one of several files. */
#include "view/waits/wait_rules.h"

#include <string.h>

struct act_rule {
	const char *name; /* with '*' at its end: a prefix */
	enum wait_act act;
};

/* The first rule that matches is taken; of a path, the innermost function that has a rule. */
static const struct act_rule rules[] = {
        {"hrtimer_wakeup", ACT_TIMEOUT},
        {"process_timeout", ACT_TIMEOUT},
        {"timerfd_*", ACT_TIMERFD},
        {"eventfd_*", ACT_EVENTFD},
        {"pipe_*", ACT_PIPE},
        {"anon_pipe_*", ACT_PIPE},
        {"fifo_pipe_*", ACT_PIPE},
        {"splice_to_pipe", ACT_PIPE},
        {"splice_from_pipe*", ACT_PIPE},
        {"iter_file_splice_write", ACT_PIPE},
        {"net_rx_action", ACT_NETWORK},
        {"unix_*", ACT_SOCKET},
        {"tcp_*", ACT_SOCKET},
        {"__tcp_*", ACT_SOCKET},
        {"udp_*", ACT_SOCKET},
        {"udpv6_*", ACT_SOCKET},
        {"raw_sendmsg", ACT_SOCKET},
        {"inet_*", ACT_SOCKET},
        {"__inet_*", ACT_SOCKET},
        {"netlink_*", ACT_SOCKET},
        {"vsock_*", ACT_SOCKET},
        {"packet_sendmsg", ACT_SOCKET},
        {"do_notify_parent*", ACT_CHILD},
        {"do_notify_pidfd", ACT_CHILD},
        {"signalfd_notify", ACT_SIGNAL},
        {"signal_wake_up_state", ACT_SIGNAL},
        {"complete_signal", ACT_SIGNAL},
        {"__send_signal*", ACT_SIGNAL},
        {"send_signal*", ACT_SIGNAL},
        {"send_sigqueue", ACT_SIGNAL},
        {"posixtimer_send_sigqueue", ACT_SIGNAL},
        {"n_tty_*", ACT_TERMINAL},
        {"tty_*", ACT_TERMINAL},
        {"pty_*", ACT_TERMINAL},
        {"__do_notify", ACT_QUEUE},
        {"do_mq_timed*", ACT_QUEUE},
        {"inotify_handle_*", ACT_WATCH},
        {"fsnotify*", ACT_WATCH},
        {"fanotify_handle_event", ACT_WATCH},
        {"io_cqring_*", ACT_URING},
        {"io_req_*", ACT_URING},
        {"__io_req_*", ACT_URING},
        {"__io_submit_flush_completions", ACT_URING},
        {"aio_complete", ACT_DISK},
        {"blk_*", ACT_DISK},
        {"bio_endio", ACT_DISK},
        {"ep_insert", ACT_CONTROL},
        {"do_epoll_ctl", ACT_CONTROL},
        {"perf_event_wakeup", ACT_PERF},
};

enum wait_act wait_act_kernel(const char *function)
{
	size_t length = strcspn(function, ".");

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		size_t head = strcspn(rules[i].name, "*");

		if (!strncmp(function, rules[i].name, head) &&
		    (rules[i].name[head] || head == length))
			return rules[i].act;
	}
	return ACT_NONE;
}

static const char *const names[ACTS] = {
        [ACT_SOCKET] = "a socket",       [ACT_PIPE] = "a pipe",
        [ACT_EVENTFD] = "an eventfd",    [ACT_TIMERFD] = "a timerfd",
        [ACT_TIMEOUT] = "timeout",       [ACT_SIGNAL] = "a signal",
        [ACT_CHILD] = "a child",         [ACT_NETWORK] = "the network",
        [ACT_DISK] = "a disk",           [ACT_TERMINAL] = "a terminal",
        [ACT_QUEUE] = "a message queue", [ACT_WATCH] = "a watched file",
        [ACT_URING] = "an io_uring",     [ACT_CONTROL] = "epoll_ctl",
        [ACT_PERF] = "a perf event",
};

const char *wait_act_name(enum wait_act act)
{
	return names[act];
}
