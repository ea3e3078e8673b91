/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Causes of waits from the names of functions, names of objects, wakers, holders and evidence. */
#include "check.h"
#include "wait_fixture.h"

#include "view/waits/wait_object.h"

#include <string.h>

struct told {
	struct wait_cause cause;
	struct wait_waker waker;
	char name[128];
	bool named;
};

static struct told tell(struct fixture *f, const struct wait_log *log, const struct wait_key *key)
{
	struct view *v = view_new(f->profile, f->symbols);
	struct wait_causes c;
	struct buf name = {0};
	struct told t = {0};

	wait_causes_init(&c, v);
	t.cause = wait_cause_of(&c, key, wait_descriptor_name(log, key));
	t.waker = wait_waker_of(&c, key, &t.cause);
	t.named = wait_object_name(&c, log, key, &t.cause, &name);
	snprintf(t.name, sizeof(t.name), "%s", buf_text(&name));
	buf_done(&name);
	wait_causes_done(&c);
	view_free(v);
	return t;
}

/* A wait of cc1#1 at a path that sh ends; the test sets where. */
static struct wait_key key_by_sh(const struct fixture *f, enum wait_woken woken, uint32_t path)
{
	struct wait_key key = key_at(f, path);

	key.woken = (uint8_t)woken;
	key.waker = f->sh;
	return key;
}

static struct told tell_waker(struct fixture *f, struct wait_key key, uint32_t waker_path)
{
	const struct wait_log log = {0};

	key.waker_path = waker_path;
	return tell(f, &log, &key);
}

static void check_evidence(struct fixture *f, const struct wait_key *key, uint32_t waker_path,
                           enum wait_evidence evidence)
{
	CHECK_EQ(tell_waker(f, *key, waker_path).waker.evidence, evidence);
}

/* Whether the thread of a softirq is the waker of a receiver from the network. */
static void check_softirq(struct fixture *f, bool is_thread, uint32_t waker_path)
{
	const uint32_t path = PATH(f, "take", "sock_recvmsg", "tcp_recvmsg");
	struct wait_waker waker =
	        tell_waker(f, key_by_sh(f, WAIT_BY_SOFTIRQ, path), waker_path).waker;

	CHECK_EQ(waker.is_thread, is_thread);
	CHECK(is_thread || waker.place == ID_NONE);
}

/* A wait in a system call with that first argument. */
static struct wait_key key_of_call(const struct fixture *f, uint32_t path, uint64_t argument)
{
	struct wait_key key = key_at(f, path);

	key.in_system_call = true;
	key.argument = argument;
	return key;
}

static void check_told(const struct told *t, enum wait_kind kind, const char *name)
{
	if (t->cause.kind != kind || strcmp(t->name, name) != 0)
		printf("# %s '%s', not %s '%s'\n", wait_kind_name(t->cause.kind), t->name,
		       wait_kind_name(kind), name);
	CHECK_EQ(t->cause.kind, kind);
	CHECK(!strcmp(t->name, name));
}

static void check_kind(struct fixture *f, uint32_t path, enum wait_kind kind, const char *name)
{
	const struct wait_log log = {0};
	const struct wait_key key = key_of_call(f, path, 3);
	const struct told t = tell(f, &log, &key);

	check_told(&t, kind, name);
}

