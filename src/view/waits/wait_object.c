/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/waits/wait_object.h"

#include "view/waits/wait_peer.h"
#include "view/waits/wait_site.h"

#include <inttypes.h>
#include <string.h>

const char *wait_descriptor_name(const struct wait_log *log, const struct wait_key *key)
{
	if (!key->in_system_call || key->descriptor >= log->descriptors.count)
		return NULL;
	return log->descriptors.items[key->descriptor].name;
}

const char *wait_fault_file(const struct wait_log *log, const struct wait_key *key,
                            const struct wait_cause *cause)
{
	if (cause->kind != WAIT_PAGE_FAULT || !key->fault_file)
		return NULL;
	return log->descriptors.items[key->fault_file - 1].name;
}

static void put_function(struct wait_causes *c, const char *before, uint32_t frame, struct buf *out)
{
	const struct symbol *symbol;

	if (frame == ID_NONE)
		return;
	symbol = view_function(c->view, frame);
	if (symbol->named)
		buf_addf(out, "%s%s", before, symbol->name);
}

static uint32_t process_of(const struct wait_causes *c, const struct wait_key *key)
{
	return process_table_thread_at(c->view->profile->processes, key->thread)->process;
}

/* The variable that contains the address of a futex. */
static const char *variable_of(struct wait_causes *c, const struct wait_log *log,
                               const struct wait_key *key, uint64_t *offset)
{
	const struct wait_address *a =
	        wait_addresses_find(&log->addresses, process_of(c, key), key->argument);

	if (a && a->variable)
		*offset = a->variable_offset;
	if (a && a->variable)
		return a->variable;
	return a && a->code_address ? symbolizer_variable(c->view->symbols, a->code,
	                                                  a->code_address, key->argument, offset)
	                            : NULL;
}

/* "[heap]", "[stack]"; the mapping of a file is known if its data has a name. */
static void put_region(const struct wait_causes *c, const struct wait_address *a, struct buf *out)
{
	const char *region = a && a->region != ID_NONE ? view_image_short(c->view, a->region) : "";

	if (!strncmp(region, "anon", 4) || !strcmp(region, "//anon"))
		buf_puts(out, " in anonymous memory");
	else if (*region)
		buf_addf(out, " in %s", region);
}

/* An address without a variable: its place in the data of a file, or the function that waits there.
 */
static void put_address(struct wait_causes *c, const struct wait_log *log,
                        const struct wait_key *key, const struct wait_cause *cause, struct buf *out)
{
	uint32_t process = process_of(c, key);
	const struct wait_address *a = wait_addresses_find(&log->addresses, process, key->argument);
	const char *function;
	uint64_t place;

	if (a && a->code_address &&
	    (a->has_place ||
	     symbolizer_data(c->view->symbols, a->code, a->code_address, key->argument, &place))) {
		place = a->has_place ? a->place : place;
		buf_addf(out, " at %s+0x%" PRIx64, view_image_short(c->view, a->code.image), place);
		return;
	}
	if (!c->no_addresses)
		buf_addf(out, " at 0x%" PRIx64, key->argument);
	put_region(c, a, out);
	function = wait_site_function(c, log, process, key->argument);
	if (function)
		buf_addf(out, ", %s in %s", cause->kind == WAIT_LOCK ? "locked" : "awaited",
		         function);
}

static bool name_futex(struct wait_causes *c, const struct wait_log *log,
                       const struct wait_key *key, const struct wait_cause *cause, struct buf *out)
{
	uint64_t offset = 0;
	const char *variable = key->in_system_call ? variable_of(c, log, key, &offset) : NULL;

	if (variable) {
		buf_puts(out, variable);
		/* The futex is a word in the object: only another object in it is another one. */
		if (offset >= SYMBOL_OBJECT_BYTES)
			buf_addf(out, "+%" PRIu64, offset);
		return true;
	}
	buf_puts(out, cause->object ? cause->object : "futex");
	if (cause->kind == WAIT_CHILD || cause->kind == WAIT_SLEEP)
		return true;
	if (key->in_system_call && key->argument)
		put_address(c, log, key, cause, out);
	else
		put_function(c, " in ", cause->place, out);
	return true;
}

