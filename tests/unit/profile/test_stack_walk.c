/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples of this program's own stacks are walked: complete ones are compared with backtrace(),
 * deep ones are walked by stitching and from live memory, through signal handlers, other stacks and
 * generated code.
 */
#include "stack_walk_fixture.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/time.h>

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

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Functions of the C library, with functions of this program between. */
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

/* The truth ends in the stubs of a linker that describes them in no section. */
static bool truth_is_whole(void)
{
	return snapshot.truth_count - snapshot.truth_start > 1;
}

/* A timer interrupts at any instruction: in prologues, epilogues and stubs. */
static void at_any_instruction(void)
{
	struct itimerval often = {{0, 300}, {0, 300}}, never = {0};
	int taken = 0, bad = 0, whole = 0;

	begin(false);
	snapshot.wanted = STACK_COPY_MAX;
	setitimer(ITIMER_PROF, &often, NULL);
	/* As many rounds as are needed with a long timer period and a fast CPU. */
	for (unsigned turn = 0; taken < (turn < 20000 ? 400 : 50) && turn < 10000000; turn++) {
		work(turn);
		if (!snapshot.busy)
			continue;
		walk_snapshot();
		taken++;
		bad += result.end != STACK_WHOLE || (truth_is_whole() && !like_truth());
		whole += truth_is_whole();
		snapshot.busy = 0;
	}
	setitimer(ITIMER_PROF, &never, NULL);
	snapshot.busy = 0;
	CHECK(taken >= 50 && whole > taken / 2);
	CHECK_EQ(bad, 0);
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
	/* Without live memory: up to the frame that was interrupted. */
	begin(false);
	handlers(SA_ONSTACK);
	CHECK_EQ(result.end, STACK_CUT_COPY);
	CHECK(chain.count > 3 && chain.count < (size_t)snapshot.truth_count);
	end();
	sigaltstack(&none, NULL);
	free(stack.ss_sp);
}

/* Saves a sample that the next one would replace. */
static struct snapshot keep_snapshot(void)
{
	struct snapshot copy = snapshot;

	copy.stack = xmalloc(copy.size);
	memcpy(copy.stack, snapshot.stack, copy.size);
	return copy;
}

/* No frame has the address of an interrupted frame. */
static __attribute__((noinline)) void sample_elsewhere(void)
{
	volatile char room[4096];

	room[0] = 1;
	sample_here(STACK_COPY_MAX);
	room[1] = room[0];
}

/* The same frames are interrupted again, when their stack cannot be read any more. */
static void interrupted_frames_are_known_again(void)
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
	sample_elsewhere(); /* the interrupted frames do not exist any more */
	CHECK_EQ(result.end, STACK_WHOLE);
	now = snapshot;
	snapshot = handler;
	walk_snapshot();
	CHECK_EQ(result.end, STACK_STITCHED);
	CHECK(chain.count == count && !memcmp(chain.items, before, count * sizeof(*before)));
	/* Another thread has no known frames. */
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

/* A frame pointer of 0 ends the stack only in code that uses frame pointers. */
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
	begin_with(STACK_METHOD_DWARF, false, program_invocation_short_name);
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
	/* In the kernel: a thread in the middle of an exec. */
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
	/* In the kernel: the user registers are those at the entry to the kernel. */
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
	RUN(through_a_signal_handler);
	RUN(through_a_handler_on_its_own_stack);
	RUN(interrupted_frames_are_known_again);
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
