/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * click_digest: the ids of a store on ClickHouse: hashes of contents, equal on all hosts.
 *
 * 64 bits of BLAKE2b: among 10 million contents two are equal with a probability of 1 in 400,000,
 * and a program cannot choose its name so that it has the id of another. Ids are never 0, which
 * stands for none. Stateless. Any thread. Uses: base.
 */
#ifndef ASSAY_STORE_CLICKHOUSE_CLICK_DIGEST_H
#define ASSAY_STORE_CLICKHOUSE_CLICK_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/*
 * The id of a content of a kind ("process"). One letter for each value: q a number of 64 bits, s a
 * const char * (NULL: empty), b const void * and size_t.
 */
uint64_t click_digest(const char *kind, const char *letters, ...);

#endif