/* Paths as kernels from 6.1 to 6.18 have them. */
static void test_kernel_functions_tell_the_kind(void)
{
	struct fixture f;

	fixture_init(&f, false);
	check_kind(&f, PATH(&f, "take", "ksys_read", "vfs_read", "pipe_read"), WAIT_PIPE,
	           "descriptor 3");
	check_kind(&f, PATH(&f, "take", "ksys_read", "vfs_read", "anon_pipe_read"), WAIT_PIPE,
	           "descriptor 3");
	check_kind(&f,
	           PATH(&f, "take", "__x64_sys_recvfrom", "sock_recvmsg", "tcp_recvmsg_locked",
	                "sk_wait_data", "wait_woken", "schedule_timeout"),
	           WAIT_SOCKET, "descriptor 3");
	check_kind(&f,
	           PATH(&f, "take", "__x64_sys_epoll_wait", "do_epoll_wait",
	                "schedule_hrtimeout_range"),
	           WAIT_EVENT, "descriptor 3");
	check_kind(&f, PATH(&f, "take", "__x64_sys_poll", "do_sys_poll", "poll_schedule_timeout"),
	           WAIT_EVENT, "poll");
	check_kind(&f, PATH(&f, "take", "kernel_wait4", "do_wait"), WAIT_CHILD, "a child process");
	check_kind(&f, PATH(&f, "take", "__x64_sys_vfork", "kernel_clone", "wait_for_completion"),
	           WAIT_CHILD, "vfork");
	check_kind(&f,
	           PATH(&f, "take", "__x64_sys_clock_nanosleep", "common_nsleep",
	                "hrtimer_nanosleep", "do_nanosleep"),
	           WAIT_SLEEP, "nanosleep");
	check_kind(&f, PATH(&f, "take", "ksys_read", "vfs_read", "timerfd_read_iter"), WAIT_TIMER,
	           "descriptor 3");
	check_kind(&f, PATH(&f, "take", "do_semtimedop", "__do_semtimedop"), WAIT_SEMAPHORE,
	           "semaphore set 3");
	fixture_done(&f);
}

static void test_files_devices_and_faults_are_apart(void)
{
	struct fixture f;

	fixture_init(&f, false);
	check_kind(&f,
	           PATH(&f, "commit", "__x64_sys_fdatasync", "do_fsync", "ext4_sync_file",
	                "blkdev_issue_flush", "submit_bio_wait", "io_schedule_timeout"),
	           WAIT_FILE, "descriptor 3");
	check_kind(&f,
	           PATH(&f, "load", "__x64_sys_pread64", "vfs_read", "filemap_read",
	                "folio_wait_bit_common", "io_schedule"),
	           WAIT_FILE, "descriptor 3");
	check_kind(&f,
	           PATH(&f, "load", "__x64_sys_pread64", "blkdev_read_iter", "submit_bio_wait",
	                "io_schedule"),
	           WAIT_DEVICE, "descriptor 3");
	check_kind(&f,
	           fixture_path(&f, "main", "scan", "|", "asm_exc_page_fault", "exc_page_fault",
	                        "handle_mm_fault", "filemap_fault", "folio_wait_bit_common",
	                        "io_schedule", "schedule", "__schedule", NULL),
	           WAIT_PAGE_FAULT, "in scan");
	/* A fault in a system call is a fault, and its argument is not the object. */
	check_kind(&f,
	           PATH(&f, "take", "ksys_read", "vfs_read", "pipe_read", "copy_page_to_iter",
	                "asm_exc_page_fault", "filemap_fault", "io_schedule"),
	           WAIT_PAGE_FAULT, "in take");
	check_kind(&f,
	           PATH(&f, "save", "ksys_write", "vfs_write", "ext4_file_write_iter", "down_write",
	                "rwsem_down_write_slowpath.constprop.0"),
	           WAIT_LOCK, "kernel rwsem in ext4_file_write_iter");
	check_kind(&f, PATH(&f, "odd", "__x64_sys_unheard_of", "unheard_of"), WAIT_OTHER,
	           "in unheard_of");
	fixture_done(&f);
}

