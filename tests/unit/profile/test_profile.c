/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "profile/stack/path_cache.h"
#include "profile/profile_builder.h"

#include <linux/perf_event.h>
#include <sched.h>
#include <time.h>

#define KERNEL_IP 0xffffffff81001000u
#define USER_IP 0x401000u

struct play {
	struct profile *profile;
	struct recording *recording;
	struct profile_builder *builder;
	struct event_sink sink;
};

static void play_begin_with(struct play *p, struct profile *profile,
                            const struct profile_builder_options *options)
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
	p->builder = profile_builder_new(profile, options);
	p->sink = profile_builder_sink(p->builder);
	p->sink.begin(p->sink.ctx, p->recording, NULL);
}

static void play_begin(struct play *p, struct profile *profile)
{
	play_begin_with(p, profile, &(struct profile_builder_options){.time_axis = true});
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

/* Cached mappings of a process are not used after they changed. */
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
	e.attr = 3; /* has no samples that count */
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
	CHECK_EQ(p.profile->axis.tracks.count, 4);
	CHECK_EQ(p.profile->axis.tracks.items[1].cpu, 1);
	profile_free(p.profile);
}

/* The same pid in two recordings is two processes; events with one name are merged. */
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
	CHECK_EQ(profile->axis.tracks.count, 2);
	CHECK_EQ(profile->axis.tracks.items[1].recording, 1);
	CHECK_EQ(process_table_process_count(profile->processes), 2);
	profile_free(profile);
}

/* Each recording has its own windows, which begin at its start. */
static void windows_of_two_recordings(void)
{
	enum { WINDOW = 1000 };
	static const uint64_t starts[] = {50000, 7000};
	const struct profile_builder_options options = {.window_ns = WINDOW};
	struct profile *profile = profile_new();
	struct play p;

	for (int i = 0; i < 2; i++) {
		struct event e = sample_event(10, CPU_MODE_USER, USER_IP, NULL, 0);

		play_begin_with(&p, profile, &options);
		e.time_ns = starts[i];
		put(&p, e);
		e.time_ns = starts[i] + 2 * WINDOW;
		put(&p, e);
		put(&p, e);
		play_end(&p);
	}
	CHECK_EQ(profile->windows.count, 6);
	for (size_t i = 0; i < profile->windows.count; i++) {
		const struct profile_span *span = &profile->windows.items[i];

		CHECK_EQ(span->recording, i / 3);
		CHECK_EQ(span->start_ns, starts[i / 3] + i % 3 * WINDOW);
		CHECK_EQ(span->end_ns, span->start_ns + WINDOW);
	}
	CHECK_EQ(profile->rows.count, 4);
	for (size_t i = 0; i < profile->rows.count; i++) {
		static const uint32_t windows[] = {0, 2, 3, 5};

		CHECK_EQ(profile->rows.items[i].window, windows[i % 4]);
		CHECK_EQ(profile->rows.items[i].samples, 1 + i % 2);
	}
	profile_free(profile);
}

/*
 * A million samples of 30 frames on thousands of paths; prints the rate, and has a generous bound.
 */
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

static void put_outer(struct play *p, uint32_t id, uint32_t parent, const uint64_t *addresses,
                      uint32_t count)
{
	struct event e = {.kind = EVENT_OUTER_STACK};

	e.outer_stack.id = id;
	e.outer_stack.parent = parent;
	e.outer_stack.addresses = addresses;
	e.outer_stack.count = count;
	put(p, e);
}

static uint32_t depth_of(const struct profile *p, uint32_t path)
{
	uint32_t depth = 0;

	for (; path != PATH_ROOT; path = p->paths.items[path].parent)
		depth++;
	return depth;
}

/*
 * A stack of 20000 frames in parts: each part is defined once, and a sample has only its inner
 * frames.
 */
static void outer_stacks(void)
{
	enum { PART = 1000, PARTS = 20, SAMPLES = 20000 };
	static const uint64_t inner[] = {CHAIN_CONTEXT_USER, 0x401000, 0x402000};
	uint64_t part[PART];
	struct event e = sample_event(10, CPU_MODE_USER, 0x401000, inner, 3);
	const struct profile_row *row;
	struct play p;
	char text[64];

	play_begin(&p, profile_new());
	put_map(&p, 10, 0x400000, 0x100000, "/bin/a");
	for (uint32_t i = 0; i < PARTS; i++) {
		for (uint32_t k = 0; k < PART; k++)
			part[k] = 0x410000 + (uint64_t)i * PART + k;
		put_outer(&p, 100 + i, i ? 99 + i : 0, part, PART);
	}
	e.sample.outer = 99 + PARTS;
	e.sample.stack_end = STACK_STITCHED;
	for (uint32_t i = 0; i < SAMPLES; i++)
		put(&p, e);
	e.sample.outer = 100;
	put(&p, e);
	e.sample.outer = 4242; /* not defined */
	put(&p, e);
	play_end(&p);
	CHECK_EQ(p.profile->rows.count, 3);
	row = p.profile->rows.items;
	CHECK_EQ(row[0].samples, SAMPLES);
	CHECK_EQ(row[0].stack_end, STACK_STITCHED);
	CHECK_EQ(depth_of(p.profile, row[0].path), PART * PARTS + 2);
	CHECK_EQ(depth_of(p.profile, row[1].path), PART + 2);
	CHECK_STR(path_text(p.profile, row[2].path, text, sizeof(text)), "1000 2000c");
	profile_free(p.profile);
}

