/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trampoline SECONDS: functions that call each other through generated code without frame pointer,
 * as CPython does: through_top() calls through_mid(), which calls through_leaf(), which computes
 * alone. SECONDS are CPU time. Only for x86-64; exits with 77 elsewhere.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* sub $8,%rsp; call *%rdi; add $8,%rsp; ret */
static const uint8_t code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7, 0x48, 0x83, 0xc4, 0x08, 0xc3};

typedef void function(void);
typedef void generated(function *f);

void through_leaf(void), through_mid(void), through_top(void);

static generated *call_leaf, *call_mid, *call_top;
static volatile unsigned sum, calls;

__attribute__((noinline)) void through_leaf(void)
{
	for (unsigned i = 0; i < 10000; i++)
		sum += i * i;
	calls++;
}

__attribute__((noinline)) void through_mid(void)
{
	call_leaf(through_leaf);
	calls++;
}

__attribute__((noinline)) void through_top(void)
{
	call_mid(through_mid);
	calls++;
}

int main(int argc, char **argv)
{
#if defined(__x86_64__)
	uint8_t *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	clock_t end;

	if (argc < 2 || memory == MAP_FAILED)
		return 2;
	end = (clock_t)(strtod(argv[1], NULL) * CLOCKS_PER_SEC);
	for (int i = 0; i < 3; i++)
		memcpy(memory + 64 * i, code, sizeof(code));
	memcpy(&call_leaf, &(uint8_t *){memory}, sizeof(call_leaf));
	memcpy(&call_mid, &(uint8_t *){memory + 64}, sizeof(call_mid));
	memcpy(&call_top, &(uint8_t *){memory + 128}, sizeof(call_top));
	while (clock() < end)
		call_top(through_top);
	return 0;
#else
	return 77;
#endif
}
