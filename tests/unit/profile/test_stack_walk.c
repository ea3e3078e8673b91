/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The walk of this program's own stacks, told as samples: whole ones against
 * backtrace(), deep ones by stitching and from live memory, through signal
 * handlers, other stacks and generated code.
 */
#include "check.h"
#include "stack_fixture.h"

#include "base/memory/vec.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/time.h>

struct told {
	uint32_t parent, count;
	uint64_t *addresses;
};

static struct image_table images;
static struct process_table *processes;
static struct stack_walk *walk;
static struct stack_walk_result result;
static VEC(struct told) told; /* outer stacks by number - 1 */
static VEC(uint64_t) chain;   /* the last result's, outer stacks included */
static uint64_t told_frames;
static unsigned opened; /* tables, each before its first sample was walked */
static bool told_in_order;
static uint32_t process, thread;

static void on_define(void *ctx, uint32_t outer, uint32_t parent, const uint64_t *addresses,
                      uint32_t count)
{
	struct told t = {parent, count, xmalloc(count * sizeof(uint64_t))};

	memcpy(t.addresses, addresses, count * sizeof(uint64_t));
	told_in_order &= outer == told.count + 1 && parent < outer;
	vec_push(&told, t);
	told_frames += count;
}

static void begin_with(enum stack_method method, bool live, const char *hidden)
{
	struct stack_walk_options options = {
	        .method = method, .live = live, .puts_off = true, .define = on_define};

	image_table_init(&images);
	processes = process_table_new(&images);
	tell_maps(processes, hidden);
	thread = process_table_thread(processes, getpid(), getpid());
	process = process_table_thread_at(processes, thread)->process;
	walk = stack_walk_new(processes, &images, &options);
	told_frames = 0;
	told_in_order = true;
}

static void begin(bool live)
{
	begin_with(STACK_METHOD_AUTO, live, NULL);
}

static void end(void)
{
	stack_walk_free(walk);
	process_table_free(processes);
	image_table_done(&images);
	vec_each (t, &told)
		free(t->addresses);
	vec_done(&told);
	vec_done(&chain);
}

static void walk_event(const struct event *e)
{
	for (;;) {
		stack_walk_sample(walk, process, thread, e, &result);
		if (!result.later)
			break;
		CHECK_EQ(result.count, 0);
		stack_walk_open(walk);
		opened++;
	}
	chain.count = 0;
	for (uint32_t i = 0; i < result.count; i++)
		vec_push(&chain, result.chain[i]);
	for (uint32_t outer = result.outer; outer; outer = told.items[outer - 1].parent) {
		CHECK(outer <= told.count);
		if (outer > told.count)
			return;
		for (uint32_t i = 0; i < told.items[outer - 1].count; i++)
			vec_push(&chain, told.items[outer - 1].addresses[i]);
	}
}

static void walk_snapshot(void)
{
	struct event e = snapshot_event();

	walk_event(&e);
}

/* Takes a sample here, and walks it while the stack stands. */
static void sample_here(size_t wanted)
{
	snapshot.then = walk_snapshot;
	snapshot_take(wanted);
	snapshot.then = NULL;
}

static bool like_truth(void)
{
	size_t count = (size_t)(snapshot.truth_count - snapshot.truth_start);

	if (!count || chain.count != count) {
		printf("# %zu frames, %zu in truth\n", chain.count, count);
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		if (chain.items[i] == (uint64_t)snapshot.truth[snapshot.truth_start + (int)i])
			continue;
		printf("# frame %zu differs\n", i);
		return false;
	}
	return true;
}

static void own_stack_is_whole(void)
{
	begin(false);
	sample_here(STACK_COPY_MAX);
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	CHECK_EQ(result.outer, 0);
	CHECK(opened > 0);
	CHECK_EQ(stack_walk_counts(walk)->tables, opened);
	CHECK_EQ(stack_walk_counts(walk)->samples, 1);
	CHECK_EQ(stack_walk_counts(walk)->frames, chain.count);
	CHECK_EQ(stack_walk_counts(walk)->by_frame_pointer, 0);
	end();
}

static void tables_alone_do_too(void)
{
	begin_with(STACK_METHOD_DWARF, false, NULL);
	sample_here(STACK_COPY_MAX);
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	end();
}

