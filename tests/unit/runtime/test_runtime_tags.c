/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device of a real process, with inline triggers as the compiler's plugin writes them:
 * registers and memory around a trigger are preserved, and the file has all events. The program
 * executes itself once for each case, with the necessary environment.
 */
#include "assay/tags.h"
#include "assay/tags_wire.h"
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __x86_64__

extern __thread struct assay_tags_self *assay_tags_self __attribute__((tls_model("initial-exec")));
extern const char assay_tags_image __attribute__((visibility("hidden")));

/* Names in the form in which the plugin writes them. */
__asm__(".section assay_tags_names, \"a\"\n\t.ascii \"f/2\\ng/4\\nswtch/6!\\n\"\n\t.text");

/* The sequence of assay/tags_wire.h; R and S are %r8 and %r9. */
#define SEQUENCE(tag)                                                                              \
	"mov assay_tags_self@gottpoff(%%rip), %%r9\n\t"                                            \
	"mov %%fs:(%%r9), %%r9\n\t"                                                                \
	"rdtsc\n\t"                                                                                \
	"shl $32, %%rdx\n\t"                                                                       \
	"or %%rdx, %%rax\n\t"                                                                      \
	"mov $8, %%r8d\n\t"                                                                        \
	"xadd %%r8, (%%r9)\n\t"                                                                    \
	"lea -0x40000000(%%r8), %%rdx\n\t"                                                         \
	"sub 8(%%r9), %%rdx\n\t"                                                                   \
	"cmp $16000, %%rdx\n\t"                                                                    \
	"jae 9f\n\t"                                                                               \
	"mov %%rax, %%rdx\n\t"                                                                     \
	"shr $40, %%rdx\n\t"                                                                       \
	"cmp %%rdx, 16(%%r9)\n\t"                                                                  \
	"jne 9f\n\t"                                                                               \
	"shl $24, %%rax\n\t"                                                                       \
	"or $" #tag ", %%rax\n\t"                                                                  \
	"cmp -8(%%r8), %%rax\n\t"                                                                  \
	"jb 9f\n\t"                                                                                \
	"mov %%rax, (%%r8)\n"                                                                      \
	"8:\n\t"                                                                                   \
	".subsection 1\n"                                                                          \
	"9:\tmov %%r8, %%rdx\n\t"                                                                  \
	"lea 1f(%%rip), %%rax\n\t"                                                                 \
	"jmp *assay_tags_slow@GOTPCREL(%%rip)\n"                                                   \
	"1:\t.long " #tag ", 8b - 1b\n\t"                                                          \
	".previous\n\t"

#define EVENT(tag) __asm__ volatile(SEQUENCE(tag) : : : "rax", "rdx", "r8", "r9", "cc", "memory")

struct registers {
	unsigned long general[12]; /* rbx rcx rsi rdi rbp r10..r15 and the red zone's last */
	unsigned char vectors[16][32];
};

static struct registers before, after;
static bool has_avx;

#define LOAD_XMM(n) "movdqu %c[v] + 32 * " #n "(%%rax), %%xmm" #n "\n\t"
#define LOAD_YMM(n) "vmovdqu %c[v] + 32 * " #n "(%%rax), %%ymm" #n "\n\t"
#define STORE_XMM(n) "movdqu %%xmm" #n ", %c[v] + 32 * " #n "(%%rax)\n\t"
#define STORE_YMM(n) "vmovdqu %%ymm" #n ", %c[v] + 32 * " #n "(%%rax)\n\t"
#define ALL(op)                                                                                    \
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)    \
	        op(14) op(15)

#define GENERAL_LOAD                                                                               \
	"mov (%%rax), %%rbx\n\tmov 8(%%rax), %%rcx\n\tmov 16(%%rax), %%rsi\n\t"                    \
	"mov 24(%%rax), %%rdi\n\tmov 32(%%rax), %%r10\n\tmov 40(%%rax), %%r11\n\t"                 \
	"mov 48(%%rax), %%r12\n\tmov 56(%%rax), %%r13\n\tmov 64(%%rax), %%r14\n\t"                 \
	"mov 72(%%rax), %%r15\n\tmov 80(%%rax), %%rbp\n\t"                                         \
	"mov 88(%%rax), %%rdx\n\tmov %%rdx, -8(%%rsp)\n\tmov %%rdx, -128(%%rsp)\n\t"
