/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "process/container.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define POD_UID_MOST 36  /* with dashes */
#define POD_UID_LEAST 32 /* of static pods: a digest without dashes */

/* A part of the path: a component, or what is left of one. */
struct piece {
	const char *text;
	size_t size;
};

static bool begins(const struct piece *p, const char *with)
{
	size_t size = strlen(with);

	return p->size >= size && !memcmp(p->text, with, size);
}

static void skip(struct piece *p, size_t size)
{
	p->text += size;
	p->size -= size;
}

/* True if the piece ends with the word, which is then taken off. */
static bool take_end(struct piece *p, const char *word)
{
	size_t size = strlen(word);

	if (p->size <= size || memcmp(p->text + p->size - size, word, size) != 0)
		return false;
	p->size -= size;
	return true;
}

static bool is_hex(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!isdigit((unsigned char)text[i]) && (text[i] < 'a' || text[i] > 'f'))
			return false;
	return true;
}

bool container_id_is_long(const char *id)
{
	return strlen(id) == CONTAINER_ID_DIGITS && is_hex(id, CONTAINER_ID_DIGITS);
}

/* systemd writes other characters in names of units as \xNN. */
static void set_name(char *to, struct piece p)
{
	size_t n = 0;

	while (p.size && n < CONTAINER_ID_MAX) {
		unsigned value;

		if (p.size >= 4 && p.text[0] == '\\' && p.text[1] == 'x' &&
		    isxdigit((unsigned char)p.text[2]) && isxdigit((unsigned char)p.text[3]) &&
		    sscanf(p.text + 2, "%2x", &value) == 1 && value) {
			to[n++] = (char)value;
			skip(&p, 4);
		} else {
			to[n++] = *p.text;
			skip(&p, 1);
		}
	}
	to[n] = '\0';
}

static void set(struct container *c, struct piece id, const char *runtime)
{
	set_name(c->id, id);
	c->runtime = runtime;
}

/* ---- containers ---------------------------------------------------------- */

/* What stands before the id; "" is the runtime of a path that does not say it. */
static const struct {
	const char *before, *runtime;
} runtimes[] = {
        {"docker-", "docker"},
        {"cri-containerd-", "containerd"},
        {"nerdctl-", "containerd"},
        {"containerd-", "containerd"},
        {"crio-", "cri-o"},
        {"libpod-", "podman"},
        {":cri-containerd:", "containerd"},
        {":crio:", "cri-o"},
        {":docker:", "docker"},
        {":libpod:", "podman"},
};

/* Names of components above a bare id. */
static const struct {
	const char *above, *runtime;
} parents[] = {
        {"docker", "docker"},      {"libpod_parent", "podman"}, {"crio", "cri-o"},
        {"default", "containerd"}, {"moby", "docker"},          {"k8s.io", "containerd"},
};

static const char *runtime_before(const struct piece *head)
{
	struct piece p = *head;

	for (size_t i = 0; i < sizeof(runtimes) / sizeof(*runtimes); i++)
		if (take_end(&p, runtimes[i].before) ||
		    (p.size == strlen(runtimes[i].before) && begins(&p, runtimes[i].before)))
			return runtimes[i].runtime;
	return "";
}

static const char *runtime_above(const struct piece *above)
{
	for (size_t i = 0; i < sizeof(parents) / sizeof(*parents); i++)
		if (above->size == strlen(parents[i].above) && begins(above, parents[i].above))
			return parents[i].runtime;
	return "";
}

/* An id of 64 digits at the end: bare, or behind a prefix that ends with a separator. */
static bool find_long_id(struct container *c, struct piece p, const struct piece *above)
{
	struct piece id, head;

	(void)take_end(&p, ".scope");
	if (p.size < CONTAINER_ID_DIGITS)
		return false;
	head = (struct piece){p.text, p.size - CONTAINER_ID_DIGITS};
	id = (struct piece){p.text + head.size, CONTAINER_ID_DIGITS};
	if (!is_hex(id.text, id.size) || (head.size && !strchr("-:", head.text[head.size - 1])))
		return false;
	/* crio-conmon-ID, libpod-conmon-ID: the monitor. */
	if (head.size >= 7 && !memcmp(head.text + head.size - 7, "conmon-", 7))
		return false;
	set(c, id, head.size ? runtime_before(&head) : runtime_above(above));
	return true;
}