/* The frame of a called function is larger by what it asks for. */
static __attribute__((noinline)) int down(int depth, void (*at_bottom)(int), size_t room)
{
	volatile char *local = __builtin_alloca(room);
	int r;

	local[0] = (char)depth;
	if (depth <= 1) {
		at_bottom(depth);
		return local[0];
	}
	r = down(depth - 1, at_bottom, room) + local[0];
	__asm__ volatile("" ::: "memory");
	return r;
}

static void sample_all(int depth)
{
	sample_here(STACK_COPY_MAX);
}

static void sample_8k(int depth)
{
	sample_here(8192);
}

static void a_thousand_deep(void)
{
	begin(false);
	down(1000, sample_all, 40);
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	CHECK(chain.count > 1000 && chain.count < 1020);
	end();
}

/* Frames that stood where they stand were walked before: their words are compared. */
static void what_stands_is_not_walked_again(void)
{
	uint64_t walked;

	begin(false);
	for (int depth = 900; depth < 904; depth++) {
		down(depth, sample_all, 40);
		CHECK_EQ(result.end, STACK_WHOLE);
		CHECK(like_truth());
	}
	walked = stack_walk_counts(walk)->frames;
	walk_snapshot();
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	CHECK(stack_walk_counts(walk)->frames - walked < 100);
	end();
}

static void frames_of_differing_size(void)
{
	begin(false);
	for (size_t room = 8; room < 4000; room = room * 2 + 8) {
		down(12, sample_all, room);
		CHECK_EQ(result.end, STACK_WHOLE);
		CHECK(like_truth());
	}
	end();
}

static void deep_without_memory_is_cut(void)
{
	begin(false);
	down(1000, sample_8k, 40);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(chain.count > 20 && chain.count < 300);
	end();
}

static void live_memory_completes(void)
{
	begin(true);
	down(1000, sample_8k, 40);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	CHECK(stack_walk_counts(walk)->memory_reads >= 1);
	end();
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Functions of the C library, with others of ours between. */
static __attribute__((noinline)) void work(unsigned seed)
{
	char *words[200], text[100];

	for (size_t i = 0; i < 200; i++) {
		snprintf(text, sizeof(text), "%u %g %zu", seed * 77 % 1000, (double)seed / 7, i);
		words[i] = strdup(text);
		seed = seed * 1103515245 + 12345;
	}
	qsort(words, 200, sizeof(*words), compare);
	for (size_t i = 0; i < 200; i++)
		free(words[i]);
}

/* Wherever a timer strikes: in prologues, epilogues, stubs, in the middle of anything. */
static void at_any_instruction(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
	int taken = 0, bad = 0;

	begin(false);
	snapshot.wanted = STACK_COPY_MAX;
	setitimer(ITIMER_PROF, &often, NULL);
	/* As many turns as it takes where the timer's tick is long, and the CPU is fast. */
	for (unsigned turn = 0; taken < (turn < 20000 ? 400 : 50) && turn < 10000000; turn++) {
		work(turn);
		if (!snapshot.busy)
			continue;
		walk_snapshot();
		taken++;
		bad += result.end != STACK_WHOLE || !like_truth();
		snapshot.busy = 0;
	}
	setitimer(ITIMER_PROF, &never, NULL);
	snapshot.busy = 0;
	CHECK(taken >= 50);
	CHECK_EQ(bad, 0);
	end();
}

static int every, wrong, samples_taken;

static __attribute__((noinline)) int down_sampled(int depth)
{
	volatile int here = depth;

	if (depth % every == 0) {
		sample_here(8192);
		samples_taken++;
		if (stack_quality(result.end) != STACK_QUALITY_WHOLE &&
		    stack_quality(result.end) != STACK_QUALITY_STITCHED)
			wrong++;
		else if (depth % (50 * every) == 0 && !like_truth())
			wrong++;
	}
	if (depth > 1)
		here += down_sampled(depth - 1);
	return here;
}

static void sampled_on_the_way_down(int depth, bool live, int gap)
{
	begin(live);
	every = gap;
	wrong = samples_taken = 0;
	down_sampled(depth);
	CHECK_EQ(wrong, 0);
	CHECK_EQ(samples_taken, depth / gap);
	CHECK(told_in_order);
}

static void twenty_thousand_deep_is_stitched(void)
{
	uint64_t pieces = 20000 / 512 + 1;

	/* Overlapping copies: no memory of the process is needed. */
	sampled_on_the_way_down(20000, false, 20);
	CHECK(chain.count >= 20000 - 20);
	CHECK_EQ(stack_walk_counts(walk)->memory_reads, 0);
	/* Each piece is told about once, though a thousand samples refer to it. */
	CHECK(told.count >= pieces - 4 && told.count <= pieces + 4);
	CHECK(told_frames <= 21000);
	/* The walk is that of the copies alone. */
	CHECK(stack_walk_counts(walk)->frames < (uint64_t)samples_taken * 8192 / 32);
	end();
}

static void twenty_thousand_deep_from_live_memory(void)
{
	/* Copies that do not overlap: what lies between is read, up to what is known. */
	sampled_on_the_way_down(20000, true, 1000);
	CHECK(chain.count >= 20000 - 1000);
	CHECK(stack_walk_counts(walk)->frames < 40000);
	end();
}

static void *below_the_limit(void *argument)
{
	down(70000, sample_8k, 16);
	return argument;
}

/* More frames than are followed: the innermost of them. */
static void seventy_thousand_deep(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)64 << 20);
	begin(true);
	if (pthread_create(&t, &attr, below_the_limit, NULL) == 0)
		pthread_join(t, NULL);
	CHECK_EQ(stack_quality(result.end), STACK_QUALITY_TRUNCATED);
	CHECK(chain.count > 30000 && chain.count <= 65536);
	CHECK(told_in_order);
	pthread_attr_destroy(&attr);
	end();
}

