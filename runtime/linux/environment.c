/* SPDX-License-Identifier: MIT */
#include "linux/environment.h"
#include "calls/port.h"
#include "linux/place.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD"

enum { DIRECTORY, MEMORY, FILTER, DEPTH, LIBRARIES, BIND_NOW, RATE, NAMES };

static const char *const names[NAMES] = {
        [DIRECTORY] = "ASSAY_CALLS_DIR",
        [MEMORY] = "ASSAY_CALLS_MEM",
        [FILTER] = "ASSAY_CALLS_FILTER",
        [DEPTH] = "ASSAY_CALLS_DEPTH",
        [LIBRARIES] = "ASSAY_CALLS_LIBRARIES",
        [BIND_NOW] = "LD_BIND_NOW", /* set together with LIBRARIES */
        [RATE] = "ASSAY_CALLS_RATE",
};

/* Copies, since programs may overwrite the memory of their initial environment. */
static struct {
	char *library;      /* the name in LD_PRELOAD; NULL: not preloaded */
	char *words[NAMES]; /* "NAME=VALUE"; NULL: was not set */
} kept;

static const char *value_of(const char *word, const char *name)
{
	size_t length = strlen(name);

	return !strncmp(word, name, length) && word[length] == '=' ? word + length + 1 : NULL;
}

static const char *find(char *const *words, const char *name)
{
	const char *value = NULL;

	for (; *words && !value; words++)
		value = value_of(*words, name);
	return value;
}

/* True if a value of LD_PRELOAD contains `name`. */
static bool lists(const char *value, const char *name)
{
	size_t length = strlen(name);

	while (*value) {
		size_t end = strcspn(value, ": ");

		if (end == length && !memcmp(value, name, length))
			return true;
		value += end + (value[end] != '\0');
	}
	return false;
}

static char *put(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length + 1);
	return at + length;
}

__attribute__((constructor(101))) static void environment_begin(void)
{
	const char *preload = place_environment(PRELOAD), *values[NAMES];
	int saved = errno;
	size_t bytes = 0;
	Dl_info own;
	char *at;

	if (!preload || !dladdr((const void *)&kept, &own) || !own.dli_fname ||
	    !lists(preload, own.dli_fname))
		return;
	for (size_t i = 0; i < NAMES; i++) {
		values[i] = place_environment(names[i]);
		if (i == BIND_NOW && !values[LIBRARIES])
			values[i] = NULL; /* the program's own */
		bytes += values[i] ? strlen(names[i]) + strlen(values[i]) + 2 : 0;
	}
	at = port_memory(bytes + strlen(own.dli_fname) + 1);
	errno = saved;
	if (!at)
		return;
	for (size_t i = 0; i < NAMES; i++) {
		if (!values[i])
			continue;
		kept.words[i] = at;
		at = put(put(put(at, names[i]), "="), values[i]) + 1;
	}
	put(at, own.dli_fname);
	kept.library = at;
}

/* Puts the library first, as `assay calls` does. */
static char *preload_word(char *at, const char *theirs)
{
	char *word = at;

	at = put(put(put(at, PRELOAD), "="), kept.library);
	if (theirs)
		put(put(at, ":"), theirs);
	return word;
}

static void *room_for(struct environment_room *room, size_t bytes)
{
	if (bytes <= sizeof(room->bytes))
		return room->bytes;
	room->more = port_memory(bytes);
	room->more_bytes = bytes;
	return room->more;
}

char *const *environment_complete(char *const *given, struct environment_room *room)
{
	const char *preload;
	size_t count = 0, bytes;
	char **words;
	int saved = errno;

	room->more = NULL;
	if (!kept.library || !given)
		return given;
	preload = find(given, PRELOAD);
	if (preload && (!*preload || (lists(preload, kept.library) &&
	                              (!kept.words[DIRECTORY] || find(given, names[DIRECTORY])))))
		return given;
	while (given[count])
		count++;
	bytes = (count + NAMES + 2) * sizeof(*words);
	words = room_for(room, bytes + sizeof(PRELOAD "=:") + strlen(kept.library) +
	                               (preload ? strlen(preload) : 0));
	errno = saved;
	if (!words)
		return given;
	count = 0;
	for (; *given; given++)
		if (!value_of(*given, PRELOAD) || lists(preload, kept.library))
			words[count++] = *given;
	words[count] = NULL;
	for (size_t i = 0; i < NAMES; i++)
		if (kept.words[i] && !find(words, names[i])) {
			words[count++] = kept.words[i];
			words[count] = NULL;
		}
	if (!preload || !lists(preload, kept.library))
		words[count++] = preload_word((char *)words + bytes, preload);
	words[count] = NULL;
	return words;
}

void environment_done(struct environment_room *room)
{
	int saved = errno;

	if (room->more)
		port_memory_free(room->more, room->more_bytes);
	errno = saved;
}