static void test_user_functions_tell_what_a_futex_is(void)
{
	static const struct {
		const char *function;
		enum wait_kind kind;
		const char *name;
	} all[] = {
	        {"pthread_mutex_lock@@GLIBC_2.2.5", WAIT_LOCK, "mutex at 0x3"},
	        {"__GI___lll_lock_wait", WAIT_LOCK, "mutex at 0x3"},
	        {"pthread_rwlock_rdlock", WAIT_LOCK, "rwlock at 0x3"},
	        {"pthread_cond_timedwait", WAIT_CONDITION, "condition at 0x3"},
	        {"__new_sem_wait_slow64.constprop.0", WAIT_SEMAPHORE, "semaphore at 0x3"},
	        {"__pthread_clockjoin_ex", WAIT_CHILD, "a thread"},
	        {"take_gil", WAIT_LOCK, "Python's GIL at 0x3"},
	        {"runtime.lock2", WAIT_LOCK, "Go runtime lock at 0x3"},
	        {"syscall", WAIT_CONDITION, "futex at 0x3"},
	};
	struct fixture f;

	fixture_init(&f, false);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		check_kind(&f,
		           PATH(&f, all[i].function, "__x64_sys_futex", "do_futex", "futex_wait",
		                "__futex_wait", "futex_wait_queue"),
		           all[i].kind, all[i].name);
	/* A runtime's function outside of the C library's decides. */
	check_kind(&f,
	           fixture_path(&f, "main", "ObjectMonitor::enter", "pthread_cond_wait", "|",
	                        "__x64_sys_futex", "futex_wait", "schedule", NULL),
	           WAIT_LOCK, "Java monitor at 0x3");
	check_kind(&f,
	           PATH(&f, "__pthread_mutex_lock_full", "__x64_sys_futex", "do_futex",
	                "futex_lock_pi", "rt_mutex_wait_proxy_lock",
	                "rt_mutex_slowlock_block.constprop.0", "rt_mutex_schedule"),
	           WAIT_LOCK, "mutex at 0x3");
	fixture_done(&f);
}

static void test_a_waker_tells_what_a_futex_without_names_is(void)
{
	struct wait_key key;
	struct fixture f;

	fixture_init(&f, false);
	key = key_by_sh(&f, WAIT_BY_THREAD, PATH(&f, "hidden", "__x64_sys_futex", "futex_wait"));
	CHECK_EQ(tell_waker(&f, key, PATH(&f, "sem_post", "__x64_sys_futex", "futex_wake"))
	                 .cause.kind,
	         WAIT_SEMAPHORE);
	CHECK_EQ(tell_waker(&f, key,
	                    PATH(&f, "start_thread", "__x64_sys_exit", "do_exit", "mm_release"))
	                 .cause.kind,
	         WAIT_CHILD);
	fixture_done(&f);
}

static void test_descriptors_have_names(void)
{
	struct wait_log log = {0};
	struct wait_key key;
	struct told t;
	struct fixture f;

	fixture_init(&f, false);
	vec_push(&log.descriptors, (struct wait_descriptor){.number = 3, .name = "/srv/data.db"});
	vec_push(&log.descriptors,
	         (struct wait_descriptor){.number = 4, .name = "anon_inode:[eventpoll]"});
	key = key_of_call(
	        &f, PATH(&f, "commit", "__x64_sys_fdatasync", "do_fsync", "ext4_sync_file"), 3);
	key.descriptor = 0;
	t = tell(&f, &log, &key);
	CHECK(t.named && !strcmp(t.name, "/srv/data.db"));
	key.path = PATH(&f, "serve", "__x64_sys_epoll_wait", "do_epoll_wait");
	key.argument = 4;
	key.descriptor = 1;
	t = tell(&f, &log, &key);
	CHECK(t.named && !strcmp(t.name, "[eventpoll], descriptor 4"));
	/* The name tells the kind if no function does; poll() without descriptors is a sleep. */
	key.path = PATH(&f, "load", "ksys_read", "vfs_read", "odd_read");
	key.descriptor = 0;
	CHECK_EQ(tell(&f, &log, &key).cause.kind, WAIT_FILE);
	key.path = PATH(&f, "nap", "__x64_sys_poll", "do_sys_poll");
	key.argument = 0;
	CHECK_EQ(tell(&f, &log, &key).cause.kind, WAIT_SLEEP);
	vec_done(&log.descriptors);
	fixture_done(&f);
}

static void check_name(struct fixture *f, enum wait_kind kind, uint32_t path, char *name,
                       const char *want)
{
	struct wait_log log = {0};
	struct wait_key key = key_of_call(f, path, 3);
	struct told t;

	vec_push(&log.descriptors, (struct wait_descriptor){.number = 3, .name = name});
	key.descriptor = 0;
	t = tell(f, &log, &key);
	check_told(&t, kind, want);
	vec_done(&log.descriptors);
}