static void unlike_frames_are_not_joined(void)
{
	struct event e;

	begin(false);
	down(30, sample_all, 40);
	CHECK_EQ(result.end, STACK_WHOLE);
	/* Deeper than the copy, by frames of another size: no frame is the same. */
	down(500, sample_8k, 72);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	/* And the thread that was forgotten knows nothing even of the same. */
	for (volatile int turn = 0; turn < 2; turn++) {
		down(150, turn ? sample_8k : sample_all, 40);
		CHECK_EQ(result.end, turn ? STACK_STITCHED : STACK_WHOLE);
		CHECK(like_truth());
	}
	stack_walk_forget(walk, thread);
	e = snapshot_event();
	walk_event(&e);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	end();
}

/* The same frames below another caller: memory tells, where it can be had. */
static void another_caller_is_seen_live(void)
{
	begin(true);
	down(45, sample_all, 200);
	CHECK_EQ(result.end, STACK_WHOLE);
	down(45, sample_8k, 200);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	end();
}

static void a_gap_is_closed(void)
{
	/* One place that calls, so that the outermost frames are the same in all samples. */
	volatile int depth = 100;

	begin(false);
	do {
		down(depth, depth == 100 ? sample_all : sample_8k, 24);
		CHECK(depth != 100 || result.end == STACK_WHOLE);
		CHECK(depth != 900 || result.end == STACK_CUT_COPY);
		/* Far below, with nothing between; then up again in steps that overlap. */
		depth = depth == 100 ? 900 : depth - 20;
	} while (depth > 100 && (depth >= 880 || result.end == STACK_CUT_COPY));
	/* Until what was known before is met. */
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(depth >= 100 && depth < 800);
	CHECK(like_truth());
	end();
}

static bool chain_is_complete(void)
{
	return chain.count == (size_t)(snapshot.truth_count - snapshot.truth_start);
}

/*
 * Frames inside of a gap are joined, but their stack is cut. Frames outside of it are whole: the
 * first sample whose copy reaches them is.
 */
static void frames_on_both_sides_of_a_gap_end_differently(void)
{
	size_t count_at_900 = 0;
	volatile int depth = 100;

	begin(false);
	/* One place that calls, so that the outermost frames are the same in all samples. */
	do {
		down(depth, depth == 100 ? sample_all : sample_8k, 24);
		if (depth == 100)
			CHECK_EQ(result.end, STACK_WHOLE);
		else
			CHECK_EQ(result.end, chain_is_complete() ? STACK_STITCHED : STACK_CUT_COPY);
		if (depth == 900)
			count_at_900 = chain.count;
		CHECK(depth != 920 || chain.count == count_at_900 + 20);
		depth = depth == 100 ? 900 : depth == 900 ? 920 : depth == 920 ? 300 : depth - 20;
	} while (depth > 300 || !chain_is_complete());
	CHECK(depth >= 100 && depth < 300);
	CHECK(like_truth());
	end();
}

