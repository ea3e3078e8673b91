/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kernel_load: spends its time in the kernel: in one module and in the image.
 *
 * Half of the wall time it hashes zeros with a given algorithm through an
 * AF_ALG socket (a module's code, if the algorithm is one), the other half it
 * reads random numbers (code of the kernel image). Usage: kernel_load
 * MILLISECONDS ALGORITHM. Prints bytes done by each.
 */
#include <fcntl.h>
#include <linux/if_alg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CHUNK 65536

static char chunk[CHUNK];

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int hash_open(const char *algorithm)
{
	struct sockaddr_alg address = {.salg_family = AF_ALG, .salg_type = "hash"};
	int listener = socket(AF_ALG, SOCK_SEQPACKET, 0), fd;

	snprintf((char *)address.salg_name, sizeof address.salg_name, "%s", algorithm);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address))
		return -1;
	fd = accept(listener, NULL, NULL);
	close(listener);
	return fd;
}

int main(int argc, char **argv)
{
	uint64_t half_ns, end_ns, hashed = 0, drawn = 0;
	int hash, source;

	if (argc != 3) {
		fprintf(stderr, "usage: kernel_load MILLISECONDS ALGORITHM\n");
		return 2;
	}
	half_ns = strtoull(argv[1], NULL, 10) * 500000;
	hash = hash_open(argv[2]);
	source = open("/dev/urandom", O_RDONLY);
	if (hash < 0 || source < 0) {
		perror(hash < 0 ? argv[2] : "/dev/urandom");
		return 1;
	}
	for (end_ns = now_ns() + half_ns; now_ns() < end_ns; hashed += CHUNK) {
		if (send(hash, chunk, CHUNK, MSG_MORE) != CHUNK)
			return 1;
	}
	for (end_ns = now_ns() + half_ns; now_ns() < end_ns; drawn += CHUNK) {
		if (read(source, chunk, CHUNK) != CHUNK)
			return 1;
	}
	printf("{\"hashed\": %llu, \"drawn\": %llu}\n", (unsigned long long)hashed,
	       (unsigned long long)drawn);
	return 0;
}
