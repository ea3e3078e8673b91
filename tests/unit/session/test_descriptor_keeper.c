/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which samples of switches and wake-ups lead to the name of a descriptor, and how often. */
#include "check.h"

#include "format/perf/tracepoint_format.h"
#include "session/keep/descriptor_keeper.h"
#include "unwind/unwind.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char format[] = "name: sched_switch\nID: 372\nformat:\n"
                             "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
                             "\tfield:long prev_state;\toffset:24;\tsize:8;\tsigned:1;\n\n"
                             "print fmt: \"\"\n";

static const char wake_format[] = "name: sched_waking\nID: 373\nformat:\n"
                                  "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;"
                                  "\tsigned:0;\n\n"
                                  "print fmt: \"\"\n";

static struct recording recording;
static uint8_t raw[32];
static uint64_t argument;

/* A sample of this process, which blocks in a system call with that first argument. */
static struct event sample_at(uint64_t time_ns, uint64_t first, int64_t state)
{
	struct event e = {.kind = EVENT_SAMPLE, .pid = getpid(), .tid = getpid()};

	argument = first;
	e.time_ns = time_ns;
	memcpy(raw + 8, "reader", 7);
	memcpy(raw + 24, &state, sizeof(state));
	e.sample.raw = raw;
	e.sample.raw_size = sizeof(raw);
	e.sample.regs = &argument;
	e.sample.regs_mask = UINT64_C(1) << unwind_native()->perf_argument[0];
	e.sample.regs_abi = PERF_SAMPLE_REGS_ABI_64;
	return e;
}

static const char *name_at(struct descriptor_keeper *k, uint64_t time_ns, uint64_t first,
                           int64_t state)
{
	static struct event named;
	struct event e = sample_at(time_ns, first, state);

	if (!descriptor_keeper_sample(k, &e, false, &named))
		return "";
	CHECK_EQ(named.kind, EVENT_DESCRIPTOR);
	CHECK_EQ(named.time_ns, time_ns);
	CHECK_EQ(named.descriptor.number, first);
	CHECK_STR(named.descriptor.thread_name, "reader");
	return named.descriptor.name;
}

static void a_name_is_read_once_and_again_after_a_second(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	uint64_t number = (uint64_t)fd, second = UINT64_C(1000000000);
	int other = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	CHECK_STR(name_at(k, second, number, 1), "/dev/null");
	CHECK_STR(name_at(k, second + 1, number, 1), "");
	CHECK_EQ(dup2(other, fd), fd);
	CHECK_STR(name_at(k, second + 2, number, 1), "");
	CHECK_STR(name_at(k, 2 * second, number, 1), "/dev/zero");
	CHECK_STR(name_at(k, 3 * second, number, 1), "");
	close(fd);
	close(other);
	descriptor_keeper_free(k);
}

static void a_new_process_with_the_same_number_is_read_again(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	struct event exit = {.kind = EVENT_EXIT, .pid = getpid(), .tid = getpid()};
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CHECK_STR(name_at(k, 1, (uint64_t)fd, 2), "/dev/null");
	descriptor_keeper_event(k, &exit);
	CHECK_STR(name_at(k, 2, (uint64_t)fd, 2), "/dev/null");
	close(fd);
	descriptor_keeper_free(k);
}

static void other_samples_are_no_waits_for_a_descriptor(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct event e = sample_at(1, (uint64_t)fd, 1), named;

	CHECK_STR(name_at(k, 1, (uint64_t)fd, 0), "");     /* preempted */
	CHECK_STR(name_at(k, 1, (uint64_t)fd, 0x100), ""); /* likewise, in newer kernels */
	CHECK_STR(name_at(k, 1, (uint64_t)&k, 1), "");     /* an address */
	e.sample.regs = NULL;                              /* a kernel thread */
	CHECK(!descriptor_keeper_sample(k, &e, false, &named));
	e = sample_at(1, (uint64_t)fd, 1);
	e.sample.regs_abi = PERF_SAMPLE_REGS_ABI_32; /* the argument is in another register */
	CHECK(!descriptor_keeper_sample(k, &e, false, &named));
	e = sample_at(1, (uint64_t)fd, 1);
	e.sample.raw_size = 16; /* cut */
	CHECK(!descriptor_keeper_sample(k, &e, false, &named));
	CHECK(!descriptor_keeper_sample(NULL, &e, false, &named));
	close(fd);
	descriptor_keeper_free(k);
}

/* The thread's name is its own: the fields have that of the woken thread. */
static void wakers_have_descriptors(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	struct event e = sample_at(1, (uint64_t)fd, 0), named;

	CHECK_EQ(prctl(PR_SET_NAME, "own name"), 0);
	raw[2] = 0x08; /* in an interrupt */
	CHECK(!descriptor_keeper_sample(k, &e, true, &named));
	raw[2] = 0x10; /* in a softirq, which may be its own */
	CHECK(descriptor_keeper_sample(k, &e, true, &named));
	CHECK_EQ(named.kind, EVENT_DESCRIPTOR);
	CHECK_EQ(named.descriptor.number, fd);
	CHECK_STR(named.descriptor.name, "/dev/null");
	CHECK_STR(named.descriptor.thread_name, "own name");
	CHECK(!descriptor_keeper_sample(k, &e, true, &named));
	raw[2] = 0;
	close(fd);
	descriptor_keeper_free(k);
}

