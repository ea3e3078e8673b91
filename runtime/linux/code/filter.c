/* SPDX-License-Identifier: MIT */
/*
 * filter: see filter.h. Patterns are numbered from 1. The last pattern that matches one of a
 * function's names or its image's name decides. Therefore only the number of that pattern is stored
 * for each address with a name that matches. The store is one hash over all images. Only the thread
 * in `reader` writes it. It grows by a copy; the old hash stays, since other threads may still read
 * it.
 */
#include "linux/code/filter.h"

#include "calls/port.h"
#include "linux/code/images.h"
#include "linux/code/symbols.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_IMAGES 4096
#define FIRST_SLOTS 1024
#define PLAIN_BYTES 512
#define KEY_SHIFT 48 /* bits 0..47 the address, above them the image */

struct hash {
	/* Used: slots in use; only the thread that fills the table reads it */
	uint64_t slots, used;
	struct {
		uint64_t key; /* 0: free */
		uint64_t match;
	} slot[];
};

enum state { UNREAD = 0, READ };

static struct {
	const char *patterns;
	unsigned count;
	bool only_out; /* all patterns begin with "!" */
	struct hash *hash;
	int reader; /* thread; 0: none */
	uint8_t state[MOST_IMAGES];
} filter;

struct piece {
	const char *at, *end;
};

static bool in_set(struct piece *set, char c)
{
	bool negated = set->at < set->end && (*set->at == '!' || *set->at == '^'), found = false;
	bool first = true;

	for (set->at += negated; set->at < set->end && (first || *set->at != ']'); first = false) {
		unsigned char low = (unsigned char)*set->at++, high = low;

		if (set->end - set->at >= 2 && set->at[0] == '-' && set->at[1] != ']') {
			high = (unsigned char)set->at[1];
			set->at += 2;
		}
		found |= (unsigned char)c >= low && (unsigned char)c <= high;
	}
	if (set->at < set->end)
		set->at++; /* the bracket */
	return found != negated;
}

/* Takes one item of the pattern, except a star. True if it matches `c`. */
static bool take_item(struct piece *p, char c)
{
	struct piece set = {p->at + 1, p->end};
	bool is;

	switch (*p->at) {
	case '?':
		p->at++;
		return true;
	case '[':
		if (!memchr(set.at, ']', (size_t)(set.end - set.at)))
			break; /* not closed: an ordinary character */
		is = in_set(&set, c);
		p->at = set.at;
		return is;
	case '\\':
		p->at += p->end - p->at > 1;
		break;
	}
	return *p->at++ == c;
}

/*
 * Only the last star is tried again after a mismatch. This is sufficient for globs, and never
 * exponential.
 */
static bool matches(struct piece p, struct piece text)
{
	struct piece star = {NULL, NULL}, star_text = {NULL, NULL};

	for (;;) {
		if (p.at < p.end && *p.at == '*') {
			p.at++;
			star = p;
			star_text = text;
			continue;
		}
		if (text.at == text.end && p.at == p.end)
			return true;
		if (text.at < text.end && p.at < p.end && take_item(&p, *text.at)) {
			text.at++;
			continue;
		}
		if (!star.at || star_text.at == star_text.end)
			return false;
		star_text.at++;
		p = star;
		text = star_text;
	}
}

static struct piece piece_of(const char *text)
{
	return (struct piece){text, text + strlen(text)};
}

bool filter_glob(const char *pattern, const char *text)
{
	return matches(piece_of(pattern), piece_of(text));
}

/* The next pattern, without the blanks around it and its "!". False: there is no more. */
static bool next_pattern(const char **at, struct piece *p, bool *out)
{
	if (!*at)
		return false;
	p->at = *at;
	p->end = strchrnul(p->at, ',');
	*at = *p->end ? p->end + 1 : NULL;
	while (p->at < p->end && *p->at == ' ')
		p->at++;
	while (p->at < p->end && p->end[-1] == ' ')
		p->end--;
	*out = p->at < p->end && *p->at == '!';
	p->at += *out;
	return true;
}

void filter_begin(const char *patterns)
{
	const char *at = patterns;
	struct piece p;
	bool out;

	filter.patterns = NULL;
	filter.count = 0;
	filter.only_out = true;
	filter.hash = NULL;
	filter.reader = 0;
	memset(filter.state, UNREAD, sizeof(filter.state));
	while (next_pattern(&at, &p, &out)) {
		if (p.at == p.end)
			continue;
		filter.patterns = patterns;
		filter.only_out &= out;
	}
}

bool filter_is_set(void)
{
	return filter.patterns;
}

/*
 * The number of the last pattern that matches one of the texts, times two, plus 1 if it excludes.
 */
static uint64_t last_match(const struct piece *texts, int count)
{
	const char *at = filter.patterns;
	uint64_t number = 0, last = 0;
	struct piece p;
	bool out;

	while (next_pattern(&at, &p, &out)) {
		number++;
		for (int i = 0; i < count && p.at < p.end; i++) {
			if (!matches(p, texts[i]))
				continue;
			last = 2 * number + out;
			break;
		}
	}
	return last;
}

static uint64_t match_name(const char *name, size_t length)
{
	struct piece texts[3] = {{name, name + length}};
	const char *dot = length > 1 ? memchr(name + 1, '.', length - 1) : NULL;
	char plain[PLAIN_BYTES];
	int count = 1;

	if (dot)
		texts[count++] = (struct piece){name, dot};
	if (symbols_plain(name, dot ? (size_t)(dot - name) : length, plain, sizeof(plain)))
		texts[count++] = piece_of(plain);
	return last_match(texts, count);
}