#define GENERAL_STORE                                                                              \
	"lea after(%%rip), %%rax\n\t"                                                              \
	"mov %%rbx, (%%rax)\n\tmov %%rcx, 8(%%rax)\n\tmov %%rsi, 16(%%rax)\n\t"                    \
	"mov %%rdi, 24(%%rax)\n\tmov %%r10, 32(%%rax)\n\tmov %%r11, 40(%%rax)\n\t"                 \
	"mov %%r12, 48(%%rax)\n\tmov %%r13, 56(%%rax)\n\tmov %%r14, 64(%%rax)\n\t"                 \
	"mov %%r15, 72(%%rax)\n\tmov %%rbp, 80(%%rax)\n\t"                                         \
	"mov -8(%%rsp), %%rdx\n\tmov %%rdx, 88(%%rax)\n\t"                                         \
	"cmp %%rdx, -128(%%rsp)\n\tje 7f\n\tmovq $0, 88(%%rax)\n7:\t"

/*
 * The memory below the frame is not used: rsp moves down by a page first, because of the red zone.
 */
#define AROUND(load, store)                                                                        \
	__asm__ volatile("sub $4096, %%rsp\n\tpush %%rbp\n\t"                                      \
	                 "lea before(%%rip), %%rax\n\t" GENERAL_LOAD load SEQUENCE(2)              \
	                         GENERAL_STORE store "pop %%rbp\n\tadd $4096, %%rsp"               \
	                 :                                                                         \
	                 : [v] "i"(offsetof(struct registers, vectors))                            \
	                 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11",     \
	                   "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",     \
	                   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",      \
	                   "xmm13", "xmm14", "xmm15", "cc", "memory")

__attribute__((target("avx"), noinline)) static void around_avx(void)
{
	AROUND(ALL(LOAD_YMM), ALL(STORE_YMM));
}

__attribute__((noinline)) static void around_sse(void)
{
	AROUND(ALL(LOAD_XMM), ALL(STORE_XMM));
}

/*
 * All registers that a trigger must preserve have random values; returns how often one was changed.
 */
static int changes(void)
{
	size_t size = has_avx ? sizeof(before) : sizeof(before.general);

	for (size_t i = 0; i < sizeof(before); i++)
		((unsigned char *)&before)[i] = (unsigned char)rand();
	memset(&after, 0, sizeof(after));
	if (has_avx)
		around_avx();
	else
		around_sse();
	for (int i = 0; i < 16 && !has_avx; i++)
		if (memcmp(before.vectors[i], after.vectors[i], 16))
			return 1;
	return memcmp(&before, &after, size) != 0;
}

static void run_kept(void)
{
	int bad = changes(); /* the thread's first event */

	for (int i = 0; i < 200; i++) {
		if (i % 3 == 1)
			assay_tags_self->turn ^= 1; /* a new packet */
		if (i % 40 == 20)
			assay_tags_stop();
		if (i % 40 == 30)
			assay_tags_start();
		if (i % 40 == 21)
			assay_tags_self->base = 0;
		bad += changes();
	}
	exit(bad != 0);
}

static void on_tick(int number)
{
	(void)number;
	EVENT(4);
	EVENT(5);
}

static void run_signals(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct itimerval often = {{0, 50}, {0, 50}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < 300000; i++) {
		EVENT(2);
		EVENT(3);
	}
}

static void *thread_work(void *n)
{
	for (long i = 0; i < (long)n; i++) {
		EVENT(2);
		assay_tags_event(3);
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[4];

	for (int round = 0; round < 50; round++) {
		for (long i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, thread_work, (void *)(100 + i));
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
}

static void run_forks(void)
{
	int status;

	thread_work((void *)1000);
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			thread_work((void *)10);
			_exit(0);
		}
		wait(&status);
	}
	thread_work((void *)1000);
}

static void run_killed(void)
{
	thread_work((void *)12345);
	raise(SIGKILL);
}

static void run_off(void)
{
	thread_work((void *)500);
	assay_tags_start();
	thread_work((void *)7);
}

/*
 * The slot of a trigger was reserved before a handler opened the packet: its event is appended to
 * those of the handler. Registers as in SEQUENCE, from its slow path on.
 */
#define LATE_EVENT(tag)                                                                            \
	__asm__ volatile("mov $8, %%edx\n\t"                                                       \
	                 "lea 1f(%%rip), %%rax\n\t"                                                \
	                 "jmp *assay_tags_slow@GOTPCREL(%%rip)\n"                                  \
	                 "1:\t.long " #tag ", 8f - 1b\n"                                           \
	                 "8:\n\t"                                                                  \
	                 :                                                                         \
	                 :                                                                         \
	                 : "rax", "rdx", "r8", "r9", "cc", "memory")

static uint64_t word_before(int count)
{
	return ((const uint64_t *)(uintptr_t)assay_tags_self->at)[-count];
}

