/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stacks_asm_main: calls the functions of stacks_asm.S. Usage: stacks_asm [SECONDS]. */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

uint64_t asm_outer(uint64_t turns);

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	uint64_t x = 0;

	while ((double)clock() / CLOCKS_PER_SEC < seconds)
		x += asm_outer(100000);
	return x == 1;
}