/* The number may belong to another file when the recorder reads its name. */
static void test_a_name_of_another_kind_is_not_shown(void)
{
	uint32_t file, pipe, socket;
	struct fixture f;

	fixture_init(&f, false);
	file = PATH(&f, "load", "ksys_read", "vfs_read", "filemap_read");
	pipe = PATH(&f, "take", "ksys_read", "vfs_read", "pipe_read");
	socket = PATH(&f, "take", "__x64_sys_recvfrom", "sock_recvmsg", "tcp_recvmsg");
	check_name(&f, WAIT_FILE, file, "tcp 127.0.0.1:80 127.0.0.1:9", "descriptor 3");
	check_name(&f, WAIT_FILE, file, "pipe:[42]", "descriptor 3");
	check_name(&f, WAIT_FILE, file, "/srv/data.db", "/srv/data.db");
	check_name(&f, WAIT_PIPE, pipe, "/run/fifo", "/run/fifo");
	check_name(&f, WAIT_PIPE, pipe, "socket:[42]", "descriptor 3");
	check_name(&f, WAIT_SOCKET, socket, "/srv/data.db", "descriptor 3");
	check_name(&f, WAIT_SOCKET, socket, "unix /run/x.sock 7", "unix /run/x.sock 7");
	fixture_done(&f);
}

/* The name of an epoll wait that cc1#1 begins and sh ends, with its descriptor 5. */
static void check_peer(struct fixture *f, uint32_t path, uint32_t waker_path, enum wait_woken woken,
                       const char *name, const char *want)
{
	static char *const others[] = {"tcp 10.0.0.1:40001 10.0.0.9:5432",
	                               "tcp 10.0.0.9:5432 10.0.0.2:40001", "/etc/passwd"};
	struct wait_log log = {0};
	struct wait_key key = key_of_call(f, path, 3);
	struct told t;

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		vec_push(&log.descriptors, (struct wait_descriptor){.name = others[i]});
	if (name)
		vec_push(&log.descriptors, (struct wait_descriptor){.name = (char *)name});
	key.has_waker_number = true;
	key.woken = (uint8_t)woken;
	key.waker = woken == WAIT_BY_INTERRUPT ? ID_NONE : f->sh;
	key.waker_path = waker_path;
	key.waker_number = 5;
	key.waker_descriptor = name ? (uint32_t)log.descriptors.count - 1 : ID_NONE;
	t = tell(f, &log, &key);
	CHECK(t.named);
	check_told(&t, WAIT_EVENT, want);
	vec_done(&log.descriptors);
}

