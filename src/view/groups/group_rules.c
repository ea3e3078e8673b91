/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_rules: see group_rules.h. A function of the kernel is looked up by its name and by each
 * beginning of it, since almost all patterns for the kernel are a name or a name with * at its end.
 * The other rules are compared one by one.
 */
#include "view/groups/group_rules.h"

#include "base/memory/hash.h"
#include "base/memory/vec.h"
#include "base/memory/xalloc.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Maximum length of beginnings of a name that are looked up; no rule is longer. */
#define NAME_MAX_BYTES 256

#define GROUPS_MAX 60000u /* further groups are counted as the last group */

enum rule_kind {
	RULE_ANY,
	RULE_KERNEL,
	RULE_IN, /* functions of some files */
};

struct rule {
	char *pattern;
	uint32_t files; /* RULE_IN: index of the first file's pattern */
	uint32_t file_count;
	uint16_t group;
	uint8_t kind; /* enum rule_kind */
};

/* The rules that may match functions of a file: found once for each file. */
struct file_rules {
	char *image;
	bool is_kernel;
	VEC(uint32_t) rules;
};

struct group_rules {
	VEC(char *) names; /* of groups */
	VEC(char *) files;
	VEC(struct rule) rules;
	VEC(uint32_t) globs;               /* rules that must be compared */
	struct id_table words, beginnings; /* rules of the kernel: a whole name; name* without * */
	VEC(struct file_rules) images;
	struct id_table image_index;
	/* of the next rule */
	uint16_t group;
	uint8_t kind;
	bool begun, qualifying; /* qualifying: the latest pattern was a FILE! */
	uint32_t file_first;
};

const char group_rules_default[] =
#include "view/default_groups.inc"
        ;
const size_t group_rules_default_size = sizeof(group_rules_default) - 1;

struct group_rules *group_rules_new(void)
{
	return xcalloc(1, sizeof(struct group_rules));
}

void group_rules_free(struct group_rules *r)
{
	if (!r)
		return;
	vec_each (name, &r->names)
		free(*name);
	vec_each (file, &r->files)
		free(*file);
	vec_each (rule, &r->rules)
		free(rule->pattern);
	vec_each (image, &r->images) {
		free(image->image);
		vec_done(&image->rules);
	}
	vec_done(&r->images);
	id_table_done(&r->image_index);
	vec_done(&r->names);
	vec_done(&r->files);
	vec_done(&r->rules);
	vec_done(&r->globs);
	id_table_done(&r->words);
	id_table_done(&r->beginnings);
	free(r);
}

/* ---- reading -------------------------------------------------------------- */

struct slice {
	const char *at;
	size_t size;
};

static bool rule_has(const void *ctx, uint32_t id, const void *key)
{
	const char *pattern = ((const struct group_rules *)ctx)->rules.items[id].pattern;
	const struct slice *s = key;

	return !strncmp(pattern, s->at, s->size) &&
	       (!pattern[s->size] || (pattern[s->size] == '*' && !pattern[s->size + 1]));
}

/* The first rule for a name or a beginning stays in the table. */
static void table_add(struct group_rules *r, struct id_table *t, struct slice s, uint32_t rule)
{
	uint64_t hash = hash_bytes(s.at, s.size);

	if (id_table_find(t, hash, rule_has, r, &s) == ID_NONE)
		id_table_add(t, hash, rule);
}

static void rule_add(struct group_rules *r, enum rule_kind kind, const char *pattern,
                     uint32_t files)
{
	uint32_t id = (uint32_t)r->rules.count;
	size_t plain = strcspn(pattern, "*?[\\"), size = strlen(pattern);
	struct rule rule = {.pattern = xstrdup(pattern),
	                    .files = files,
	                    .file_count = kind == RULE_IN ? (uint32_t)r->files.count - files : 0,
	                    .group = r->group,
	                    .kind = (uint8_t)kind};

	vec_push(&r->rules, rule);
	pattern = r->rules.items[id].pattern;
	if (kind == RULE_KERNEL && plain == size)
		table_add(r, &r->words, (struct slice){pattern, size}, id);
	else if (kind == RULE_KERNEL && plain + 1 == size && pattern[plain] == '*')
		table_add(r, &r->beginnings, (struct slice){pattern, plain}, id);
	else
		vec_push(&r->globs, id);
}

static void group_begin(struct group_rules *r, const char *name)
{
	uint32_t id = 0;

	if (!strcmp(name, "caller")) {
		r->group = GROUP_CALLER;
		return;
	}
	while (id < r->names.count && strcmp(r->names.items[id], name) != 0)
		id++;
	if (id == r->names.count && id < GROUPS_MAX)
		vec_push(&r->names, xstrdup(name));
	r->group = (uint16_t)(id < GROUPS_MAX ? id : GROUPS_MAX - 1);
}

