/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "profile/path_cache.h"
#include "profile/profile_builder.h"

#include <linux/perf_event.h>
#include <time.h>

#define KERNEL_IP 0xffffffff81001000u
#define USER_IP 0x401000u

struct play {
	struct profile *profile;
	struct recording *recording;
	struct profile_builder *builder;
	struct event_sink sink;
};

static void play_begin(struct play *p, struct profile *profile)
{
	static const enum attr_role roles[] = {ATTR_CLOCK, ATTR_COUNT, ATTR_WITNESS, ATTR_TRACK};
	static const char *const names[] = {"cpu-clock", "page-faults", "cpu-clock", "dummy"};

	p->profile = profile;
	p->recording = xcalloc(1, sizeof(*p->recording));
	recording_init(p->recording);
	vec_push(&profile->recordings, p->recording);
	for (size_t i = 0; i < 4; i++) {
		struct recording_attr attr = {.role = roles[i], .name = xstrdup(names[i])};

		attr.period_ns = roles[i] == ATTR_CLOCK ? 1000000 : 0;
		attr.sample_type = roles[i] == ATTR_COUNT ? PERF_SAMPLE_ADDR : 0;
		vec_push(&p->recording->attrs, attr);
	}
	p->builder = profile_builder_new(profile, NULL);
	p->sink = profile_builder_sink(p->builder);
	p->sink.begin(p->sink.ctx, p->recording, NULL);
}

static void play_end(struct play *p)
{
	p->sink.end(p->sink.ctx, p->recording, NULL);
	profile_builder_free(p->builder);
}

static void put(struct play *p, struct event e)
{
	p->sink.event(p->sink.ctx, &e, NULL);
}

static void put_map(struct play *p, int32_t pid, uint64_t addr, uint64_t size, const char *name)
{
	struct event e = {.kind = EVENT_MMAP, .mode = CPU_MODE_USER, .pid = pid, .tid = pid};

	e.mmap.addr = addr;
	e.mmap.size = size;
	e.mmap.filename = name;
	put(p, e);
}

static struct event sample_event(int32_t pid, enum cpu_mode mode, uint64_t ip,
                                 const uint64_t *chain, uint32_t count)
{
	return (struct event){
	        .kind = EVENT_SAMPLE,
	        .mode = mode,
	        .pid = pid,
	        .tid = pid,
	        .sample = {.ip = ip, .period = 1000000, .chain = chain, .chain_count = count}};
}

/* The path as text, innermost first: image offset and flags, k for kernel, c for a caller. */
static const char *path_text(const struct profile *p, uint32_t path, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (; path != PATH_ROOT && used < size; path = p->paths.items[path].parent) {
		const struct profile_frame *f = &p->frames.items[p->paths.items[path].frame];

		used += (size_t)snprintf(text + used, size - used, "%s%llx%s%s", used ? " " : "",
		                         (unsigned long long)f->frame.offset, f->kernel ? "k" : "",
		                         f->caller ? "c" : "");
	}
	return text;
}

static void check_path(enum cpu_mode mode, uint64_t ip, const uint64_t *chain, uint32_t count,
                       const char *want)
{
	struct play p;
	char text[256];

	play_begin(&p, profile_new());
	put_map(&p, 10, 0x400000, 0x10000, "/bin/a");
	put(&p, sample_event(10, mode, ip, chain, count));
	play_end(&p);
	CHECK_EQ(p.profile->rows.count, 1);
	CHECK_STR(path_text(p.profile, p.profile->rows.items[0].path, text, sizeof(text)), want);
	profile_free(p.profile);
}

static void chains_become_paths(void)
{
	static const uint64_t user[] = {CHAIN_CONTEXT_USER, 0x401000, 0x402000, 0x403000};
	static const uint64_t both[] = {CHAIN_CONTEXT_KERNEL, KERNEL_IP, KERNEL_IP + 16,
	                                CHAIN_CONTEXT_USER,   0x401000,  0x402000};
	static const uint64_t only_user[] = {CHAIN_CONTEXT_USER, 0x401000, 0x402000};
	static const uint64_t precise[] = {CHAIN_CONTEXT_USER, 0x401004, 0x402000};

	check_path(CPU_MODE_USER, 0x401000, user, 4, "1000 2000c 3000c");
	check_path(CPU_MODE_KERNEL, KERNEL_IP, both, 6,
	           "ffffffff81001000k ffffffff81001010kc 1000 2000c");
	check_path(CPU_MODE_USER, 0x401000, NULL, 0, "1000");
	check_path(CPU_MODE_KERNEL, KERNEL_IP, only_user, 3, "ffffffff81001000k 1000 2000c");
	check_path(CPU_MODE_USER, 0x401000, precise, 3, "1000 2000c");
}