/*
 * The clock of another CPU was ahead: the last event is later than now. No event is put before it,
 * on the fast or the slow path.
 */
static void run_ahead(void)
{
	uint64_t *last, now, left, ahead;
	int bad = 0;

	EVENT(2);
	last = (uint64_t *)(uintptr_t)assay_tags_self->at - 1;
	now = *last >> ASSAY_TAGS_TAG_BITS;
	left = ASSAY_TAGS_CLOCK_MASK - now;
	/* Seconds later, but before the clock wraps. */
	ahead = now + (left / 2 < 1ull << 34 ? left / 2 : 1ull << 34);
	*last = ahead << ASSAY_TAGS_TAG_BITS | 3;
	LATE_EVENT(4);
	bad |= word_before(1) != (ahead << ASSAY_TAGS_TAG_BITS | 4) || word_before(2) != *last;
	EVENT(5);
	bad |= (word_before(1) != (ahead << ASSAY_TAGS_TAG_BITS | 5)) << 1;
	/* If the clock is not behind, the event has its own time. */
	*last = word_before(1) - ((ahead - now) << ASSAY_TAGS_TAG_BITS);
	for (int i = 1; i <= 2; i++)
		((uint64_t *)(uintptr_t)assay_tags_self->at)[-i] = *last;
	LATE_EVENT(4);
	bad |= (word_before(1) >> ASSAY_TAGS_TAG_BITS <= now) << 2;
	exit(bad);
}

/* The contents of all files of a directory. */
struct found {
	unsigned files, rings, forked, gaps;
	unsigned long events, tags[8], back, holes, discarded;
	char text[64];
};

static void count_packet(struct found *f, const struct assay_tags_packet *p)
{
	const uint64_t *word = (const uint64_t *)(p + 1);
	size_t count = (ASSAY_TAGS_PACKET - sizeof(*p)) / 8;
	uint64_t last = 0;

	while (count && !word[count - 1])
		count--;
	f->forked += (p->flags & ASSAY_TAGS_FORKED) != 0;
	f->gaps += (p->flags & ASSAY_TAGS_GAP) != 0;
	for (size_t i = 0; i < count; i++) {
		uint32_t tag = word[i] & ASSAY_TAGS_TAG_MASK;

		f->holes += !word[i];
		if (!word[i])
			continue;
		f->back += word[i] >> ASSAY_TAGS_TAG_BITS < last;
		last = word[i] >> ASSAY_TAGS_TAG_BITS;
		if (tag >= ASSAY_TAG_RESERVED)
			continue;
		f->events++;
		f->tags[tag & 7]++;
	}
}

static void count_file(struct found *f, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	const struct assay_tags_header *h;
	const char *at;

	fstat(fd, &st);
	CHECK_EQ(st.st_mode & 0777, 0600);
	at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	h = (const void *)at;
	if (at == MAP_FAILED || memcmp(h->magic, ASSAY_TAGS_MAGIC, 8)) {
		CHECK(!"a file of tags");
		return;
	}
	f->files++;
	f->rings += (unsigned)h->ring_count;
	f->discarded += h->discarded;
	for (uint64_t i = 0; i < h->ring_count; i++)
		f->discarded +=
		        ((const struct assay_tags_ring *)(at + h->rings_offset))[i].discarded;
	for (uint64_t i = 0; i < h->packet_count; i++) {
		const void *p = at + h->packets_offset + i * ASSAY_TAGS_PACKET;

		if (((const struct assay_tags_packet *)p)->magic == ASSAY_CTF_MAGIC)
			count_packet(f, p);
	}
	snprintf(f->text, sizeof(f->text), "%.*s", (int)h->text_bytes, at + h->text_offset);
	munmap((void *)at, (size_t)st.st_size);
}

static const char *self;

/* Runs a case in its own directory; returns its wait status. */
static int run_case(const char *name, const char *variable, struct found *f)
{
	char directory[] = "/tmp/assay-tags-XXXXXX", path[400];
	struct dirent *entry;
	int status = -1;
	DIR *d;

	memset(f, 0, sizeof(*f));
	if (!mkdtemp(directory))
		return -1;
	if (fork() == 0) {
		setenv("ASSAY_TAGS_DIR", directory, 1);
		if (variable)
			putenv((char *)variable);
		execl(self, self, name, NULL);
		_exit(99);
	}
	wait(&status);
	d = opendir(directory);
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
		count_file(f, path);
		unlink(path);
	}
	closedir(d);
	rmdir(directory);
	return status;
}