static bool is_current(const struct group_rules *r, const char *name)
{
	if (!r->begun)
		return false;
	return !strcmp(r->group == GROUP_CALLER ? "caller" : r->names.items[r->group], name);
}

/* "FILE!": several such words in succession form a list, which replaces the earlier list. */
static void qualify(struct group_rules *r, const char *pattern)
{
	if (!r->qualifying)
		r->file_first = (uint32_t)r->files.count;
	r->qualifying = true;
	vec_push(&r->files, xstrndup(pattern, strlen(pattern) - 1));
	r->kind = strcmp(pattern, "kernel!") ? RULE_IN : RULE_KERNEL;
}

void group_rules_rule(struct group_rules *r, const char *group, const char *pattern)
{
	size_t size = strlen(pattern);

	if (!is_current(r, group)) {
		group_begin(r, group);
		r->kind = RULE_ANY;
		r->begun = true;
		r->qualifying = false;
	}
	if (size && pattern[size - 1] == '!') {
		qualify(r, pattern);
		return;
	}
	r->qualifying = false;
	rule_add(r, (enum rule_kind)r->kind, pattern, r->file_first);
}

/* ---- lookups --------------------------------------------------------------- */

static uint32_t first_of(const struct group_rules *r, const char *name)
{
	size_t size = strnlen(name, NAME_MAX_BYTES);
	struct slice s = {name, size};
	uint32_t best = id_table_find(&r->words, hash_bytes(name, size), rule_has, r, &s);

	for (s.size = 0; s.size <= size; s.size++) {
		uint32_t id =
		        id_table_find(&r->beginnings, hash_bytes(name, s.size), rule_has, r, &s);

		if (id < best)
			best = id;
	}
	return best;
}

static bool in_files(const struct group_rules *r, const struct rule *rule, const char *image)
{
	for (uint32_t i = 0; i < rule->file_count; i++)
		if (!fnmatch(r->files.items[rule->files + i], image, 0))
			return true;
	return false;
}

struct file_key {
	const char *image;
	bool is_kernel;
};

static bool file_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct file_rules *f = &((const struct group_rules *)ctx)->images.items[id];
	const struct file_key *k = key;

	return f->is_kernel == k->is_kernel && !strcmp(f->image, k->image);
}

/* The rules that are compared one by one with the functions of a file. */
static const struct file_rules *rules_for(struct group_rules *r, const char *image, bool is_kernel)
{
	struct file_key key = {image, is_kernel};
	uint64_t hash = hash_bytes(image, strlen(image));
	uint32_t id = id_table_find(&r->image_index, hash, file_equal, r, &key);
	struct file_rules made = {.is_kernel = is_kernel};

	if (id != ID_NONE)
		return &r->images.items[id];
	made.image = xstrdup(image);
	vec_each (glob, &r->globs) {
		const struct rule *rule = &r->rules.items[*glob];

		if ((rule->kind != RULE_KERNEL || is_kernel) &&
		    (rule->kind != RULE_IN || in_files(r, rule, image)))
			vec_push(&made.rules, *glob);
	}
	id_table_add(&r->image_index, hash, (uint32_t)r->images.count);
	vec_push(&r->images, made);
	return vec_last(&r->images);
}

uint32_t group_rules_find(struct group_rules *r, const char *function, const char *image,
                          bool is_kernel)
{
	const struct file_rules *f = rules_for(r, image, is_kernel);
	uint32_t best = is_kernel ? first_of(r, function) : ID_NONE;

	vec_each (id, &f->rules) {
		const char *pattern = r->rules.items[*id].pattern;

		if (*id >= best)
			break;
		if (!strcmp(pattern, "*") || !fnmatch(pattern, function, 0))
			best = *id;
	}
	return best;
}

uint16_t group_rules_of(const struct group_rules *r, uint32_t rule)
{
	return rule == ID_NONE ? GROUP_NONE : r->rules.items[rule].group;
}

uint16_t group_rules_function(struct group_rules *r, const char *function, const char *image,
                              bool is_kernel)
{
	return group_rules_of(r, group_rules_find(r, function, image, is_kernel));
}

size_t group_rules_count(const struct group_rules *r)
{
	return r->rules.count;
}

const char *group_rules_pattern(const struct group_rules *r, uint32_t rule)
{
	return r->rules.items[rule].pattern;
}

size_t group_rules_groups(const struct group_rules *r)
{
	return r->names.count;
}

const char *group_rules_name(const struct group_rules *r, uint16_t group, bool is_kernel)
{
	if (group < r->names.count)
		return r->names.items[group];
	return is_kernel ? "[other of the kernel]" : "[other]";
}

bool group_image_is_kernel(const char *image)
{
	size_t size = strlen(image);

	return !strncmp(image, "[kernel", 7) || !strncmp(image, "[guest.kernel", 13) ||
	       (size > 3 && !strcmp(image + size - 3, ".ko")) || strstr(image, ".ko.") ||
	       (*image == '[' && strstr(image, "module"));
}
