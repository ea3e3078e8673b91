/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The port of test_tags_steps.c, except the functions that hold and release signals. */
#ifndef ASSAY_TESTS_STEPS_PORT_H
#define ASSAY_TESTS_STEPS_PORT_H

#include "tags/device.h"

#include <string.h>

static _Alignas(4096) char page[4096];

void port_memory_free(void *at, size_t bytes)
{
	memset(at, 0, bytes);
}

int32_t port_thread_id(void)
{
	return 7;
}

struct tags_thread *tags_port_thread(void)
{
	return (struct tags_thread *)page;
}

bool tags_port_begin(void)
{
	return true;
}

bool tags_port_failed(void)
{
	return false;
}

bool tags_port_populate(char *at, uint64_t bytes)
{
	return at && bytes;
}

void tags_port_names(char thread[16], char process[16])
{
	thread[0] = process[0] = 't';
}

bool tags_port_wait(void)
{
	return false;
}

void tags_port_turned(void)
{
}

#endif