static void hostile_chains(void)
{
	static const uint64_t marks[] = {CHAIN_CONTEXT_USER, CHAIN_CONTEXT_KERNEL,
	                                 CHAIN_CONTEXT_HYPERVISOR, (uint64_t)-2048};
	static const uint64_t deferred[] = {CHAIN_CONTEXT_KERNEL, KERNEL_IP, (uint64_t)-640,
	                                    0x1234};
	enum { HUGE_CHAIN = 100000 };
	uint64_t *huge = xcalloc(HUGE_CHAIN, sizeof(*huge));
	struct play p;
	uint32_t depth = 0;

	check_path(CPU_MODE_USER, 0x401000, marks, 4, "1000");
	check_path(CPU_MODE_KERNEL, KERNEL_IP, deferred, 4, "ffffffff81001000k");
	for (size_t i = 0; i < HUGE_CHAIN; i++)
		huge[i] = 0x400000 + i;
	play_begin(&p, profile_new());
	put(&p, sample_event(10, CPU_MODE_USER, 0x400000, huge, HUGE_CHAIN));
	put(&p, sample_event(10, CPU_MODE_USER, 0x400000, huge, HUGE_CHAIN));
	put(&p, (struct event){.kind = EVENT_SAMPLE, .attr = 77, .cpu = UINT32_MAX, .pid = -1});
	put(&p, (struct event){.kind = EVENT_LOST, .cpu = 123456});
	put(&p, (struct event){.kind = EVENT_OTHER});
	play_end(&p);
	CHECK_EQ(p.profile->rows.count, 2);
	CHECK_EQ(p.profile->rows.items[0].samples, 2);
	for (uint32_t path = p.profile->rows.items[0].path; path; depth++)
		path = p.profile->paths.items[path].parent;
	CHECK_EQ(depth, CHAIN_FRAMES);
	profile_free(p.profile);
	free(huge);
}

/* What was cached of a process's maps is not used after they changed. */
static void maps_change_under_the_cache(void)
{
	static const uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x401000, 0x402000};
	struct play p;
	const struct profile *profile;

	play_begin(&p, profile_new());
	profile = p.profile;
	put_map(&p, 10, 0x400000, 0x10000, "/bin/a");
	put(&p, sample_event(10, CPU_MODE_USER, 0x401000, chain, 3));
	put_map(&p, 10, 0x401000, 0x1000, "/bin/b");
	put(&p, sample_event(10, CPU_MODE_USER, 0x401000, chain, 3));
	put(&p, sample_event(11, CPU_MODE_USER, 0x401000, chain, 3));
	play_end(&p);
	CHECK_EQ(profile->rows.count, 3);
	for (size_t i = 0; i < profile->rows.count; i++) {
		static const char *const want[] = {"/bin/a", "/bin/b", "[unknown]"};
		uint32_t frame = profile->paths.items[profile->rows.items[i].path].frame;

		CHECK_STR(image_path(&profile->images, profile->frames.items[frame].frame.image),
		          want[i]);
	}
	profile_free(p.profile);
}

