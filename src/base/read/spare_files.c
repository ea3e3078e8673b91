/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/read/spare_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int too_few(size_t count, int code, struct error *err)
{
	struct rlimit limit = {0};

	if (code != EMFILE)
		return error_set(err, code, "no file can be opened: %s", strerror(code));
	getrlimit(RLIMIT_NOFILE, &limit);
	return error_set(
	        err, code,
	        "%zu more files have to be opened than are open now, and the limit on open "
	        "files is %llu; raise it by 'ulimit -n'",
	        count, (unsigned long long)limit.rlim_cur);
}

int spare_files_check(size_t count, struct error *err)
{
	int opened[SPARE_FILES_MAX], rc = 0;
	size_t n = 0;

	while (n < count && n < SPARE_FILES_MAX && !rc) {
		opened[n] = open("/", O_PATH | O_CLOEXEC);
		rc = opened[n] < 0 ? too_few(count, errno, err) : 0;
		n += !rc;
	}
	while (n)
		close(opened[--n]);
	return rc;
}
