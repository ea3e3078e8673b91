/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view/web_browser.h"

#include "base/process/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPENER "xdg-open"

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* The environment that the user has without sudo, as far as a browser needs it. */
static void use_environment(uid_t user)
{
	const struct passwd *entry = getpwuid(user);
	char runtime[64];

	snprintf(runtime, sizeof(runtime), "/run/user/%u", (unsigned)user);
	setenv("XDG_RUNTIME_DIR", runtime, 1);
	unsetenv("DBUS_SESSION_BUS_ADDRESS");
	if (!entry)
		return;
	setenv("HOME", entry->pw_dir, 1);
	setenv("USER", entry->pw_name, 1);
	setenv("LOGNAME", entry->pw_name, 1);
}

static void leave(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	signal(SIGXFSZ, SIG_DFL);
	if (chdir("/"))
		_exit(126);
}

/* `failure` gets the errno of exec, and is closed by a successful one. */
static _Noreturn void run(const char *url, const struct privileges_caller *user, int failure)
{
	int code;

	leave();
	if (user->user != getuid()) {
		use_environment(user->user);
		privileges_become(user);
	}
	if (getuid())
		execlp(OPENER, OPENER, url, (char *)NULL);
	code = getuid() ? errno : EPERM;
	_exit(write(failure, &code, sizeof(code)) < 0 ? 126 : 127);
}

/* A second process is not a child of this one, so it does not become a zombie. */
static int start(const char *url, const struct privileges_caller *user, struct error *err)
{
	int ends[2], code = 0;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return error_set(err, errno, "pipe: %s", strerror(errno));
	child = fork();
	if (!child) {
		close(ends[0]);
		if (!fork())
			run(url, user, ends[1]);
		_exit(0);
	}
	close(ends[1]);
	if (child > 0)
		waitpid(child, NULL, 0);
	else
		code = errno;
	if (child > 0 && read(ends[0], &code, sizeof(code)) < 0)
		code = errno;
	close(ends[0]);
	if (!code)
		return 0;
	return error_set(err, code, "%s cannot be started: %s%s", OPENER, strerror(code),
	                 code == ENOENT ? " (Debian: xdg-utils)" : "");
}

int web_browser_open(const char *url, struct error *err)
{
	struct privileges_caller user;
	bool called = privileges_caller(&user);

	if (!is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY"))
		return error_set(err, ENODEV, "there is no display");
	if (!getuid() && !called)
		return error_set(err, EPERM, "a browser is not started as root");
	return start(url, &user, err);
}
