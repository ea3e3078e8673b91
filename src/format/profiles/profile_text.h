/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_text: what the readers of text profiles share: lines with their numbers, numbers, and
 * functions by name. Private to format/profiles.
 *
 * Bytes after `end` are not read. A line has no line feed, and may have any other byte. Zeroed
 * struct profile_names is empty; profile_names_done(). One thread. Uses: base, profile.
 */
#ifndef ASSAY_FORMAT_PROFILES_PROFILE_TEXT_H
#define ASSAY_FORMAT_PROFILES_PROFILE_TEXT_H

#include "base/error.h"
#include "base/memory/buf.h"
#include "profile/symbolized_profile.h"

struct profile_text {
	const char *name; /* of the file */
	const char *at, *end;
	size_t number; /* of the last line, from 1 */
};

/* A byte order mark at the beginning is skipped. */
void profile_text_init(struct profile_text *t, const char *name, const void *bytes, size_t size);
/* The next line; false: the end. */
bool profile_text_line(struct profile_text *t, const char **line, size_t *size);
/* -EBADMSG: "FILE is damaged at line N: WHAT". */
int profile_text_bad(const struct profile_text *t, struct error *err, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

/* A number of digits; false: the text is no such number, or the number is too large. */
bool profile_text_number(const char *text, size_t size, int64_t *value);

enum profile_number {
	PROFILE_NO_NUMBER,
	PROFILE_DECIMAL,  /* digits, with an optional fraction */
	PROFILE_NEGATIVE, /* and it may have an exponent */
	PROFILE_EXPONENT,
};

enum profile_number profile_number_kind(const char *text, size_t size);
/* Of a PROFILE_DECIMAL: the digits after the point, without zeros at the end. */
unsigned profile_decimals(const char *text, size_t size);
/* Its value, which may be inexact. */
long double profile_number_about(const char *text, size_t size);
/* Its value in units of 10^-decimals, rounded. False: too large. */
bool profile_text_decimal(const char *text, size_t size, unsigned decimals, int64_t *value);

/* The place of each function, and a buffer for copies of texts that do not end with NUL. */
struct profile_names {
	VEC(uint32_t) places; /* by function: place + 1; 0: none yet */
	struct buf text;
};

uint32_t profile_names_text(struct profile_names *names, struct symbolized_profile *n,
                            const char *text, size_t size);
uint32_t profile_names_place(struct profile_names *names, struct symbolized_profile *n,
                             const struct named_function *f);
void profile_names_done(struct profile_names *names);

/* n->main_value becomes the wanted value, else `main`. -ENOENT: there is no such value. */
int profile_choose_value(struct symbolized_profile *n, unsigned main, const char *name,
                         struct error *err);
/* -EFBIG if the profile has too many paths. */
int profile_check_size(const struct symbolized_profile *n, const char *name, struct error *err);

#endif