static uint64_t match_image(const struct assay_calls_image *image)
{
	struct piece texts[2] = {piece_of(image->path), piece_of(image->path)};
	const char *slash = strrchr(image->path, '/');

	if (slash)
		texts[1].at = slash + 1;
	return last_match(texts, 2);
}

static uint64_t *slot_of(struct hash *h, uint64_t key, uint64_t **match)
{
	uint64_t at = (key * 0x9e3779b97f4a7c15ull) >> 20;

	for (;; at++) {
		at &= h->slots - 1;
		uint64_t there = __atomic_load_n(&h->slot[at].key, __ATOMIC_ACQUIRE);

		if (there && there != key)
			continue;
		*match = &h->slot[at].match;
		return &h->slot[at].key;
	}
}

static void store(struct hash *h, uint64_t key, uint64_t match)
{
	uint64_t *there, *place = slot_of(h, key, &there);

	if (*place) { /* another name of the same function */
		*there = *there > match ? *there : match;
		return;
	}
	*there = match;
	__atomic_store_n(place, key, __ATOMIC_RELEASE);
	h->used++;
}

/* Makes room for one more entry. False: no memory. */
static bool grow(void)
{
	struct hash *old = filter.hash, *h;
	uint64_t slots = old ? 4 * old->slots : FIRST_SLOTS;

	if (old && old->used < old->slots / 2)
		return true;
	h = port_memory(sizeof(*h) + slots * sizeof(h->slot[0]));
	if (!h)
		return false;
	h->slots = slots;
	for (uint64_t i = 0; old && i < old->slots; i++)
		if (old->slot[i].key)
			store(h, old->slot[i].key, old->slot[i].match);
	__atomic_store_n(&filter.hash, h, __ATOMIC_RELEASE);
	return true;
}

/* A walk over an image's symbols, for all functions or for one. */
struct look {
	const struct assay_calls_image *image;
	int index;
	uint64_t wanted; /* address of the function; 0: store all functions */
	uint64_t match;  /* of the wanted function */
	bool no_room;
};

static void look_at(void *context, uint64_t offset, const char *name, size_t length)
{
	struct look *l = context;
	uint64_t address = l->image->start + (offset - l->image->offset), match;

	if (offset < l->image->offset || address >= l->image->end ||
	    (l->wanted && l->wanted != address))
		return;
	match = match_name(name, length);
	if (l->wanted)
		l->match = match > l->match ? match : l->match;
	else if (match && !l->no_room && !(l->no_room = !grow()))
		store(filter.hash, address | (uint64_t)(l->index + 1) << KEY_SHIFT, match);
}

static void look_through(struct look *l)
{
	struct symbols_file f;

	if (!symbols_open(&f, l->image))
		return;
	symbols_each(&f, look_at, l);
	symbols_close(&f);
}

/*
 * Makes the running thread the reader. A reader that has ended, or that is a thread of the fork's
 * parent, is replaced.
 */
static bool lock(void)
{
	int self = (int)syscall(SYS_gettid), holder = 0;

	if (__atomic_compare_exchange_n(&filter.reader, &holder, self, false, __ATOMIC_ACQUIRE,
	                                __ATOMIC_RELAXED))
		return true;
	return holder != self && syscall(SYS_tgkill, syscall(SYS_getpid), holder, 0) &&
	       errno == ESRCH &&
	       __atomic_compare_exchange_n(&filter.reader, &holder, self, false, __ATOMIC_ACQUIRE,
	                                   __ATOMIC_RELAXED);
}

/* Reads an image's symbols once. False: another thread is reading, or there is no memory. */
static bool read_image(const struct assay_calls_image *image, int index)
{
	struct look l = {.image = image, .index = index};

	if (__atomic_load_n(&filter.state[index], __ATOMIC_ACQUIRE) == READ)
		return true;
	if (!lock())
		return false;
	if (filter.state[index] != READ) {
		look_through(&l);
		if (!l.no_room)
			__atomic_store_n(&filter.state[index], READ, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&filter.reader, 0, __ATOMIC_RELEASE);
	return !l.no_room;
}

static uint64_t match_function(uint64_t address, const struct assay_calls_image *image, int index)
{
	struct look l = {.image = image, .index = index, .wanted = address};
	struct hash *h;
	uint64_t *there;

	if (!read_image(image, index)) {
		look_through(&l);
		return l.match;
	}
	h = __atomic_load_n(&filter.hash, __ATOMIC_ACQUIRE);
	if (!h || !*slot_of(h, address | (uint64_t)(index + 1) << KEY_SHIFT, &there))
		return 0;
	return *there;
}

bool filter_wants(uint64_t address, int image)
{
	const struct assay_calls_image *file;
	uint64_t match = 0, name;
	int saved = errno;

	if (!filter.patterns)
		return true;
	file = image >= 0 && image < MOST_IMAGES ? images_get(image) : NULL;
	if (file) {
		match = match_image(file);
		name = match_function(address & ~(~0ull << KEY_SHIFT), file, image);
		match = name > match ? name : match;
	}
	errno = saved;
	return match ? !(match & 1) : filter.only_out;
}