static void sample_moved(int depth)
{
	struct event e;

	snapshot_take(8192);
	e = snapshot_event();
	/* What the sample saw at the copy's end is not what is there. */
	snapshot.stack[8192 - 64] ^= 1;
	walk_event(&e);
}

static void changed_memory_is_not_believed(void)
{
	begin(true);
	down(1000, sample_moved, 40);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(stack_walk_counts(walk)->memory_reads == 1);
	end();
}

static void on_nested(int signal)
{
	sample_here(STACK_COPY_MAX);
}

static void handlers(int flags)
{
	struct sigaction action = {.sa_handler = on_nested, .sa_flags = flags};

	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
}

static void through_a_signal_handler(void)
{
	begin(false);
	handlers(0);
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK(like_truth());
	end();
}

static void through_a_handler_on_its_own_stack(void)
{
	size_t size = (size_t)1 << 18;
	stack_t stack = {.ss_sp = malloc(size), .ss_size = size}, none = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, NULL);
	begin(true);
	handlers(SA_ONSTACK);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	end();
	/* Without its memory: up to the frame that was interrupted. */
	begin(false);
	handlers(SA_ONSTACK);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(chain.count > 3 && chain.count < (size_t)snapshot.truth_count);
	end();
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
}

/* A sample that was taken, for when another has taken its place. */
static struct snapshot keep_snapshot(void)
{
	struct snapshot copy = snapshot;

	copy.stack = xmalloc(copy.size);
	memcpy(copy.stack, snapshot.stack, copy.size);
	return copy;
}

/* No frame stands where one of the interrupted stood. */
static __attribute__((noinline)) void sample_elsewhere(void)
{
	volatile char room[4096];

	room[0] = 1;
	sample_here(STACK_COPY_MAX);
	room[1] = room[0];
}

/* The same interrupted again, when its stack can no longer be read. */
static void what_a_handler_interrupted_is_known_again(void)
{
	size_t size = (size_t)1 << 18;
	stack_t stack = {.ss_sp = malloc(size), .ss_size = size}, none = {.ss_flags = SS_DISABLE};
	struct snapshot now, handler;
	uint64_t *before;
	size_t count;

	sigaltstack(&stack, NULL);
	begin(true);
	handlers(SA_ONSTACK);
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(like_truth());
	count = chain.count;
	before = xmalloc(count * sizeof(*before));
	memcpy(before, chain.items, count * sizeof(*before));
	handler = keep_snapshot();
	sigaltstack(&none, NULL);
	memset(stack.ss_sp, 0, size);
	sample_elsewhere(); /* the interrupted frames are no longer there */
	CHECK_EQ(result.end, STACK_WHOLE);
	now = snapshot;
	snapshot = handler;
	walk_snapshot();
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(chain.count == count && !memcmp(chain.items, before, count * sizeof(*before)));
	/* Another thread was never seen. */
	thread++;
	walk_snapshot();
	CHECK_EQ(result.end, STACK_CUT_COPY);
	snapshot = now;
	end();
	free(before);
	free(handler.stack);
	free(stack.ss_sp);
}

static __attribute__((noinline)) void called_back(void)
{
	sample_here(STACK_COPY_MAX);
}