static void rows_events_and_modes(void)
{
	struct play p;
	struct event e = sample_event(0, CPU_MODE_KERNEL, KERNEL_IP, NULL, 0);

	play_begin(&p, profile_new());
	put_map(&p, 10, 0x400000, 0x10000, "/bin/a");
	put_map(&p, 10, 0x600000, 0x1000, "[heap]");
	put(&p, e);
	e.pid = e.tid = 10;
	put(&p, e);
	e.cpu = 1;
	put(&p, e);
	e.mode = CPU_MODE_USER;
	e.attr = 1;
	e.sample = (struct event_sample){.ip = USER_IP, .addr = 0x600800, .period = 3};
	put(&p, e);
	e.sample.addr = 0x999999;
	put(&p, e);
	e.attr = 2;
	put(&p, e);
	e.attr = 3; /* carries no samples that count */
	put(&p, e);
	play_end(&p);
	CHECK_EQ(p.profile->events.count, 4);
	CHECK_EQ(profile_main_event(p.profile), 0);
	CHECK_EQ(p.profile->events.items[2].role, ATTR_WITNESS);
	CHECK_EQ(p.profile->rows.count, 6);
	CHECK_EQ(p.profile->rows.items[0].mode, PROFILE_IDLE);
	CHECK_EQ(p.profile->rows.items[1].mode, PROFILE_KERNEL);
	CHECK_EQ(p.profile->rows.items[2].cpu, 1);
	CHECK_EQ(p.profile->rows.items[3].mode, PROFILE_USER);
	CHECK_EQ(p.profile->rows.items[3].weight, 3);
	CHECK_STR(image_path(&p.profile->images, p.profile->rows.items[3].region), "[heap]");
	CHECK_STR(image_path(&p.profile->images, p.profile->rows.items[4].region), "[unknown]");
	CHECK_EQ(p.profile->rows.items[5].event, 2);
	CHECK_EQ(p.profile->rows.items[5].region, REGION_NONE);
	CHECK_EQ(p.profile->events.items[0].samples, 3);
	CHECK_EQ(p.profile->events.items[1].weight, 6);
	CHECK_EQ(p.profile->sequences.count, 4);
	CHECK_EQ(p.profile->sequences.items[0].rows.count, 2);
	profile_free(p.profile);
}

/* The same pid in two recordings is two processes; events of one name are one. */
static void two_recordings(void)
{
	struct profile *profile = profile_new();
	struct play p;

	for (int i = 0; i < 2; i++) {
		struct event comm = {.kind = EVENT_COMM, .pid = 10, .tid = 10};

		play_begin(&p, profile);
		comm.comm.name = i ? "second" : "first";
		put(&p, comm);
		put_map(&p, 10, 0x400000, 0x10000, "/bin/a");
		put(&p, sample_event(10, CPU_MODE_USER, USER_IP, NULL, 0));
		play_end(&p);
	}
	CHECK_EQ(profile->rows.count, 2);
	CHECK_EQ(profile->rows.items[0].path, profile->rows.items[1].path);
	CHECK(profile->rows.items[0].thread != profile->rows.items[1].thread);
	CHECK_EQ(profile->events.count, 4);
	CHECK_EQ(profile->events.items[0].samples, 2);
	CHECK_EQ(profile->sequences.count, 2);
	CHECK_EQ(profile->sequences.items[1].recording, 1);
	CHECK_EQ(process_table_process_count(profile->processes), 2);
	profile_free(profile);
}

/* A million samples of 30 frames on thousands of paths; a figure, and a generous bound. */
static void fast_enough(void)
{
	enum { SAMPLES = 1000000, DEPTH = 30 };
	uint64_t chain[DEPTH + 1] = {CHAIN_CONTEXT_USER};
	struct timespec from, to;
	struct play p;
	double seconds;
	uint32_t seed = 1;

	play_begin(&p, profile_new());
	for (uint64_t i = 0; i < 100; i++)
		put_map(&p, 10, 0x400000 + i * 0x20000, 0x10000, "/bin/a");
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (int n = 0; n < SAMPLES; n++) {
		struct event e;

		seed = seed * 1664525 + 1013904223;
		for (uint32_t i = 0; i < DEPTH; i++)
			chain[1 + i] = 0x400000 + (DEPTH - i) * 0x20000 +
			               (i < 10 ? (seed >> (22 - i)) % 4 : 0);
		e = sample_event(10, CPU_MODE_USER, chain[1], chain, DEPTH + 1);
		e.time_ns = 1000 + (uint64_t)n * 1000000;
		put(&p, e);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	play_end(&p);
	seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
	printf("# %.2f million samples a second, %zu rows, %zu paths\n", SAMPLES / seconds / 1e6,
	       p.profile->rows.count, p.profile->paths.count);
	CHECK(seconds < 30);
	CHECK_EQ(p.profile->events.items[0].samples, SAMPLES);
	profile_free(p.profile);
}

int main(void)
{
	RUN(chains_become_paths);
	RUN(hostile_chains);
	RUN(maps_change_under_the_cache);
	RUN(rows_events_and_modes);
	RUN(two_recordings);
	RUN(fast_enough);
	return check_end();
}