static void test_an_epoll_wait_has_the_file_of_its_waker(void)
{
	uint32_t epoll, poll, tcp, closed, pipe, bell, unix_path;
	struct fixture f;

	fixture_init(&f, false);
	epoll = PATH(&f, "serve", "__x64_sys_epoll_wait", "do_epoll_wait", "ep_poll");
	poll = PATH(&f, "serve", "__x64_sys_poll", "do_sys_poll", "do_poll");
	tcp = PATH(&f, "ask", "__sys_sendto", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq",
	           "net_rx_action", "process_backlog", "tcp_v4_rcv", "tcp_data_ready",
	           "ep_poll_callback");
	closed = PATH(&f, "end", "__fput", "sock_close", "inet_release", "__tcp_close",
	              "__local_bh_enable_ip", "do_softirq", "net_rx_action", "process_backlog",
	              "tcp_v4_rcv");
	pipe = PATH(&f, "ask", "ksys_write", "vfs_write", "anon_pipe_write", "ep_poll_callback");
	bell = PATH(&f, "ring", "ksys_write", "vfs_write", "eventfd_write", "ep_poll_callback");
	unix_path = PATH(&f, "ask", "__sys_sendto", "unix_stream_sendmsg", "sock_def_readable");
	/* The server's end is in more connections than that of a client. */
	check_peer(&f, epoll, tcp, WAIT_BY_SOFTIRQ, "tcp 10.0.0.3:40001 10.0.0.9:5432",
	           "epoll 3: tcp 10.0.0.9:5432 <- sh");
	check_peer(&f, poll, tcp, WAIT_BY_SOFTIRQ, "tcp 10.0.0.9:5432 10.0.0.3:40001",
	           "poll: tcp 10.0.0.9:5432 <- sh");
	check_peer(&f, epoll, closed, WAIT_BY_SOFTIRQ, "tcp 127.0.0.1:80 127.0.0.1:50000",
	           "epoll 3: tcp 127.0.0.1:80 <- sh");
	check_peer(&f, epoll, tcp, WAIT_BY_SOFTIRQ, "udp 127.0.0.1:9 -",
	           "epoll 3: a udp socket <- sh");
	check_peer(&f, epoll, tcp, WAIT_BY_SOFTIRQ, "socket:[9]", "epoll 3: a socket <- sh");
	check_peer(&f, epoll, unix_path, WAIT_BY_THREAD, "unix 1234 /run/x.sock",
	           "epoll 3: unix /run/x.sock <- sh");
	check_peer(&f, epoll, unix_path, WAIT_BY_THREAD, "unix /run/x.sock 1234",
	           "epoll 3: unix /run/x.sock <- sh");
	check_peer(&f, epoll, pipe, WAIT_BY_THREAD, "pipe:[42]", "epoll 3: pipe:[42] <- sh");
	check_peer(&f, epoll, bell, WAIT_BY_THREAD, "anon_inode:[eventfd]",
	           "epoll 3: [eventfd] 5 <- sh");
	fixture_done(&f);
}

/* The number may belong to another file now, or the waker have had none. */
static void test_a_peer_that_is_not_known_is_not_named(void)
{
	uint32_t epoll, pipe, futex, timer, network, sent;
	struct fixture f;

	fixture_init(&f, false);
	epoll = PATH(&f, "serve", "__x64_sys_epoll_wait", "do_epoll_wait", "ep_poll");
	pipe = PATH(&f, "ask", "ksys_write", "vfs_write", "anon_pipe_write", "ep_poll_callback");
	futex = PATH(&f, "ask", "__x64_sys_futex", "futex_wake");
	timer = fixture_path(&f, "main", "|", "asm_sysvec_apic_timer_interrupt",
	                     "hrtimer_interrupt", "hrtimer_wakeup", "try_to_wake_up", NULL);
	network = fixture_path(&f, "main", "|", "ksys_write", "anon_pipe_write",
	                       "asm_common_interrupt", "irq_exit_rcu", "handle_softirqs",
	                       "net_rx_action", "tcp_v4_rcv", "tcp_data_ready", NULL);
	sent = fixture_path(&f, "main", "|", "ksys_write", "anon_pipe_write",
	                    "asm_common_interrupt", "irq_exit_rcu", "handle_softirqs", NULL);
	check_peer(&f, epoll, pipe, WAIT_BY_THREAD, "tcp 127.0.0.1:80 127.0.0.1:50000",
	           "epoll 3: a pipe <- sh");
	check_peer(&f, epoll, pipe, WAIT_BY_THREAD, NULL, "epoll 3: a pipe <- sh");
	check_peer(&f, epoll, futex, WAIT_BY_THREAD, "pipe:[42]", "descriptor 3");
	check_peer(&f, epoll, timer, WAIT_BY_INTERRUPT, "pipe:[42]", "epoll 3: timeout");
	check_peer(&f, epoll, network, WAIT_BY_SOFTIRQ, "pipe:[42]", "epoll 3: the network");
	check_peer(&f, epoll, sent, WAIT_BY_SOFTIRQ, "pipe:[42]", "descriptor 3");
	fixture_done(&f);
}

