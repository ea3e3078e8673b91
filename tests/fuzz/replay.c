/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay DIRECTORY: passes each file of a corpus to a fuzz target, as an ordinary test without
 * libFuzzer. Prints TAP, one line for each file. Each input is copied to its own allocation, so
 * that sanitizers detect reads beyond its bounds.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Returns 0, or errno if a file could not be read. */
static int replay(const char *directory, const char *name)
{
	char path[4096];
	uint8_t *bytes = NULL;
	long size = 0;
	FILE *file;
	int rc = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "rb");
	if (!file)
		return errno;
	if (fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
		rc = errno;
	if (!rc && !(bytes = malloc(size ? (size_t)size : 1)))
		rc = ENOMEM;
	if (!rc && fread(bytes, 1, (size_t)size, file) != (size_t)size)
		rc = EIO;
	fclose(file);
	if (!rc)
		LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	return rc;
}

int main(int argc, char **argv)
{
	struct dirent **names;
	int count, failed = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: replay DIRECTORY\n");
		return 2;
	}
	count = scandir(argv[1], &names, is_input, alphasort);
	if (count <= 0) {
		printf("Bail out! no corpus in %s\n", argv[1]);
		return 1;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		int rc;

		printf("# %s\n", names[i]->d_name);
		fflush(stdout);
		rc = replay(argv[1], names[i]->d_name);
		failed += rc != 0;
		printf("%sok %d - %s%s%s\n", rc ? "not " : "", i + 1, names[i]->d_name,
		       rc ? ": " : "", rc ? strerror(rc) : "");
		free(names[i]);
	}
	free(names);
	return failed != 0;
}
