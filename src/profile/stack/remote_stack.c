/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/stack/remote_stack.h"

#include "base/memory/hash.h"
#include "base/memory/vec.h"

#include <errno.h>
#include <sys/uio.h>

#define FIRST_CHUNK ((size_t)20 << 10) /* read at once */
#define CHUNK ((size_t)64 << 10)       /* bytes of each later read */
#define SAMPLE_MAX ((size_t)16 << 20)  /* maximum bytes that are read for one sample */
#define PAGE ((uint64_t)4096)
#define PIECES (CHUNK / PAGE + 2)
#define PROOF_MAX ((size_t)4096) /* bytes of the copy that are compared */
#define CLOSED 1024

/* A request: memory, and the proof again. */
struct remote_stack_request {
	pid_t pid;
	uint32_t size, proof_size;
	uint64_t address, proof_start;
};

struct remote_stack {
	struct foreign *foreign;
	pid_t pid;
	const uint8_t *proof; /* bytes that must not have changed */
	uint64_t proof_start, proof_size;
	uint64_t start; /* address of the memory that was read */
	size_t total;
	struct buf bytes;
	bool stands;             /* the proof was unchanged after the last read */
	uint32_t closed[CLOSED]; /* numbers of processes that cannot be read */
};

struct remote_stack *remote_stack_new(struct foreign *foreign)
{
	struct remote_stack *l = xcalloc(1, sizeof(*l));

	l->foreign = foreign;
	for (size_t i = 0; i < CLOSED; i++)
		l->closed[i] = ID_NONE;
	return l;
}

void remote_stack_free(struct remote_stack *l)
{
	if (!l)
		return;
	buf_done(&l->bytes);
	free(l);
}

/* Reads up to the first missing page: only whole pieces are certain to be read. */
static ssize_t read_process(pid_t pid, uint64_t address, uint8_t *into, size_t size)
{
	struct iovec local = {into, size}, pieces[PIECES];
	size_t count = 0, done = 0, piece;

	while (done < size && count < PIECES) {
		piece = PAGE - ((address + done) & (PAGE - 1));
		if (piece > size - done)
			piece = size - done;
		pieces[count++] = (struct iovec){(void *)(uintptr_t)(address + done), piece};
		done += piece;
	}
	local.iov_len = done;
	return process_vm_readv(pid, &local, 1, pieces, count, 0);
}

/*
 * Reads memory, then the proof, and returns the size of the memory. Since the proof is read last,
 * one call shows whether both are consistent.
 */
static int read_memory(const void *in, size_t in_size, struct foreign_reply *reply)
{
	const struct remote_stack_request *r = in;
	uint8_t *bytes = foreign_reply_room(reply);
	ssize_t got = read_process(r->pid, r->address, bytes, r->size), proof;
	uint32_t size = got > 0 ? (uint32_t)got : 0;

	if (!size)
		return got < 0 ? -errno : -EFAULT;
	proof = read_process(r->pid, r->proof_start, bytes + size, r->proof_size);
	if (proof != (ssize_t)r->proof_size)
		memset(bytes + size, 0, r->proof_size);
	memcpy(bytes + size + r->proof_size, &size, sizeof(size));
	foreign_reply_filled(reply, size + r->proof_size + sizeof(size));
	return proof == (ssize_t)r->proof_size ? 0 : -EFAULT;
}

_Static_assert(CHUNK + PROOF_MAX + sizeof(uint32_t) <= FOREIGN_ROOM, "a reply fits");

/* Reads the next piece: 0, or -errno if there is no more. */
static int extend(struct remote_stack *l)
{
	uint64_t end = l->start + l->bytes.size;
	size_t size = (l->total ? CHUNK : FIRST_CHUNK) - (end & (PAGE - 1));
	struct remote_stack_request r = {.pid = l->pid,
	                                 .size = (uint32_t)size,
	                                 .proof_size = (uint32_t)l->proof_size,
	                                 .address = end,
	                                 .proof_start = l->proof_start};
	uint32_t got;
	int status;

	if (l->total + size > SAMPLE_MAX)
		return -EFBIG;
	status = foreign_call(l->foreign, read_memory, foreign_user(l->foreign, l->pid), FOREIGN_MS,
	                      &r, sizeof(r), &l->bytes);
	if (status)
		return status;
	memcpy(&got, l->bytes.data + l->bytes.size - sizeof(got), sizeof(got));
	l->bytes.size -= sizeof(got) + l->proof_size;
	l->total += got;
	if (memcmp(l->bytes.data + l->bytes.size, l->proof, l->proof_size) != 0)
		l->stands = false;
	return 0;
}

bool remote_stack_begin(struct remote_stack *l, pid_t pid, uint32_t process,
                        const struct unwind_memory *copy, uint64_t from, uint64_t to)
{
	uint32_t *closed = &l->closed[process % CLOSED];
	int status;

	if (*closed == process || from < copy->start || from >= to || to - copy->start > copy->size)
		return false;
	if (to - from > PROOF_MAX)
		from = to - PROOF_MAX;
	l->pid = pid;
	l->proof = copy->bytes + (from - copy->start);
	l->proof_start = from;
	l->proof_size = to - from;
	l->start = from;
	l->total = l->bytes.size = 0;
	l->stands = true;
	status = extend(l);
	if (status == -EPERM || status == -ESRCH)
		*closed = process;
	if (status)
		return false;
	return l->bytes.size >= l->proof_size && !memcmp(l->bytes.data, l->proof, l->proof_size);
}

bool remote_stack_read(void *live, uint64_t address, uint64_t *value)
{
	struct remote_stack *l = live;
	uint64_t into = address - l->start;

	/* Another stack, for example the stack that a signal interrupted. */
	if (into > l->bytes.size + CHUNK) {
		l->start = address;
		l->bytes.size = 0;
		into = 0;
	}
	while (l->bytes.size < into + sizeof(*value))
		if (extend(l))
			return false;
	memcpy(value, l->bytes.data + into, sizeof(*value));
	return true;
}

bool remote_stack_end(struct remote_stack *l)
{
	return l->stands;
}

struct remote_code_request {
	pid_t pid;
	uint32_t size;
	uint64_t address;
};

static int read_code(const void *in, size_t in_size, struct foreign_reply *reply)
{
	const struct remote_code_request *r = in;
	uint8_t *bytes = foreign_reply_room(reply);
	ssize_t got = read_process(r->pid, r->address, bytes, r->size);

	if (got <= 0)
		return got < 0 ? -errno : -EFAULT;
	foreign_reply_filled(reply, (size_t)got);
	return 0;
}

size_t remote_stack_code(struct remote_stack *l, pid_t pid, uint32_t process, uint64_t address,
                         uint8_t *bytes, size_t size)
{
	struct remote_code_request r = {.pid = pid, .size = (uint32_t)size, .address = address};
	uint32_t *closed = &l->closed[process % CLOSED];
	struct buf out = {0};
	int status;

	if (*closed == process)
		return 0;
	if (r.size > PAGE - (address & (PAGE - 1)))
		r.size = (uint32_t)(PAGE - (address & (PAGE - 1)));
	status = foreign_call(l->foreign, read_code, foreign_user(l->foreign, pid), FOREIGN_MS, &r,
	                      sizeof(r), &out);
	if (status == -EPERM || status == -ESRCH)
		*closed = process;
	size = status || out.size > r.size ? 0 : out.size;
	if (size)
		memcpy(bytes, out.data, size);
	buf_done(&out);
	return size;
}