/* A lock in allocated memory has the function that waits longest for it. */
static void test_a_lock_without_a_variable_has_its_users(void)
{
	struct wait_log log = {0};
	struct wait_key key;
	struct fixture f;

	fixture_init(&f, false);
	key = key_of_call(&f,
	                  fixture_path(&f, "main", "cache_put", "pthread_mutex_lock", "|",
	                               "__x64_sys_futex", "futex_wait", NULL),
	                  0x5600100);
	add_wait(&log, &key, 5, ID_NONE);
	key.path = fixture_path(&f, "main", "cache_get", "pthread_mutex_lock", "|",
	                        "__x64_sys_futex", "futex_wait", NULL);
	add_wait(&log, &key, 20, ID_NONE);
	CHECK_STR(tell(&f, &log, &log.sums.items[0].key).name,
	          "mutex at 0x5600100, locked in cache_get");
	CHECK_STR(tell(&f, &log, &log.sums.items[1].key).name,
	          "mutex at 0x5600100, locked in cache_get");
	key.argument = 0x5600200;
	CHECK_STR(tell(&f, &log, &key).name, "mutex at 0x5600200");
	vec_done(&log.sums);
	vec_done(&log.waits);
	fixture_done(&f);
}

static void test_only_an_owner_is_a_holder(void)
{
	struct wait_key key;
	struct fixture f;
	uint32_t unlock;

	fixture_init(&f, false);
	unlock = PATH(&f, "pthread_mutex_unlock", "__x64_sys_futex", "futex_wake");
	key = key_by_sh(&f, WAIT_BY_THREAD,
	                PATH(&f, "pthread_mutex_lock", "__x64_sys_futex", "futex_wait"));
	check_evidence(&f, &key, unlock, EVIDENCE_UNLOCK);
	check_evidence(&f, &key, PATH(&f, "sem_post", "__x64_sys_futex", "futex_wake"),
	               EVIDENCE_NONE);
	/* A condition's wait unlocks its mutex; its signal shows no owner. */
	check_evidence(&f, &key,
	               fixture_path(&f, "main", "pthread_cond_wait", "pthread_mutex_unlock", "|",
	                            "__x64_sys_futex", "futex_wake", "try_to_wake_up", NULL),
	               EVIDENCE_UNLOCK);
	check_evidence(&f, &key, PATH(&f, "pthread_cond_signal", "__x64_sys_futex", "futex_wake"),
	               EVIDENCE_NONE);
	key.path = PATH(&f, "pthread_cond_wait", "__x64_sys_futex", "futex_wait");
	check_evidence(&f, &key, unlock, EVIDENCE_NONE);
	key.path = PATH(&f, "pthread_mutex_lock", "__x64_sys_futex", "futex_lock_pi");
	check_evidence(&f, &key,
	               PATH(&f, "pthread_mutex_unlock", "__x64_sys_futex", "futex_unlock_pi"),
	               EVIDENCE_PI);
	key.path = PATH(&f, "save", "ksys_write", "vfs_write", "down_write");
	check_evidence(&f, &key, PATH(&f, "save", "ksys_write", "up_write", "rwsem_wake"),
	               EVIDENCE_UNLOCK);
	fixture_done(&f);
}

/* The kernel's functions have no names here: the records of contended locks remain. */
static void test_records_of_contended_locks_are_evidence(void)
{
	struct wait_key key;
	struct fixture f;
	uint32_t waker;

	fixture_init(&f, false);
	key = key_by_sh(&f, WAIT_BY_THREAD,
	                fixture_path(&f, "main", "save", "|", "unheard_of", NULL));
	waker = fixture_path(&f, "main", "|", "unheard_of", NULL);
	CHECK_EQ(tell_waker(&f, key, waker).cause.kind, WAIT_OTHER);
	key.lock_flags = WAIT_LOCK_WRITE;
	CHECK_EQ(tell_waker(&f, key, waker).cause.kind, WAIT_LOCK);
	CHECK_STR(tell_waker(&f, key, waker).name, "kernel rwsem in unheard_of");
	check_evidence(&f, &key, waker, EVIDENCE_NONE);
	key.waker_owned = true; /* a signal may have ended the wait */
	check_evidence(&f, &key, waker, EVIDENCE_NONE);
	key.uninterruptible = true;
	check_evidence(&f, &key, waker, EVIDENCE_CONTENTION);
	CHECK_STR(wait_evidence_name(EVIDENCE_CONTENTION), "contention");
	check_evidence(&f, &key, PATH(&f, "save", "ksys_write", "up_write", "rwsem_wake"),
	               EVIDENCE_UNLOCK);
	fixture_done(&f);
}

