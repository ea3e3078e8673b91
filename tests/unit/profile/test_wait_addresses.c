/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses of waits are found in the file whose code is mapped below them. */
#include "check.h"

#include "profile/waits/wait_addresses.h"

static void map(struct process_table *t, const char *name, uint64_t addr, uint64_t size,
                uint64_t pgoff, bool executable)
{
	struct event e = {.kind = EVENT_MMAP, .pid = 7, .tid = 7};

	e.mmap.addr = addr;
	e.mmap.size = size;
	e.mmap.pgoff = pgoff;
	e.mmap.executable = executable;
	e.mmap.filename = name;
	process_table_event(t, &e);
}

static void test_the_code_below_an_address(void)
{
	struct image_table images;
	struct process_table *t;
	struct wait_addresses a = {0};
	const struct wait_address *found;
	uint32_t process;

	image_table_init(&images);
	t = process_table_new(&images);
	process = process_table_thread_at(t, process_table_thread(t, 7, 7))->process;
	map(t, "/bin/prog", 0x400000, 0x1000, 0x1000, true);
	map(t, "/bin/prog", 0x402000, 0x1000, 0x3000, false);
	map(t, "/lib/later.so", 0x800000, 0x1000, 0, true);
	map(t, "[heap]", 0x600000, 0x8000, 0, false);
	wait_addresses_add(&a, t, process, 0x402010); /* data */
	wait_addresses_add(&a, t, process, 0x405000); /* not mapped: .bss, or the heap */
	wait_addresses_add(&a, t, process, 0x400);    /* no address */
	wait_addresses_add(&a, t, process, 0x200000); /* no code is below it */
	wait_addresses_add(&a, t, process, 0x402010);
	wait_addresses_add(&a, t, process, 0x601000);
	CHECK_EQ(a.items.count, 4);
	found = wait_addresses_find(&a, process, 0x402010);
	CHECK(found && found->code_address == 0x400000 && found->code.offset == 0x1000);
	CHECK_STR(image_path(&images, found->code.image), "/bin/prog");
	CHECK_STR(image_path(&images, found->region), "/bin/prog");
	found = wait_addresses_find(&a, process, 0x405000);
	CHECK(found && found->code_address == 0x400000);
	CHECK_EQ(found->region, ID_NONE);
	found = wait_addresses_find(&a, process, 0x601000);
	CHECK(found && found->region != ID_NONE);
	CHECK_STR(image_path(&images, found->region), "[heap]");
	CHECK(!wait_addresses_find(&a, process, 0x400));
	found = wait_addresses_find(&a, process, 0x200000);
	CHECK(found && !found->code_address && found->region == ID_NONE);
	CHECK(!wait_addresses_find(&a, process + 1, 0x402010));
	wait_addresses_done(&a);
	process_table_free(t);
	image_table_done(&images);
}

int main(void)
{
	RUN(test_the_code_below_an_address);
	return check_end();
}
