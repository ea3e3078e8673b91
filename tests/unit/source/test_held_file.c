/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are held in a process that is killed. */
#include "source/proc/held_file.h"

#include "check.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void a_held_file_of_a_killed_process_is_refused(void)
{
	struct foreign_options options = {.keep = -1};
	struct held_file first, second;
	struct event_mmap m = {0};
	struct held_state state;
	struct foreign *f;
	struct error err = {0};
	char self[512] = {0};
	struct stat st;

	CHECK(readlink("/proc/self/exe", self, sizeof(self) - 1) > 0);
	CHECK_EQ(stat(self, &st), 0);
	m.filename = self;
	m.inode = st.st_ino;
	CHECK(!foreign_open(&f, &options, NULL));
	CHECK_EQ(held_file_open(f, 0, &m, getpid(), -1, &first), 0);
	CHECK_EQ(held_file_look(f, 0, first.fd, self, &state), 0);
	kill(foreign_pid(f), SIGKILL);
	while (!held_file_look(f, 0, first.fd, self, &state))
		;
	/* The new process gives the same descriptor to another file. */
	CHECK_EQ(held_file_open(f, 0, &m, getpid(), -1, &second), 0);
	CHECK_EQ(held_file_descriptor(f, first.fd), -ESTALE);
	CHECK(held_file_descriptor(f, second.fd) >= 0);
	CHECK_EQ(held_file_look(f, 0, first.fd, self, &state), -ESTALE);
	CHECK_EQ(held_file_keep(f, 0, first.fd, &state, "image", "00", &err), -ESTALE);
	held_file_close(f, 0, first.fd);
	CHECK_EQ(held_file_look(f, 0, second.fd, self, &state), 0);
	CHECK(state.in_place);
	held_file_close(f, 0, second.fd);
	CHECK_EQ(held_file_look(f, 0, second.fd, self, &state), -EBADF);
	foreign_close(f);
}

int main(void)
{
	RUN(a_held_file_of_a_killed_process_is_refused);
	return check_end();
}
