/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error: the description of a failure, as a sentence on which its reader can act.
 *
 * A function that can fail has a `struct error *` as its last parameter, and returns 0 or -errno.
 * The text names the file, the place and the way out. Layers below cmd/ set it and never print it.
 */
#ifndef ASSAY_BASE_ERROR_H
#define ASSAY_BASE_ERROR_H

struct error {
	int code; /* positive errno, 0: no failure */
	char text[1024];
};

/* Sets the sentence and returns -code. `err` may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

#endif
