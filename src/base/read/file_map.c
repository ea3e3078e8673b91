/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/file_map.h"

#include "base/memory/xalloc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * Read by the handler. Slots are reused and never freed, so that the handler can walk them without
 * the lock. `size` is 0 while `start` changes. The stores of 0, `start` and `size` are in this
 * order (release). The handler loads `size`, `start` and again `size` (acquire), and uses the slot
 * if both sizes are equal.
 */
struct file_map_slot {
	uintptr_t start;
	size_t size;
	int prot;
	int cut;
	struct file_map_slot *next;      /* next slot; constant once the slot is in the list */
	struct file_map_slot *next_free; /* under the lock */
};

static struct {
	pthread_mutex_t lock;
	struct file_map_slot *all; /* first slot; stored (release) by the owner of the lock */
	struct file_map_slot *free;
	struct sigaction before;
	uintptr_t page;
	bool installed;
} maps = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct file_map_slot *slot_of(uintptr_t address)
{
	struct file_map_slot *slot = __atomic_load_n(&maps.all, __ATOMIC_ACQUIRE);

	for (; slot; slot = slot->next) {
		size_t size = __atomic_load_n(&slot->size, __ATOMIC_ACQUIRE);
		uintptr_t start = __atomic_load_n(&slot->start, __ATOMIC_ACQUIRE);

		if (address - start < size &&
		    __atomic_load_n(&slot->size, __ATOMIC_RELAXED) == size)
			return slot;
	}
	return NULL;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
	uintptr_t address = (uintptr_t)info->si_addr, from = address & ~(maps.page - 1);
	struct file_map_slot *slot = info->si_code == BUS_ADRERR ? slot_of(address) : NULL;
	int before = errno;

	(void)number;
	(void)context;
	if (!slot || mmap((void *)from, slot->start + slot->size - from, slot->prot,
	                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		sigaction(SIGBUS, &maps.before,
		          NULL); /* the repeated access raises the signal again */
	else
		__atomic_store_n(&slot->cut, 1, __ATOMIC_RELEASE);
	errno = before;
}

static void install(void)
{
	struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	maps.page = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, &maps.before);
	maps.installed = true;
}

static struct file_map_slot *take_slot(void *bytes, size_t size, int prot)
{
	struct file_map_slot *slot;

	pthread_mutex_lock(&maps.lock);
	if (!maps.installed)
		install();
	slot = maps.free;
	if (slot) {
		maps.free = slot->next_free;
	} else {
		slot = xcalloc(1, sizeof(*slot));
		slot->next = maps.all;
		__atomic_store_n(&maps.all, slot, __ATOMIC_RELEASE);
	}
	slot->prot = prot;
	slot->cut = 0;
	__atomic_store_n(&slot->start, (uintptr_t)bytes, __ATOMIC_RELEASE);
	__atomic_store_n(&slot->size, size, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&maps.lock);
	return slot;
}

int file_map_open(struct file_map *m, int fd, size_t size, int prot, int flags)
{
	void *bytes = mmap(NULL, size, prot, flags, fd, 0);

	*m = (struct file_map){0};
	if (bytes == MAP_FAILED)
		return -errno;
	*m = (struct file_map){bytes, size, take_slot(bytes, size, prot)};
	return 0;
}

void file_map_adopt(struct file_map *m, void *bytes, size_t size)
{
	*m = (struct file_map){bytes, size, take_slot(bytes, size, PROT_READ)};
}

void file_map_close(struct file_map *m)
{
	if (!m->slot)
		return;
	pthread_mutex_lock(&maps.lock);
	__atomic_store_n(&m->slot->size, 0, __ATOMIC_RELEASE);
	m->slot->next_free = maps.free;
	maps.free = m->slot;
	pthread_mutex_unlock(&maps.lock);
	munmap(m->bytes, m->size);
	*m = (struct file_map){0};
}

bool file_map_is_cut(const struct file_map *m)
{
	return m->slot && __atomic_load_n(&m->slot->cut, __ATOMIC_ACQUIRE);
}

int file_map_error(const struct file_map *m, const char *path, int status, struct error *err)
{
	if (!file_map_is_cut(m))
		return status;
	return error_set(err, EIO,
	                 "%s became shorter while it was read: read it again when no other program "
	                 "writes to it",
	                 path);
}
