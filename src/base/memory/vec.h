/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vec: a growing array of one type.
 *
 *	VEC(uint64_t) times = {0};
 *	vec_push(&times, now);
 *	for (size_t i = 0; i < times.count; i++) use(times.items[i]);
 *	vec_done(&times);
 *
 * Items move when the array grows: keep indices, not pointers.
 */
#ifndef ASSAY_BASE_MEMORY_VEC_H
#define ASSAY_BASE_MEMORY_VEC_H

#include "base/memory/xalloc.h"

#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *items;                                                                       \
		size_t count, room;                                                                \
	}

#define vec_reserve(v, n)                                                                          \
	do {                                                                                       \
		size_t need_ = (n);                                                                \
		if (need_ > (v)->room) {                                                           \
			size_t room_ = (v)->room ? (v)->room : 8;                                  \
			while (room_ < need_)                                                      \
				room_ *= 2;                                                        \
			(v)->items = xrealloc((v)->items, room_, sizeof(*(v)->items));             \
			(v)->room = room_;                                                         \
		}                                                                                  \
	} while (0)

#define vec_push(v, ...)                                                                           \
	do {                                                                                       \
		vec_reserve((v), (v)->count + 1);                                                  \
		(v)->items[(v)->count++] = (__VA_ARGS__);                                          \
	} while (0)

/* Appends a zeroed item and returns its address, which is valid until the array grows. */
#define vec_add(v)                                                                                 \
	({                                                                                         \
		vec_reserve((v), (v)->count + 1);                                                  \
		__builtin_memset(&(v)->items[(v)->count], 0, sizeof(*(v)->items));                 \
		&(v)->items[(v)->count++];                                                         \
	})

/* The address of the item with that index; the array grows with zeroed items up to it. */
#define vec_at(v, index)                                                                           \
	({                                                                                         \
		size_t at_ = (index);                                                              \
		while ((v)->count <= at_)                                                          \
			vec_add(v);                                                                \
		&(v)->items[at_];                                                                  \
	})

#define vec_last(v) (&(v)->items[(v)->count - 1])

#define vec_done(v)                                                                                \
	do {                                                                                       \
		free((v)->items);                                                                  \
		(v)->items = NULL;                                                                 \
		(v)->count = (v)->room = 0;                                                        \
	} while (0)

#define vec_each(item, v)                                                                          \
	for (__typeof__((v)->items + 0) item = (v)->items;                                         \
	     (v)->count && item < (v)->items + (v)->count; item++)

#endif
