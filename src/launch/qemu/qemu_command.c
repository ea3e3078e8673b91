/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "launch/qemu/qemu_command.h"

#include "base/memory/xalloc.h"
#include "base/text/base_name.h"

#include <errno.h>
#include <string.h>

#define SYSTEM "qemu-system-"
#define USER "qemu-"

/* The accelerators that the options name. */
struct accelerators {
	bool kvm, tcg;
	const char *kvm_option, *kvm_value; /* the words that name KVM */
};

static bool begins(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* QEMU accepts one dash and two. */
static bool is_option(const char *word, const char *name)
{
	if (*word != '-')
		return false;
	word += word[1] == '-' ? 2 : 1;
	return !strcmp(word, name);
}

/* `list`: "kvm", "kvm:tcg", "tcg,thread=multi". */
static void add_accelerators(struct accelerators *a, const char *list, const char *option,
                             const char *value)
{
	while (*list && *list != ',') {
		size_t size = strcspn(list, ":,");

		if (size == 3 && !strncmp(list, "kvm", 3)) {
			a->kvm = true;
			a->kvm_option = option;
			a->kvm_value = value;
		}
		a->tcg |= size == 3 && !strncmp(list, "tcg", 3);
		list += size + (list[size] == ':');
	}
}

/* The part `accel=LIST` of the value of -machine. */
static void add_machine(struct accelerators *a, const char *value, const char *option)
{
	for (const char *part = value; part; part = strchr(part, ',')) {
		part += *part == ',';
		if (begins(part, "accel="))
			add_accelerators(a, part + strlen("accel="), option, value);
	}
}

static int wrong_option(const char *option, const char *value, const char *instead,
                        struct error *err)
{
	return error_set(err, EINVAL,
	                 "'%s%s%s' runs the guest without TCG, and the capture device sees "
	                 "nothing; write %s in its place",
	                 option, *value ? " " : "", value, instead);
}

static int read_options(struct qemu_command *q, struct accelerators *a, char *const words[],
                        struct error *err)
{
	for (; *words; words++) {
		const char *word = *words, *value = words[1] ? words[1] : "";

		q->icount |= is_option(word, "icount");
		if (is_option(word, "enable-kvm"))
			add_accelerators(a, "kvm", word, "");
		else if (is_option(word, "accel"))
			add_accelerators(a, value, word, value);
		else if (is_option(word, "machine") || is_option(word, "M"))
			add_machine(a, value, word);
		else if (is_option(word, "cpu") &&
		         (!strcmp(value, "host") || begins(value, "host,")))
			return wrong_option(word, value, "'-cpu max'", err);
		else if (is_option(word, "daemonize"))
			return error_set(err, EINVAL,
			                 "with '%s' QEMU leaves the foreground, and its end is "
			                 "not seen; leave this word out",
			                 word);
	}
	return 0;
}

static int find(struct qemu_command *q, char *const words[], struct error *err)
{
	for (size_t i = 0; words[i]; i++) {
		const char *name = base_name(words[i]);

		*q = (struct qemu_command){.at = i, .system = begins(name, SYSTEM)};
		if (begins(name, USER) && name[strlen(USER)])
			return !strcmp(name, "qemu-kvm")
			               ? wrong_option(name, "", "qemu-system-x86_64", err)
			               : 0;
	}
	return error_set(err, EINVAL,
	                 "%s is not QEMU: no word of the command is qemu-system-x86_64 or "
	                 "qemu-x86_64",
	                 words[0]);
}

int qemu_command_read(struct qemu_command *q, char *const words[], struct error *err)
{
	struct accelerators a = {0};
	int rc = find(q, words, err);

	if (rc || !q->system)
		return rc;
	rc = read_options(q, &a, words + q->at + 1, err);
	if (!rc && a.kvm && !a.tcg)
		rc = wrong_option(a.kvm_option, a.kvm_value, "'-accel tcg'", err);
	q->kvm_or_tcg = a.kvm;
	return rc;
}

char **qemu_command_with(const struct qemu_command *q, char *words[], char *plugin)
{
	static char option[] = "-plugin";
	size_t count = 0;
	char **all;

	while (words[count])
		count++;
	all = xcalloc(count + 3, sizeof(*all));
	memcpy(all, words, (q->at + 1) * sizeof(*all));
	all[q->at + 1] = option;
	all[q->at + 2] = plugin;
	memcpy(all + q->at + 3, words + q->at + 1, (count - q->at - 1) * sizeof(*all));
	return all;
}
