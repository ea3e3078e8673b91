/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the plugin's arguments; matches functions and files. */
#include "options.h"

#include <fnmatch.h>

static const char *const kinds[] = {"ring", "nop", "load", "call"};

static const char prefix[] = "-fplugin-arg-assay_tags-";

const char *options::trigger_name() const
{
	return kinds[trigger];
}

static bool wrong(const char *key, const char *value, const char *want)
{
	if (value)
		error("%s%s=%s: %s", prefix, key, value, want);
	else
		error("%s%s: %s", prefix, key, want);
	return false;
}

static bool parse_trigger(options *o, const char *value)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(value, kinds[i])) {
			o->trigger = (trigger_kind)i;
			return true;
		}
	return wrong("trigger", value, "a trigger is one of ring, nop, load and call");
}

static bool parse_hook(options *o, const char *value)
{
	bool good = ISALPHA(value[0]) || value[0] == '_';

	for (const char *c = value; *c; c++)
		good = good && (ISALNUM(*c) || *c == '_');
	o->hook = value;
	return good || wrong("hook", value, "give the name of a C function");
}

static bool parse_yes(bool *to, const char *key, const char *value)
{
	*to = !strcmp(value, "yes");
	return *to || !strcmp(value, "no") || wrong(key, value, "yes or no");
}

static bool parse_size(unsigned *to, const char *key, const char *value)
{
	char *end;
	unsigned long size = strtoul(value, &end, 10);

	*to = (unsigned)size;
	return (ISDIGIT(*value) && !*end && size <= 1000) ||
	       wrong(key, value, "give a number of instructions from 0 to 1000");
}

static bool parse_globs(std::vector<std::string> *to, const char *key, const char *value)
{
	std::string text = value;

	for (size_t at = 0, end; at <= text.size(); at = end + 1) {
		end = std::min(text.find(',', at), text.size());
		if (end > at)
			to->push_back(text.substr(at, end - at));
	}
	return !to->empty() || wrong(key, value, "give patterns separated by commas");
}

static bool parse_one(options *o, const char *key, const char *value)
{
	const struct {
		const char *key;
		std::vector<std::string> *globs;
	} lists[] = {{"only", &o->only},
	             {"not", &o->no},
	             {"files", &o->files},
	             {"not-files", &o->no_files}};

	if (!value)
		return wrong(key, value, "it has no value: -fplugin-arg-assay_tags-KEY=VALUE");
	for (const auto &list : lists)
		if (!strcmp(key, list.key))
			return parse_globs(list.globs, key, value);
	if (!strcmp(key, "names")) {
		o->names = value;
		return *value || wrong(key, value, "give the path of the names file");
	}
	if (!strcmp(key, "root")) {
		o->root = value;
		return *value || wrong(key, value, "give the directory of the sources");
	}
	if (!strcmp(key, "trigger"))
		return parse_trigger(o, value);
	if (!strcmp(key, "hook"))
		return parse_hook(o, value);
	if (!strcmp(key, "embed"))
		return parse_yes(&o->embed, key, value);
	if (!strcmp(key, "tail-calls"))
		return parse_yes(&o->tail_calls, key, value);
	if (!strcmp(key, "leaf-size"))
		return parse_size(&o->leaf_size, key, value);
	return wrong(key, value,
	             "no such argument; there are names, root, trigger, hook, only, not, "
	             "files, not-files, embed, tail-calls and leaf-size");
}

bool options_parse(options *o, int argc, const struct plugin_argument *argv)
{
	bool good = true, hook = false;

	for (int i = 0; i < argc; i++) {
		good = parse_one(o, argv[i].key, argv[i].value) && good;
		hook = hook || !strcmp(argv[i].key, "hook");
	}
	if (good && o->names.empty()) {
		error("%snames=FILE is missing: the file that keeps the names of tags", prefix);
		good = false;
	}
	if (good && hook && o->trigger != TRIGGER_CALL)
		good = wrong("hook", o->hook.c_str(),
		             "only the trigger `call` has a hook: "
		             "-fplugin-arg-assay_tags-trigger=call");
	return good;
}

static bool any_matches(const std::vector<std::string> &globs, const std::set<std::string> &texts)
{
	for (const std::string &glob : globs)
		for (const std::string &text : texts)
			if (!fnmatch(glob.c_str(), text.c_str(), 0))
				return true;
	return false;
}

/* Removes the parameters from "ns::A::f(int) const". The () of operator() stays. */
static std::string without_parameters(const std::string &whole)
{
	size_t from = whole.find("operator()"), at;

	at = whole.find('(', from == std::string::npos ? 0 : from + 10);
	return at == std::string::npos ? whole : whole.substr(0, at);
}

static std::set<std::string> names_of(tree function)
{
	std::set<std::string> names;

	if (DECL_NAME(function))
		names.insert(IDENTIFIER_POINTER(DECL_NAME(function)));
	if (DECL_ASSEMBLER_NAME_SET_P(function))
		names.insert(IDENTIFIER_POINTER(DECL_ASSEMBLER_NAME(function)));
	std::string whole = lang_hooks.decl_printable_name(function, 1);
	names.insert(whole);
	names.insert(without_parameters(whole));
	return names;
}

bool options_choose(const options &o, tree function, const std::string &relative, bool marked)
{
	std::set<std::string> names, files = {relative, DECL_SOURCE_FILE(function)};

	if (!marked && !o.files.empty() && !any_matches(o.files, files))
		return false;
	if (any_matches(o.no_files, files))
		return false;
	if (o.only.empty() && o.no.empty())
		return true;
	names = names_of(function);
	return (marked || o.only.empty() || any_matches(o.only, names)) &&
	       !any_matches(o.no, names);
}
