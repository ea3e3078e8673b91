/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int error_set(struct error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (err) {
		err->code = code;
		va_start(ap, fmt);
		vsnprintf(err->text, sizeof(err->text), fmt, ap);
		va_end(ap);
	}
	return -code;
}

int error_prefix(struct error *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	int n;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	/* Cut where it is too long; the answer is looked at for the compiler's sake. */
	if (n >= 0 && (size_t)n < sizeof(err->text) &&
	    snprintf(err->text + n, sizeof(err->text) - (size_t)n, ": %s", old) < 0)
		err->text[n] = '\0';
	return -err->code;
}
