/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * core_fixture: a port for the core of call paths, compiled freestanding, and a
 * simulated program with one thread. The clock only moves when the test moves it, so
 * that every tick has a known place. Included by one file of a test program.
 */
#ifndef CORE_FIXTURE_H
#define CORE_FIXTURE_H

#include "../unit/lib/check.h"
#include "calls/calls.h"
#include "calls/thread.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

uint64_t embedded_now = 1000;
struct calls_thread *embedded_self = &calls_unborn;
void (*embedded_interrupt)(void);

#define TABLE_BYTES (1u << 20)
#define STACK_HIGH 0x100000u

static _Alignas(4096) char table[TABLE_BYTES];
#define MEMORY_BYTES (1ull << 30) /* reserved; only written pages use memory */
static char *memory;
static size_t memory_used;
static bool began;
static uint64_t limit = TABLE_BYTES;
static volatile uint64_t switches;
static struct port_waits waits;
static bool stack_guess; /* the port guesses the bounds of stacks: 16 KB below and 4 KB above */

void *port_memory(size_t bytes)
{
	void *at = memory + memory_used;

	bytes = (bytes + 63) / 64 * 64;
	if (bytes > MEMORY_BYTES - memory_used)
		return NULL;
	memory_used += bytes;
	return at;
}

void port_memory_free(void *at, size_t bytes)
{
}

void *port_memory_wiped(size_t wiped, size_t kept)
{
	return port_memory(wiped + kept);
}

/* Each release of signals runs one pending handler; handlers can nest (SA_NODEFER). */
static void (*pending)(void);

uint64_t port_signals_hold(void)
{
	return 0;
}

void port_signals_release(uint64_t before)
{
	void (*handler)(void) = pending;

	pending = NULL;
	if (handler)
		handler();
}

bool port_table_grow(uint64_t bytes)
{
	return bytes <= limit;
}

void port_thread_begin(struct calls_thread *t, struct assay_calls_thread *record,
                       volatile uint64_t **watch)
{
	*watch = &switches;
}

void port_thread_waits(struct calls_thread *t, uint64_t from, uint64_t to, struct port_waits *w)
{
	*w = waits;
	waits = (struct port_waits){0};
}

/* Samples that the next hook finds. */
static bool can_sample;
static volatile uint64_t sample_head;
static struct port_samples new_samples;
enum { PERIOD = 1000000, PERIOD_COST = 1000 };

bool port_can_sample(struct calls_thread *t)
{
	return can_sample;
}

void port_thread_sample_end(struct calls_thread *t)
{
}

uint64_t port_thread_sample(struct calls_thread *t, volatile uint64_t **watch, uint64_t *cost)
{
	*watch = &sample_head;
	*cost = PERIOD_COST;
	return PERIOD;
}

void port_thread_samples(struct calls_thread *t, struct port_samples *s)
{
	*s = new_samples;
	new_samples = (struct port_samples){0};
}

bool port_stack_of(struct calls_thread *t, uintptr_t sp, struct port_stack *stack)
{
	if (stack_guess) {
		*stack = (struct port_stack){.low = sp - 0x4000, .high = sp + 0x1000};
		return true;
	}
	/* Stacks of 1 MB side by side; the third is a signal's. */
	stack->low = sp / STACK_HIGH * STACK_HIGH;
	stack->high = stack->low + STACK_HIGH;
	stack->signal = stack->low == 2 * STACK_HIGH;
	return true;
}

static void (*in_slow_path)(void); /* runs once, while a new path is made */

void port_function(uint64_t function)
{
	void (*run)(void) = in_slow_path;

	in_slow_path = NULL;
	if (run)
		run();
}

bool port_wants(uint64_t function)
{
	return function != 0x666;
}

bool port_begin(port_look_fn *look, void *of, bool fork_copy)
{
	static uint64_t processes;

	calls_table.base = table;
	calls_table.header = (struct assay_calls_header *)(void *)table;
	calls_table.header->limit_bytes = limit;
	calls_table.header->used_bytes = calls_table.header->header_bytes = ASSAY_CALLS_PAGE;
	calls_table.header->start_ns = ++processes;
	began = true;
	return true;
}

bool port_began(void)
{
	return began;
}

int32_t port_thread_id(void)
{
	return 7;
}

uint64_t port_thread_cpu_ns(void)
{
	return embedded_now;
}

void port_memory_missed(const volatile void *at)
{
}

void port_thread_done(struct calls_thread *t)
{
}

/* Starts a new process with at most `depth` frames. */
static void fresh(uint32_t depth, uint64_t bytes)
{
	memset(table, 0, sizeof(table));
	if (memory)
		munmap(memory, MEMORY_BYTES);
	memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE,
	              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	memory_used = 0;
	switches = 0;
	stack_guess = false;
	pending = NULL;
	can_sample = false;
	began = false;
	limit = bytes;
	embedded_self = &calls_unborn;
	calls_table.depth_limit = depth;
	switches = 0;
	embedded_now += 1000;
}

static struct assay_calls_node *node(struct assay_calls_node *parent, uint64_t function)
{
	return calls_tree_find(embedded_self, parent, function);
}

static struct assay_calls_node *root(void)
{
	return calls_node(embedded_self->record->root);
}

/* The node of a path, given by its functions, ended by 0; NULL: there is none. */
#define AT(...) at((const uint64_t[]){__VA_ARGS__, 0})
static struct assay_calls_node *at(const uint64_t *functions)
{
	struct assay_calls_node *n = root();

	for (; n && *functions; functions++)
		n = node(n, *functions);
	return n;
}

enum { A = 0xa000, B = 0xb000, C = 0xc000, D = 0xd000 };

#endif
