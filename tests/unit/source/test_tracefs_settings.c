/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settings are restored, by the guard too if the process that changed them is killed.
 */
#include "source/tracefs/tracefs_settings.h"

#include "check.h"
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>

static void set(const char *file, const char *text)
{
	CHECK(fixture_write(file, text, strlen(text)));
}

/* The contents of a file; valid until the next call. */
static const char *get(const char *file)
{
	static char text[128];
	struct tracefs_settings s = {0};

	snprintf(s.directory, sizeof(s.directory), "%s", fixture_dir);
	return tracefs_settings_read(&s, file, text, sizeof(text)) ? text : "(none)";
}

static void before(void)
{
	set("tracing_on", "1\n");
	set("current_tracer", "nop\n");
	set("trace", "# tracer: nop\n");
	set("trace_clock", "local [global] counter\n");
	set("buffer_size_kb", "7 (expanded: 1408)\n");
	set("set_ftrace_pid", "no pid\n");
	set("max_graph_depth", "3\n");
}

static int change_all(struct tracefs_settings *s)
{
	return tracefs_settings_begin(s, fixture_dir, false, NULL) ||
	       tracefs_settings_change(s, "tracing_on", "0", false, NULL) ||
	       tracefs_settings_change(s, "trace_clock", "perf", false, NULL) ||
	       tracefs_settings_change(s, "buffer_size_kb", "64", false, NULL) ||
	       tracefs_settings_change(s, "set_ftrace_pid", "12", false, NULL) ||
	       tracefs_settings_change(s, "max_graph_depth", "0", true, NULL) ||
	       tracefs_settings_change(s, "not_there", "0", true, NULL) ||
	       tracefs_settings_change(s, "current_tracer", "function_graph", false, NULL) ||
	       tracefs_settings_write(s, "set_ftrace_pid", "13", false, NULL);
}

static void check_restored(void)
{
	CHECK_STR(get("tracing_on"), "1");
	CHECK_STR(get("current_tracer"), "nop");
	CHECK_STR(get("trace"), "");
	CHECK_STR(get("trace_clock"), "global");
	CHECK_STR(get("buffer_size_kb"), "1408");
	CHECK_STR(get("set_ftrace_pid"), "");
	CHECK_STR(get("max_graph_depth"), "3");
}

static void changed_settings_are_restored(void)
{
	struct tracefs_settings s;
	struct error err = {0};

	before();
	CHECK_EQ(change_all(&s), 0);
	CHECK_STR(get("set_ftrace_pid"), "13");
	CHECK_STR(get("current_tracer"), "function_graph");
	CHECK(tracefs_settings_change(&s, "not_there", "0", false, &err) < 0);
	CHECK(strstr(err.text, "not_there") != NULL);
	tracefs_settings_end(&s);
	check_restored();
	CHECK_EQ(waitpid(-1, NULL, WNOHANG), -1); /* the guard has exited */
}

static void the_guard_restores_the_settings_of_a_killed_process(void)
{
	pid_t pid;
	int ready[2];
	char byte = 0;

	before();
	if (pipe(ready))
		return;
	pid = fork();
	if (!pid) {
		struct tracefs_settings s;

		if (!change_all(&s) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	CHECK_EQ(read(ready[0], &byte, 1), 1);
	CHECK_STR(get("current_tracer"), "function_graph");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* Settings are restored in reverse order: the first one is the last. */
	for (int i = 0; i < 3000 && strcmp(get("tracing_on"), "1") != 0; i++)
		usleep(10000);
	check_restored();
	close(ready[0]);
}

static void an_instance_is_removed(void)
{
	struct tracefs_settings s;
	char top[64], instance[128];
	struct stat st;

	snprintf(top, sizeof(top), "%s", fixture_dir);
	snprintf(instance, sizeof(instance), "%s/instances", fixture_dir);
	CHECK_EQ(mkdir(instance, 0700), 0);
	snprintf(instance, sizeof(instance), "%s/instances/assay-1", top);
	CHECK_EQ(mkdir(instance, 0700), 0); /* of a running process: it stays */
	tracefs_settings_sweep(top);
	CHECK_EQ(stat(instance, &st), 0);
	CHECK_EQ(tracefs_settings_begin(&s, instance, true, NULL), 0);
	tracefs_settings_end(&s);
	CHECK(stat(instance, &st) != 0);
	snprintf(instance, sizeof(instance), "%s/instances/assay-2147483646", top);
	CHECK_EQ(mkdir(instance, 0700), 0); /* no such process */
	tracefs_settings_sweep(top);
	CHECK(stat(instance, &st) != 0);
}

int main(void)
{
	if (!fixture_begin())
		return 1;
	RUN(changed_settings_are_restored);
	RUN(the_guard_restores_the_settings_of_a_killed_process);
	RUN(an_instance_is_removed);
	fixture_end();
	return check_end();
}