/* Files without a name: what they are, and the descriptor's number. */
static void name_file(const struct wait_key *key, const char *name, struct buf *out)
{
	static const char anonymous[] = "anon_inode:";
	size_t head = sizeof(anonymous) - 1;

	if (!strncmp(name, anonymous, head))
		buf_addf(out, "%s, descriptor %" PRIu64, name + head, key->argument);
	else
		buf_puts(out, name);
}

/* epoll, poll and select wait for one of several files. */
static bool is_of_several(const struct wait_cause *cause)
{
	static const char *const calls[] = {"epoll", "poll", "select"};

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (cause->kind == WAIT_EVENT && cause->object && !strcmp(cause->object, calls[i]))
			return true;
	return false;
}

static bool name_peer(struct wait_causes *c, const struct wait_log *log, const struct wait_key *key,
                      const struct wait_cause *cause, struct buf *out)
{
	size_t start = out->size;

	buf_puts(out, cause->object);
	if (cause->argument == ARGUMENT_DESCRIPTOR && key->in_system_call)
		buf_addf(out, " %" PRIu64, key->argument);
	buf_puts(out, ": ");
	if (wait_peer_name(c, log, key, cause, out))
		return true;
	out->size = start;
	return false;
}

static bool name_descriptor(struct wait_causes *c, const struct wait_log *log,
                            const struct wait_key *key, const struct wait_cause *cause,
                            struct buf *out)
{
	const char *name = wait_descriptor_name(log, key);

	if (is_of_several(cause) && name_peer(c, log, key, cause, out))
		return true;
	if (name && !wait_descriptor_fits(cause->kind, name))
		name = NULL;
	if (cause->object && cause->kind == WAIT_LOCK)
		buf_addf(out, "%s of ", cause->object);
	if (name) {
		name_file(key, name, out);
		return true;
	}
	if (key->in_system_call && key->argument <= INT32_MAX)
		buf_addf(out, "descriptor %" PRIu64, key->argument);
	else
		put_function(c, "in ", cause->call, out);
	return out->size != 0;
}

/* The function that takes a lock says more than the lock's kind. */
static bool name_kernel_lock(struct wait_causes *c, const struct wait_cause *cause, struct buf *out)
{
	buf_puts(out, cause->object ? cause->object : "kernel lock");
	put_function(c, " in ", cause->lock, out);
	return cause->lock != ID_NONE;
}

static bool name_unknown(struct wait_causes *c, const struct wait_key *key,
                         const struct wait_cause *cause, struct buf *out)
{
	if (cause->no_stack)
		buf_puts(out, key->lost ? "lost records" : "no stack");
	else
		put_function(c, "in ", cause->lock, out);
	return false;
}

bool wait_object_name(struct wait_causes *c, const struct wait_log *log, const struct wait_key *key,
                      const struct wait_cause *cause, struct buf *out)
{
	switch (cause->kind) {
	case WAIT_OTHER:
		if (cause->argument == ARGUMENT_DESCRIPTOR && !cause->no_stack)
			return name_descriptor(c, log, key, cause, out);
		return name_unknown(c, key, cause, out);
	case WAIT_PAGE_FAULT:
		if (wait_fault_file(log, key, cause)) {
			buf_puts(out, wait_fault_file(log, key, cause));
			return true;
		}
		if (cause->object)
			buf_puts(out, cause->object);
		put_function(c, cause->object ? " in " : "in ", cause->place, out);
		return out->size != 0;
	case WAIT_CPU:
		if (cause->object)
			buf_puts(out, cause->object);
		return true;
	default:
		break;
	}
	if (cause->argument == ARGUMENT_FUTEX)
		return name_futex(c, log, key, cause, out);
	if (cause->argument != ARGUMENT_DESCRIPTOR && is_of_several(cause) &&
	    name_peer(c, log, key, cause, out))
		return true;
	if (cause->argument == ARGUMENT_DESCRIPTOR)
		return name_descriptor(c, log, key, cause, out);
	if (cause->kind == WAIT_LOCK)
		return name_kernel_lock(c, cause, out);
	if (cause->object)
		buf_puts(out, cause->object);
	else
		put_function(c, "in ", cause->lock, out);
	if (cause->argument == ARGUMENT_NUMBER && key->in_system_call)
		buf_addf(out, " %" PRIu64, key->argument);
	return out->size != 0;
}
