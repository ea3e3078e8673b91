/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * group_rules: rules that map functions to named groups.
 *
 * group_rules_new(); group_rules_rule() for each group and pattern of a file of rules, in its order
 * (format/rules_file.h); then lookups; group_rules_free(). Patterns:
 *
 *	tcp_*			functions with such a name, of the kernel and of programs
 *	libc.so*! mem* str*	FILE! qualifies the patterns after it: functions of these files;
 *				several of them may follow each other
 *	kernel! tcp_*		functions of the kernel and its modules
 *
 * A new group has no qualifier. The first pattern that matches decides. The group "caller" means:
 * the group of the calling function. No rule is added after the first lookup. One thread. Uses:
 * base.
 */
#ifndef ASSAY_VIEW_GROUPS_GROUP_RULES_H
#define ASSAY_VIEW_GROUPS_GROUP_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group_rules;

#define GROUP_NONE UINT16_MAX         /* no rule matches */
#define GROUP_CALLER (UINT16_MAX - 1) /* the group of the function that called it */

struct group_rules *group_rules_new(void);
void group_rules_free(struct group_rules *r);
void group_rules_rule(struct group_rules *r, const char *group, const char *pattern);

/* The file of rules that assay contains. */
extern const char group_rules_default[];
extern const size_t group_rules_default_size;

/* `image`: a file without its directories. */
uint16_t group_rules_function(struct group_rules *r, const char *function, const char *image,
                              bool is_kernel);

/* The index of the first rule that matches, in the order of group_rules_rule(); ID_NONE: none. A
 * function with several names has the smallest index of them. */
uint32_t group_rules_find(struct group_rules *r, const char *function, const char *image,
                          bool is_kernel);
/* The group of such an index; GROUP_NONE for ID_NONE. */
uint16_t group_rules_of(const struct group_rules *r, uint32_t rule);

/* All patterns without qualifiers, and all groups except "caller", in the order of the file. */
size_t group_rules_count(const struct group_rules *r);
const char *group_rules_pattern(const struct group_rules *r, uint32_t rule);
size_t group_rules_groups(const struct group_rules *r);

/* "[other]" for GROUP_NONE and GROUP_CALLER; "[other of the kernel]" if `is_kernel`. */
const char *group_rules_name(const struct group_rules *r, uint16_t group, bool is_kernel);

/* Whether a file is the kernel or a module, by its name. */
bool group_image_is_kernel(const char *image);

#endif