/* Ids come from a file: cycles, ids defined twice, too late, endless chains. */
static void hostile_outer_stacks(void)
{
	static const uint64_t inner[] = {CHAIN_CONTEXT_USER, 0x401000};
	uint64_t *part = xcalloc(OUTER_FRAMES, sizeof(*part));
	struct event e = sample_event(10, CPU_MODE_USER, 0x401000, inner, 2);
	static const uint32_t ids[] = {1, 2, 3, 4, 5, 0};
	static const uint32_t depths[] = {2, 3, 2, OUTER_FRAMES + 1, 2, 1};
	struct play p;

	play_begin(&p, profile_new());
	put_map(&p, 10, 0x400000, 0x100000, "/bin/a");
	part[0] = 0x405000;
	put_outer(&p, 1, 1, part, 1);
	put_outer(&p, 2, 1, part, 1);
	put_outer(&p, 1, 2, part, 1);
	put_outer(&p, 3, 9, part, 1);
	put_outer(&p, 4, 2, part, OUTER_FRAMES);
	put_outer(&p, 5, 4, part, 1);
	put_outer(&p, 0, 1, part, 1);
	put_outer(&p, 6, 0, part, UINT32_MAX);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++) {
		e.sample.outer = ids[i];
		e.cpu = (uint32_t)i;
		put(&p, e);
	}
	play_end(&p);
	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		CHECK_EQ(depth_of(p.profile, p.profile->rows.items[i].path), depths[i]);
	profile_free(p.profile);
	free(part);
}

/*
 * The same outer stack with other mappings is another path; a sample's stack_end is taken from the
 * recorder.
 */
static void outer_stacks_follow_the_maps(void)
{
	static const uint64_t inner[] = {CHAIN_CONTEXT_USER, 0x401000};
	static const uint64_t outer[] = {0x405000};
	struct event e = sample_event(10, CPU_MODE_USER, 0x401000, inner, 2);
	struct play p;
	const struct profile *profile;

	play_begin(&p, profile_new());
	profile = p.profile;
	put_map(&p, 10, 0x400000, 0x10000, "/bin/a");
	put_outer(&p, 1, 0, outer, 1);
	e.sample.outer = 1;
	put(&p, e);
	put_map(&p, 10, 0x405000, 0x1000, "/bin/b");
	put(&p, e);
	e.sample.stack_end = 200; /* not a valid end */
	put(&p, e);
	play_end(&p);
	CHECK_EQ(profile->rows.count, 2);
	CHECK_EQ(profile->rows.items[1].stack_end, STACK_END_UNKNOWN);
	for (size_t i = 0; i < 2; i++) {
		uint32_t node = profile->paths.items[profile->rows.items[i].path].parent;
		uint32_t image =
		        profile->frames.items[profile->paths.items[node].frame].frame.image;

		CHECK_STR(image_path(&profile->images, image), i ? "/bin/b" : "/bin/a");
	}
	profile_free(p.profile);
}

/* Many processes, CPUs and switches, so that a second thread counts. */
static struct profile *played(void)
{
	enum { EVENTS = 100000 };
	uint64_t chain[] = {CHAIN_CONTEXT_USER, 0x401000, 0x402000};
	uint32_t seed = 1;
	struct play p;

	play_begin(&p, profile_new());
	for (int n = 0; n < EVENTS; n++) {
		struct event e;

		seed = seed * 1664525 + 1013904223;
		chain[1] = 0x401000 + (seed >> 20);
		e = sample_event((int32_t)(seed >> 12 & 63), CPU_MODE_USER, chain[1], chain, 3);
		e.cpu = seed >> 8 & 3;
		e.time_ns = 1000 + (uint64_t)n * 250000;
		if (n % 5 == 0) {
			e.kind = EVENT_SWITCH;
			e.sched = (struct event_switch){.out = n % 2, .machine_wide = true};
		} else if (n % 97 == 0) {
			e.kind = EVENT_EXIT;
		}
		put(&p, e);
	}
	play_end(&p);
	return p.profile;
}

static bool same_row(const struct profile_row *a, const struct profile_row *b)
{
	return a->path == b->path && a->thread == b->thread && a->cpu == b->cpu &&
	       a->samples == b->samples && a->weight == b->weight;
}

static void one_cpu_gives_the_same_profile(void)
{
	struct profile *one, *two = played();
	cpu_set_t before, first;

	CHECK_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&first);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&first); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &first);
	CHECK_EQ(sched_setaffinity(0, sizeof(first), &first), 0);
	one = played();
	CHECK_EQ(sched_setaffinity(0, sizeof(before), &before), 0);
	CHECK(one->rows.count > 1000);
	CHECK_EQ(one->rows.count, two->rows.count);
	for (size_t i = 0; i < one->rows.count; i++)
		CHECK(same_row(&one->rows.items[i], &two->rows.items[i]));
	CHECK_EQ(one->ledger.cpus.count, 4);
	CHECK_EQ(one->ledger.cpus.count, two->ledger.cpus.count);
	for (size_t i = 0; i < one->ledger.cpus.count; i++) {
		CHECK_EQ(one->ledger.cpus.items[i].busy_ns, two->ledger.cpus.items[i].busy_ns);
		CHECK_EQ(one->ledger.cpus.items[i].ticks_seen_busy,
		         two->ledger.cpus.items[i].ticks_seen_busy);
	}
	CHECK_EQ(one->axis.bytes, two->axis.bytes);
	profile_free(one);
	profile_free(two);
}

int main(void)
{
	RUN(chains_become_paths);
	RUN(hostile_chains);
	RUN(maps_change_under_the_cache);
	RUN(rows_events_and_modes);
	RUN(two_recordings);
	RUN(windows_of_two_recordings);
	RUN(outer_stacks);
	RUN(hostile_outer_stacks);
	RUN(outer_stacks_follow_the_maps);
	RUN(one_cpu_gives_the_same_profile);
	RUN(fast_enough);
	return check_end();
}
