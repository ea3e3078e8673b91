/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text/labels.h"
#include "check.h"

#include <string.h>

static void add(struct labels *l, const char *key, const char *value)
{
	labels_add(l, key, strlen(key), value, strlen(value));
}

static void texts_are_sorted_and_have_each_key_once(void)
{
	struct labels l = {0};
	struct buf out = {0};
	size_t size;

	add(&l, "b", "2");
	add(&l, "a", "1=1");
	add(&l, "b", "3");
	add(&l, "c", "");
	labels_add_text(&l, "d=4\nnone\n\na=5\n");
	labels_text(&l, &out);
	CHECK_STR(buf_text(&out), "a=1=1\nb=2\nd=4");
	CHECK_EQ(l.dropped, 1);
	CHECK_STR(labels_find(buf_text(&out), "d", &size), "4");
	CHECK(!strncmp(labels_find(buf_text(&out), "a", &size), "1=1", 3));
	CHECK_EQ(size, 3);
	CHECK(!labels_find(buf_text(&out), "c", &size) && !labels_find(NULL, "a", &size));
	labels_done(&l);
	buf_done(&out);
}

static void foreign_bytes_are_bounded(void)
{
	char key[200], value[400], number[20];
	struct labels l = {0};

	memset(key, 'k', sizeof(key));
	memset(value, 'v', sizeof(value));
	CHECK(!labels_add(&l, key, LABEL_KEY_MAX + 1, "x", 1));
	CHECK(!labels_add(&l, "a=b", 3, "x", 1) && !labels_add(&l, "a\nb", 3, "x", 1));
	CHECK(!labels_add(&l, "", 0, "x", 1));
	CHECK_EQ(l.dropped, 4);
	value[LABEL_VALUE_MAX - 1] = (char)0xc3; /* a character of two bytes does not fit */
	value[LABEL_VALUE_MAX] = (char)0xa9;
	CHECK(labels_add(&l, "long", 4, value, sizeof(value)));
	CHECK_EQ(l.cut, 1);
	CHECK_EQ(strlen(l.items.items[0].value), LABEL_VALUE_MAX - 1);
	CHECK(labels_add(&l, "odd", 3, "\xc3\xa9\xff\n\0\xe2\x82", 7));
	CHECK_STR(l.items.items[1].value, "\xc3\xa9?????");
	for (int i = 0; i < LABELS_MAX; i++) {
		snprintf(number, sizeof(number), "n%d", i);
		add(&l, number, "x");
	}
	CHECK_EQ(l.items.count, LABELS_MAX);
	CHECK_EQ(l.dropped, 6);
	labels_done(&l);
}

int main(void)
{
	RUN(texts_are_sorted_and_have_each_key_once);
	RUN(foreign_bytes_are_bounded);
	return check_end();
}