static void triggers_keep_what_is_around_them(void)
{
	struct found f;

	CHECK_EQ(run_case("kept", NULL, &f), 0);
	CHECK_EQ(f.back, 0);
	CHECK_STR(f.text, "f/2\ng/4\nswtch/6!\n");
}

static void signals_lose_nothing_and_put_no_time_back(void)
{
	struct found f;

	CHECK_EQ(run_case("signals", "ASSAY_TAGS_MEM=64M", &f), 0);
	CHECK_EQ(f.tags[2], 300000);
	CHECK_EQ(f.tags[3], 300000);
	CHECK(f.tags[4] > 10);
	CHECK_EQ(f.tags[4], f.tags[5]);
	CHECK_EQ(f.back, 0);
	CHECK_EQ(f.holes, 0);
	CHECK_EQ(f.discarded, 0);
}

static void a_clock_that_is_behind_puts_no_time_back(void)
{
	struct found f;

	CHECK_EQ(run_case("ahead", NULL, &f), 0);
	CHECK_EQ(f.back, 0);
	CHECK_EQ(f.tags[4], 1);
}

static void threads_share_rings_one_after_the_other(void)
{
	struct found f;

	CHECK_EQ(run_case("threads", NULL, &f), 0);
	CHECK_EQ(f.tags[2], 50 * (100 + 101 + 102 + 103));
	CHECK_EQ(f.tags[3], f.tags[2]);
	CHECK(f.rings <= 8);
	CHECK_EQ(f.discarded, 0);
}

static void full_rings_are_counted(void)
{
	struct found f;

	CHECK_EQ(run_case("forks", "ASSAY_TAGS_MEM=64k", &f), 0);
	CHECK_EQ(f.files, 4);
	CHECK_EQ(f.events + f.discarded, 4 * 1000 + 3 * 20);
	CHECK_EQ(run_case("signals", "ASSAY_TAGS_MEM=64k", &f), 0);
	CHECK_EQ(f.tags[2] + f.tags[3] + f.tags[4] + f.tags[5], f.events);
	CHECK(f.events + f.discarded >= 600000);
}

static void a_forked_child_has_its_own_file(void)
{
	struct found f;

	CHECK_EQ(run_case("forks", NULL, &f), 0);
	CHECK_EQ(f.files, 4);
	CHECK_EQ(f.forked, 3);
	CHECK_EQ(f.tags[2], 2030);
	CHECK_EQ(f.tags[3], 2030);
	CHECK_STR(f.text, "f/2\ng/4\nswtch/6!\n");
}

static void a_killed_process_leaves_all_events(void)
{
	struct found f;

	CHECK(WIFSIGNALED(run_case("killed", NULL, &f)));
	CHECK_EQ(f.tags[2], 12345);
	CHECK_EQ(f.tags[3], 12345);
}

static void off_until_it_is_switched_on(void)
{
	struct found f;

	CHECK_EQ(run_case("off", "ASSAY_TAGS_START=off", &f), 0);
	CHECK_EQ(f.events, 14);
	CHECK_EQ(f.gaps, 1);
	CHECK_EQ(f.discarded, 0);
}

static void where_there_is_no_room_programs_run(void)
{
	struct found f;
	struct rlimit was, none = {0, 0};

	getrlimit(RLIMIT_FSIZE, &was);
	none.rlim_max = was.rlim_max;
	fflush(stdout);
	setrlimit(RLIMIT_FSIZE, &none);
	CHECK_EQ(run_case("off", NULL, &f), 0);
	setrlimit(RLIMIT_FSIZE, &was);
	CHECK_EQ(f.files, 0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} cases[] = {{"kept", run_kept},       {"signals", run_signals}, {"ahead", run_ahead},
	             {"threads", run_threads}, {"forks", run_forks},     {"killed", run_killed},
	             {"off", run_off}};
	const char *volatile image = &assay_tags_image;

	(void)image;
	has_avx = __builtin_cpu_supports("avx");
	for (size_t i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(argv[1], cases[i].name)) {
			cases[i].run();
			return 0;
		}
	self = "/proc/self/exe";
	RUN(triggers_keep_what_is_around_them);
	RUN(signals_lose_nothing_and_put_no_time_back);
	RUN(a_clock_that_is_behind_puts_no_time_back);
	RUN(threads_share_rings_one_after_the_other);
	RUN(full_rings_are_counted);
	RUN(a_forked_child_has_its_own_file);
	RUN(a_killed_process_leaves_all_events);
	RUN(off_until_it_is_switched_on);
	RUN(where_there_is_no_room_programs_run);
	return check_end();
}

#else

int main(void)
{
	printf("1..0 # SKIP inline triggers are for x86-64\n");
	return 0;
}

#endif
