/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names_alike: checks that the plugin (plugin/gcc/names.cc) and assay (src/format/ctf/names_file.c)
 * read a names file in the same way. There is one intended difference: the plugin refuses a name
 * with two tags, because it cannot choose one; assay accepts it, because files may be concatenated.
 */
#ifndef ASSAY_TESTS_NAMES_ALIKE_H
#define ASSAY_TESTS_NAMES_ALIKE_H

#include "../../plugin/gcc/names.h"

extern "C" {
#include "format/ctf/names_file.h"
}

/* "PATH:LINE", of a sentence. */
static inline std::string names_place(const std::string &sentence)
{
	return sentence.substr(0, sentence.find(": "));
}

static inline bool names_twice(const std::string &said)
{
	return said.find(" has tag ") != std::string::npos;
}

/* The difference, or "". `said` and `error`: the error messages of the two, empty if they accepted
 * the file.
 */
static inline std::string names_difference(const names_file &plugin, const std::string &said,
                                           const struct tag_names *names, const std::string &error)
{
	if (names_twice(said))
		return "";
	if (said.empty() != error.empty())
		return said.empty() ? "the plugin alone takes it" : "assay alone takes it";
	if (!said.empty())
		return names_place(said) == names_place(error) ? "" : "it is wrong at two places";
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);
		asked_name asked{n->name, "", n->kind == TAG_INLINE};
		std::string mark(tag_kind_mark(n->kind) != 0, tag_kind_mark(n->kind));
		std::string line;

		if (plugin.find(asked, &line) != n->tag)
			return asked.name + " has another tag";
		if (line != asked.name + "/" + std::to_string(n->tag) + mark)
			return asked.name + " has another mark";
	}
	return "";
}

#endif
