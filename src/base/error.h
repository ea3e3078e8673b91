/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * error: what went wrong, in a sentence that its reader can act on.
 *
 * A function that can fail takes a `struct error *` last and returns 0 or
 * -errno. The text names the file, the place and the way out. Layers below
 * cmd/ fill it and never print it.
 */
#ifndef ASSAY_BASE_ERROR_H
#define ASSAY_BASE_ERROR_H

struct error {
	int code; /* positive errno, 0 where nothing went wrong */
	char text[1024];
};

/* Sets the sentence and returns -code. `err` may be NULL. */
int error_set(struct error *err, int code, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

#endif