/* A connection with itself: its end and its peer are one socket. */
static int connected(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_EQ(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* The second socket is newer than the table that was read for the first one. */
static void new_sockets_are_read_again(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	int first = connected(), second;
	struct event e, named = {0};
	bool found = false;

	CHECK(!strncmp(name_at(k, 1, (uint64_t)first, 1), "tcp 127.0.0.1:", 14));
	second = connected();
	CHECK(!strncmp(name_at(k, 1, (uint64_t)second, 1), "socket:[", 8));
	/* Samples of a preempted thread. The table is read after a pause of the real time. */
	for (uint64_t i = 1; i < 1500 && !found; i++) {
		e = sample_at(i * 10000000, 0, 0);
		e.pid = e.tid = 1;
		found = descriptor_keeper_sample(k, &e, false, &named);
		usleep(10000);
	}
	CHECK(found);
	if (!found)
		return;
	CHECK_EQ(named.pid, getpid());
	CHECK_EQ(named.descriptor.number, second);
	CHECK(!strncmp(named.descriptor.name, "tcp 127.0.0.1:", 14));
	CHECK_STR(named.descriptor.thread_name, "reader");
	close(first);
	close(second);
	descriptor_keeper_free(k);
}

/* Its number, and those of its descriptors, may belong to others, on which no thread waits. */
static void sockets_of_an_ended_process_are_not_read_again(void)
{
	static const enum event_kind kinds[] = {EVENT_EXIT, EVENT_FORK, EVENT_COMM};
	struct event end = {.pid = getpid(), .tid = getpid(), .comm.exec = true}, e, named;
	uint64_t second = UINT64_C(1000000000), now_ns = second;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct descriptor_keeper *k = descriptor_keeper_new(&recording);
		int first = connected(), other;

		CHECK(!strncmp(name_at(k, now_ns, (uint64_t)first, 1), "tcp 127.0.0.1:", 14));
		other = connected(); /* newer than the table of sockets */
		CHECK(!strncmp(name_at(k, now_ns, (uint64_t)other, 1), "socket:[", 8));
		end.kind = kinds[i];
		descriptor_keeper_event(k, &end);
		e = sample_at(now_ns += second, 0, 0);
		CHECK(!descriptor_keeper_sample(k, &e, false, &named));
		close(first);
		close(other);
		descriptor_keeper_free(k);
	}
}

static void descriptors_of_exited_processes_are_counted(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	struct event e = sample_at(1, 3, 1), named;
	struct account account = {0};

	descriptor_keeper_account(k, &account);
	CHECK_EQ(account.notes.count, 0);
	e.pid = INT32_MAX;
	CHECK(!descriptor_keeper_sample(k, &e, false, &named));
	descriptor_keeper_account(k, &account);
	CHECK_EQ(account.notes.count, 1);
	CHECK(!strcmp(account.notes.items[0], "1 descriptor on which threads waited has no name: "
	                                      "for 1 the process had exited."));
	free(account.notes.items[0]);
	vec_done(&account.notes);
	descriptor_keeper_free(k);
}

static void reads_are_limited_in_number(void)
{
	struct descriptor_keeper *k = descriptor_keeper_new(&recording);
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* All of one second; the numbers are not open. */
	for (uint64_t i = 0; i < READS_PER_S; i++)
		name_at(k, 10, 30000 + i, 1);
	CHECK_STR(name_at(k, 10, (uint64_t)fd, 1), "");
	CHECK_STR(name_at(k, UINT64_C(1000000010), (uint64_t)fd, 1), "/dev/null");
	close(fd);
	descriptor_keeper_free(k);
}

int main(void)
{
	struct tracepoint *t;

	recording_init(&recording);
	for (int i = 0; i < 2; i++) {
		t = vec_add(&recording.tracepoints);
		*t = (struct tracepoint){.format = xstrdup(i ? wake_format : format)};
		CHECK(tracepoint_format_parse(t));
	}
	if (!unwind_native()) {
		recording_done(&recording);
		return check_end();
	}
	RUN(a_name_is_read_once_and_again_after_a_second);
	RUN(a_new_process_with_the_same_number_is_read_again);
	RUN(other_samples_are_no_waits_for_a_descriptor);
	RUN(wakers_have_descriptors);
	RUN(new_sockets_are_read_again);
	RUN(sockets_of_an_ended_process_are_not_read_again);
	RUN(descriptors_of_exited_processes_are_counted);
	RUN(reads_are_limited_in_number);
	recording_done(&recording);
	return check_end();
}