/* push %rbp; mov %rsp,%rbp; call *%rdi; pop %rbp; ret */
static const uint8_t with_frame_pointer[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
/* push %rbp; xor %ebp,%ebp; not %rbp; call *%rdi; pop %rbp; ret */
static const uint8_t without_it[] = {0x55, 0x31, 0xed, 0x48, 0xf7, 0xd5, 0xff, 0xd7, 0x5d, 0xc3};

static void *generate(const uint8_t *code, size_t size)
{
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	memcpy(memory, code, size);
	return memory;
}

static void generated(enum stack_method method, const uint8_t *code, size_t size)
{
	void *memory = generate(code, size);
	void (*call)(void (*)(void));

	memcpy(&call, &memory, sizeof(call));
	begin_with(method, false, NULL);
	call(called_back);
	munmap(memory, 4096);
}

static void generated_code_by_frame_pointer(void)
{
	const void *inside;

	generated(STACK_METHOD_AUTO, with_frame_pointer, sizeof(with_frame_pointer));
	CHECK_EQ(result.end, STACK_WHOLE);
	CHECK_EQ(stack_walk_counts(walk)->by_frame_pointer, 1);
	inside = NULL;
	for (size_t i = 0; i < chain.count; i++)
		if (chain.items[i] % 4096 == 6)
			inside = (const void *)(uintptr_t)chain.items[i];
	CHECK(inside != NULL);
	end();
	generated(STACK_METHOD_AUTO, without_it, sizeof(without_it));
	CHECK_EQ(result.end, STACK_NO_TABLE);
	CHECK_EQ(stack_walk_counts(walk)->by_frame_pointer, 0);
	end();
	generated(STACK_METHOD_DWARF, with_frame_pointer, sizeof(with_frame_pointer));
	CHECK_EQ(result.end, STACK_NO_TABLE);
	end();
}

/* What a frame pointer of 0 says of the outermost frame it does not say of code without any. */
static void a_register_that_is_zero_ends_nothing(void)
{
	static const int fp = 6, pc = 8; /* perf's numbers */
	uint8_t *code = generate(without_it, sizeof(without_it));
	struct event e;

	begin(false);
	snapshot_take(STACK_COPY_MAX);
	e = snapshot_event();
	snapshot.regs[fp] = 0;
	snapshot.regs[pc] = (uint64_t)(uintptr_t)code;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NO_TABLE);
	CHECK_EQ(chain.count, 1);
	end();
	munmap(code, 4096);
}

static void a_file_that_is_not_there(void)
{
	begin_with(STACK_METHOD_DWARF, false, "test_stack_walk");
	sample_here(STACK_COPY_MAX);
	CHECK_EQ(result.end, STACK_NO_FILE);
	CHECK(chain.count >= 1);
	end();
}

static void where_there_is_no_code(void)
{
	struct event e;

	begin(false);
	snapshot_take(STACK_COPY_MAX);
	e = snapshot_event();
	snapshot.regs[8] = (uint64_t)(uintptr_t)&e;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NOT_CODE);
	CHECK_EQ(chain.count, 1);
	/* In the kernel: a thread that is just being given another program. */
	e.mode = CPU_MODE_KERNEL;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NONE);
	CHECK_EQ(chain.count, 0);
	end();
}

static void without_registers(void)
{
	struct event e = snapshot_event();

	begin(false);
	e.sample.regs_abi = PERF_SAMPLE_REGS_ABI_32;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NO_REGISTERS);
	CHECK_EQ(chain.count, 1);
	/* In the kernel: from where it was entered. */
	e.mode = CPU_MODE_KERNEL;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NO_REGISTERS);
	CHECK(chain.count == 1 && chain.items[0] == snapshot.regs[8]);
	e.sample.regs = NULL;
	walk_event(&e);
	CHECK_EQ(result.end, STACK_NONE);
	CHECK_EQ(chain.count, 0);
	end();
}

int main(void)
{
#if defined(__x86_64__)
	snapshot_init();
	RUN(own_stack_is_whole);
	RUN(tables_alone_do_too);
	RUN(at_any_instruction);
	RUN(a_thousand_deep);
	RUN(what_stands_is_not_walked_again);
	RUN(frames_of_differing_size);
	RUN(deep_without_memory_is_cut);
	RUN(live_memory_completes);
	RUN(twenty_thousand_deep_is_stitched);
	RUN(twenty_thousand_deep_from_live_memory);
	RUN(seventy_thousand_deep);
	RUN(unlike_frames_are_not_joined);
	RUN(another_caller_is_seen_live);
	RUN(a_gap_is_closed);
	RUN(frames_on_both_sides_of_a_gap_end_differently);
	RUN(changed_memory_is_not_believed);
	RUN(through_a_signal_handler);
	RUN(through_a_handler_on_its_own_stack);
	RUN(what_a_handler_interrupted_is_known_again);
	RUN(generated_code_by_frame_pointer);
	RUN(a_register_that_is_zero_ends_nothing);
	RUN(a_file_that_is_not_there);
	RUN(where_there_is_no_code);
	RUN(without_registers);
	free(snapshot.stack);
	free(snapshot.truth);
#endif
	return check_end();
}