/* /ecs/TASK/TASK-NUMBER: 32 digits, a dash, a decimal number. */
static bool find_ecs_id(struct container *c, struct piece p, const struct piece *first)
{
	if (first->size != 3 || !begins(first, "ecs") || p.size < 34 || !is_hex(p.text, 32) ||
	    p.text[32] != '-')
		return false;
	for (size_t i = 33; i < p.size; i++)
		if (!isdigit((unsigned char)p.text[i]))
			return false;
	set(c, p, "ecs");
	return true;
}

static bool is_piece(const struct piece *p, const char *word)
{
	return p->size == strlen(word) && begins(p, word);
}

/* /lxc/NAME, /lxc.payload/NAME and /lxc.payload.NAME */
static bool find_lxc(struct container *c, struct piece p, const struct piece *above)
{
	if (begins(&p, "lxc.payload.") && p.size > 12)
		skip(&p, 12);
	else if (!is_piece(above, "lxc") && !is_piece(above, "lxc.payload"))
		return false;
	set(c, p, "lxc");
	return true;
}

/* machine-NAME.scope and systemd-nspawn@NAME.service */
static bool find_machine(struct container *c, struct piece p)
{
	if (begins(&p, "systemd-nspawn@") && take_end(&p, ".service"))
		skip(&p, 15);
	else if (begins(&p, "machine-") && !begins(&p, "machine-qemu") && take_end(&p, ".scope"))
		skip(&p, 8);
	else
		return false;
	if (!p.size)
		return false;
	set(c, p, "systemd-nspawn");
	return true;
}

/* ---- pods ---------------------------------------------------------------- */

static bool is_uid(const char *text, size_t size)
{
	if (size != POD_UID_MOST)
		return size == POD_UID_LEAST && is_hex(text, size);
	for (size_t i = 0; i < size; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? !strchr("-_", text[i]) : !is_hex(text + i, 1))
			return false;
	}
	return true;
}

/* "pod" and the uid, behind nothing or a dash: podUID, kubepods-burstable-podUID.slice */
static bool find_pod(struct container *c, const struct piece *p)
{
	for (size_t i = 0; i + 3 + POD_UID_LEAST <= p->size; i++) {
		size_t size = 0;

		if (memcmp(p->text + i, "pod", 3) != 0 || (i && p->text[i - 1] != '-'))
			continue;
		while (i + 3 + size < p->size && size <= POD_UID_MOST &&
		       (isxdigit((unsigned char)p->text[i + 3 + size]) ||
		        strchr("-_", p->text[i + 3 + size])))
			size++;
		if (!is_uid(p->text + i + 3, size))
			continue;
		for (size_t k = 0; k < size; k++)
			c->pod_uid[k] =
			        (char)(p->text[i + 3 + k] == '_' ? '-' : p->text[i + 3 + k]);
		c->pod_uid[size] = '\0';
		return true;
	}
	return false;
}

static bool has_word(const struct piece *p, const char *word)
{
	size_t size = strlen(word);

	for (size_t i = 0; i + size <= p->size; i++)
		if (!memcmp(p->text + i, word, size))
			return true;
	return false;
}

static void find_qos(struct container *c, const struct piece *p)
{
	if (has_word(p, "burstable"))
		c->qos = "burstable";
	else if (has_word(p, "besteffort"))
		c->qos = "besteffort";
	else if (has_word(p, "kubepods"))
		c->qos = "guaranteed";
}

/* ---- the path ------------------------------------------------------------ */

static void find_in(struct container *c, const struct piece *p, const struct piece *above,
                    const struct piece *first, bool *pods)
{
	if (has_word(p, "kubepods")) {
		*pods = true;
		c->qos = "";
	}
	if (*pods && (!c->qos[0] || !strcmp(c->qos, "guaranteed")))
		find_qos(c, p);
	if (*pods && find_pod(c, p))
		c->id[0] = '\0';
	(void)(find_long_id(c, *p, above) || find_ecs_id(c, *p, first) || find_lxc(c, *p, above) ||
	       find_machine(c, *p));
}

bool container_of_cgroup(struct container *c, const char *cgroup)
{
	struct piece above = {"", 0}, first = {"", 0};
	const char *at = cgroup ? cgroup : "";
	bool pods = false;

	*c = (struct container){.runtime = "", .qos = ""};
	while (*at) {
		struct piece p = {at, strcspn(at, "/")};

		at += p.size + (at[p.size] == '/');
		if (!p.size)
			continue;
		if (!first.size)
			first = p;
		find_in(c, &p, &above, &first, &pods);
		above = p;
	}
	if (!c->pod_uid[0])
		c->qos = "";
	if (!c->id[0])
		c->runtime = "";
	return c->id[0] || c->pod_uid[0];
}