static const char *leaf_of(struct fixture *f, uint32_t path)
{
	struct view *v = view_new(f->profile, f->symbols);
	struct wait_causes c;
	static char name[64];
	uint32_t leaf;

	wait_causes_init(&c, v);
	leaf = wait_path_leaf(&c, path);
	snprintf(name, sizeof(name), "%s", leaf == ID_NONE ? "" : view_function(v, leaf)->name);
	wait_causes_done(&c);
	view_free(v);
	return name;
}

static void test_interrupts_belong_to_the_interrupted_function(void)
{
	struct fixture f;

	fixture_init(&f, false);
	CHECK_STR(leaf_of(&f, fixture_path(&f, "main", "work", NULL)), "work");
	CHECK_STR(leaf_of(&f, fixture_path(&f, "main", "work", "|", "ksys_write", "copy", NULL)),
	          "copy");
	CHECK_STR(
	        leaf_of(&f, fixture_path(&f, "main", "work", "|", "asm_sysvec_apic_timer_interrupt",
	                                 "sysvec_apic_timer_interrupt", "schedule",
	                                 "finish_task_switch", NULL)),
	        "work");
	CHECK_STR(leaf_of(&f, fixture_path(&f, "main", "work", "|", "ksys_write", "copy",
	                                   "asm_common_interrupt", "common_interrupt", "driver",
	                                   "asm_sysvec_apic_timer_interrupt", "tick", NULL)),
	          "copy");
	CHECK_STR(leaf_of(&f, PATH_ROOT), "");
	fixture_done(&f);
}

static void test_an_interrupted_thread_is_no_waker(void)
{
	struct fixture f;

	fixture_init(&f, false);
	check_softirq(&f, false,
	              fixture_path(&f, "main", "compute", "|", "asm_common_interrupt",
	                           "irq_exit_rcu", "handle_softirqs", "tcp_v4_rcv", NULL));
	check_softirq(&f, false,
	              PATH(&f, "send_it", "tcp_sendmsg", "asm_common_interrupt", "irq_exit_rcu",
	                   "handle_softirqs", "net_rx_action", "tcp_v4_rcv"));
	fixture_done(&f);
}

/* Only the network's softirq below a send is that of the thread in which it ran. */
static void test_a_softirq_of_others_is_no_waker(void)
{
	struct fixture f;

	fixture_init(&f, false);
	check_softirq(&f, true,
	              PATH(&f, "send_it", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq",
	                   "handle_softirqs", "net_rx_action", "__napi_poll", "process_backlog",
	                   "tcp_v4_rcv"));
	check_softirq(&f, true,
	              PATH(&f, "send_it", "udp_sendmsg", "__dev_queue_xmit", "__local_bh_enable_ip",
	                   "do_softirq.part.0", "__do_softirq", "__napi_poll.constprop.0",
	                   "process_backlog", "udp_rcv"));
	/* A packet of another machine, received by a thread that sends one itself. */
	check_softirq(&f, false,
	              PATH(&f, "send_it", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq",
	                   "handle_softirqs", "net_rx_action", "__napi_poll", "virtnet_poll",
	                   "tcp_v4_rcv"));
	/* A packet that was received by a thread that sent none. */
	check_softirq(&f, false,
	              PATH(&f, "save", "ksys_write", "__local_bh_enable_ip", "do_softirq",
	                   "handle_softirqs", "net_rx_action", "tcp_v4_rcv"));
	/* The end of an I/O request, or a timer, below a send. */
	check_softirq(&f, false,
	              PATH(&f, "send_it", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq",
	                   "handle_softirqs", "blk_done_softirq", "blk_mq_end_request"));
	check_softirq(&f, false,
	              PATH(&f, "send_it", "tcp_sendmsg", "__local_bh_enable_ip", "do_softirq",
	                   "handle_softirqs", "run_timer_softirq", "call_timer_fn"));
	fixture_done(&f);
}

