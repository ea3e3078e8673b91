/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/labels.h"

#include "base/memory/xalloc.h"
#include "base/text/utf8.h"

#include <string.h>

static bool is_key(const char *key, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (key[i] <= ' ' || key[i] > '~' || key[i] == '=')
			return false;
	return size && size <= LABEL_KEY_MAX;
}

/* A sequence is checked in a copy, since the text does not end with a zero byte. */
static size_t character_at(const char *at, size_t left)
{
	unsigned char copy[5] = {0};

	memcpy(copy, at, left < 4 ? left : 4);
	if (copy[0] < ' ' || copy[0] == 0x7f)
		return 0;
	return (size_t)utf8_length(copy);
}

static char *clean(struct labels *l, const char *value, size_t size)
{
	struct buf out = {0};

	for (size_t i = 0; i < size;) {
		size_t length = character_at(value + i, size - i), step = length ? length : 1;

		if (out.size + step > LABEL_VALUE_MAX) {
			l->cut++;
			break;
		}
		buf_add(&out, length ? value + i : "?", step);
		i += step;
	}
	buf_putc(&out, '\0');
	return out.data;
}

bool labels_add(struct labels *l, const char *key, size_t key_size, const char *value,
                size_t value_size)
{
	if (!value_size)
		return true;
	if (!is_key(key, key_size)) {
		l->dropped++;
		return false;
	}
	vec_each (label, &l->items)
		if (strlen(label->key) == key_size && !memcmp(label->key, key, key_size))
			return true;
	if (l->items.count >= LABELS_MAX) {
		l->dropped++;
		return false;
	}
	vec_push(&l->items, (struct label){xstrndup(key, key_size), clean(l, value, value_size)});
	return true;
}

void labels_add_text(struct labels *l, const char *text)
{
	for (const char *at = text ? text : ""; *at;) {
		size_t line = strcspn(at, "\n"), key = strcspn(at, "=\n");

		if (key < line)
			labels_add(l, at, key, at + key + 1, line - key - 1);
		else if (line)
			l->dropped++;
		at += line + (at[line] == '\n');
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

void labels_text(struct labels *l, struct buf *out)
{
	if (l->items.count)
		qsort(l->items.items, l->items.count, sizeof(*l->items.items), compare);
	vec_each (label, &l->items)
		buf_addf(out, "%s%s=%s", label == l->items.items ? "" : "\n", label->key,
		         label->value);
}

void labels_done(struct labels *l)
{
	vec_each (label, &l->items) {
		free(label->key);
		free(label->value);
	}
	vec_done(&l->items);
	*l = (struct labels){0};
}

const char *labels_find(const char *text, const char *key, size_t *size)
{
	size_t length = strlen(key);

	for (const char *at = text ? text : ""; *at;) {
		size_t line = strcspn(at, "\n");

		if (line > length && at[length] == '=' && !memcmp(at, key, length)) {
			*size = line - length - 1;
			return at + length + 1;
		}
		at += line + (at[line] == '\n');
	}
	return NULL;
}
