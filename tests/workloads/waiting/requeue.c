/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * requeue: four threads wait for the futex `gate_word`. open_gate() wakes one of them and requeues
 * the others to `turn_word`; each thread wakes the next one 3 ms later, in pass_turn().
 */
#include "truth.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#define WAITERS 4
#define ROUNDS 45

static uint32_t gate_word, turn_word;
static unsigned arrived;
static const char *const names[WAITERS] = {"waiter-0", "waiter-1", "waiter-2", "waiter-3"};
static const char *passer; /* NULL: open_gate() woke the thread */

static long futex(uint32_t *word, int op, uint32_t value, uintptr_t count, uint32_t *to,
                  uint32_t expected)
{
	return syscall(SYS_futex, word, op | FUTEX_PRIVATE_FLAG, value, count, to, expected);
}

static APART void await_gate(uint32_t round)
{
	struct truth_mark from = truth_mark();

	__atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
	futex(&gate_word, FUTEX_WAIT, round, 0, NULL, 0);
	truth_waited(from,
	             (struct truth_cause){"lock|condition", "gate_word", passer ? passer : "main",
	                                  passer ? "pass_turn" : "open_gate", NULL});
}

static APART void pass_turn(const char *self)
{
	passer = self;
	futex(&turn_word, FUTEX_WAKE, 1, 0, NULL, 0);
}

static APART void open_gate(void)
{
	passer = NULL;
	must(futex(&gate_word, FUTEX_CMP_REQUEUE, 1, WAITERS, &turn_word, gate_word) != WAITERS,
	     "FUTEX_CMP_REQUEUE");
}

static void *waiter(void *argument)
{
	truth_name(argument);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		await_gate(i);
		truth_sleep(3 * MS);
		pass_turn(argument);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[WAITERS];

	truth_begin("requeue");
	for (int i = 0; i < WAITERS; i++)
		threads[i] = truth_start(waiter, (void *)(uintptr_t)names[i]);
	for (unsigned i = 0; i < ROUNDS; i++) {
		while (__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) != (i + 1) * WAITERS)
			truth_sleep(1 * MS);
		/* The last thread that arrived is inside the call after this time. */
		truth_sleep(5 * MS);
		open_gate();
		__atomic_store_n(&gate_word, i + 1, __ATOMIC_SEQ_CST);
	}
	for (int i = 0; i < WAITERS; i++)
		truth_join(threads[i]);
	truth_end();
	return 0;
}