/* As rustc 1.95 names them, as earlier ones did, and names of no meaning. */
static void test_methods_of_rust_have_their_rules(void)
{
	static const struct {
		const char *function;
		enum wait_kind kind;
		const char *object;
	} waits[] = {
	        {"<std::sys::sync::mutex::futex::Mutex>::lock_contended", WAIT_LOCK, "Rust Mutex"},
	        {"std::sys::sync::mutex::futex::Mutex::lock_contended", WAIT_LOCK, "Rust Mutex"},
	        {"<std::sys::sync::rwlock::futex::RwLock>::read_contended", WAIT_LOCK,
	         "Rust RwLock"},
	        {"<std::sys::sync::condvar::futex::Condvar>::wait_optional_timeout", WAIT_CONDITION,
	         "Rust Condvar"},
	        {"<std::sys::sync::once::futex::Once>::call", WAIT_CONDITION, "Rust Once"},
	        {"<std::sync::barrier::Barrier>::wait", WAIT_CONDITION, "Rust Barrier"},
	        {"<std::thread::thread::Thread>::park", WAIT_CONDITION, "Rust thread::park"},
	        {"std::thread::functions::park_timeout", WAIT_CONDITION, "Rust thread::park"},
	        {"std::thread::park", WAIT_CONDITION, "Rust thread::park"},
	        {"<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::lock", WAIT_LOCK,
	         "Rust Mutex"},
	        {"<alloc::vec::Vec<fn() -> std::sys::Mutex>>::push", WAIT_KIND_NONE, NULL},
	        {"<std::sys::sync::mutex::futex::Mutex", WAIT_KIND_NONE, NULL},
	        {"<", WAIT_KIND_NONE, NULL},
	};
	char deep[2000] = {0};
	enum wait_kind kind;

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		const struct wait_rule *rule = wait_rule_user(waits[i].function);

		CHECK_EQ(rule ? rule->kind : WAIT_KIND_NONE, waits[i].kind);
		if (rule && waits[i].object)
			CHECK_STR(rule->object, waits[i].object);
	}
	CHECK_EQ(wait_release_user("<std::sys::sync::mutex::futex::Mutex>::wake", &kind),
	         RELEASE_RUNTIME_LOCK);
	CHECK_EQ(kind, WAIT_LOCK);
	CHECK_EQ(wait_release_user("<std::sys::sync::condvar::futex::Condvar>::notify_one", &kind),
	         RELEASE_RUNTIME_ANY);
	CHECK_EQ(kind, WAIT_CONDITION);
	memset(deep, '<', sizeof(deep) - 1);
	CHECK(!wait_rule_user(deep));
	memset(deep + 1, 'a', 1000);
	memset(deep + 1000, '>', sizeof(deep) - 1001);
	CHECK(!wait_rule_user(deep));
}

int main(void)
{
	RUN(test_methods_of_rust_have_their_rules);
	RUN(test_kernel_functions_tell_the_kind);
	RUN(test_files_devices_and_faults_are_apart);
	RUN(test_user_functions_tell_what_a_futex_is);
	RUN(test_a_waker_tells_what_a_futex_without_names_is);
	RUN(test_descriptors_have_names);
	RUN(test_a_name_of_another_kind_is_not_shown);
	RUN(test_an_epoll_wait_has_the_file_of_its_waker);
	RUN(test_a_peer_that_is_not_known_is_not_named);
	RUN(test_a_lock_without_a_variable_has_its_users);
	RUN(test_only_an_owner_is_a_holder);
	RUN(test_records_of_contended_locks_are_evidence);
	RUN(test_interrupts_belong_to_the_interrupted_function);
	RUN(test_an_interrupted_thread_is_no_waker);
	RUN(test_a_softirq_of_others_is_no_waker);
	return check_end();
}
