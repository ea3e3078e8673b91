/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler's plugin stands alone, so that what a names file is stands twice:
 * plugin/gcc/names.cc and src/format/names_file.c. Both read the same files here, good ones
 * and bad ones: those of the fuzzer's corpus, and many that are made of pieces of lines.
 *
 * They differ in one thing by intent: a compiler refuses a name with two tags, for it would
 * not know which one is meant; a reader may be given files that were concatenated.
 */
#include "../../plugin/gcc/names.h"

extern "C" {
#include "format/names_file.h"
}

#include "../unit/check.h"

#include "assay/tags_wire.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

static char path[] = "/tmp/assay-names-alike-XXXXXX";

struct outcome {
	unsigned good, bad, twice;
};

/* "PATH:LINE", of a sentence. */
static std::string place(const std::string &sentence)
{
	size_t behind = sentence.find(": ");

	return behind == std::string::npos ? sentence : sentence.substr(0, behind);
}

static bool has_two_tags(const std::string &sentence)
{
	return sentence.find(" has tag ") != std::string::npos;
}

static void same_names(const names_file &plugin, const struct tag_names *names)
{
	for (size_t i = 0; i < tag_names_count(names); i++) {
		const struct tag_name *n = tag_names_at(names, i);
		asked_name asked{n->name, "", n->kind == TAG_INLINE};
		const char *mark = n->kind == TAG_INLINE ? "=" : n->kind == TAG_SWITCH ? "!" : "";
		std::string whole = asked.name + "/" + std::to_string(n->tag) + mark, line;

		CHECK_EQ(plugin.find(asked, &line), n->tag);
		CHECK_STR(line.c_str(), whole.c_str());
	}
}

static void read_by_both(const std::string &text, struct outcome *sum)
{
	struct tag_names *names = tag_names_new();
	struct error err = {};
	names_file plugin;
	std::string said, here, there;
	int rc;

	std::ofstream(path, std::ios::trunc) << text;
	plugin.open(path, ASSAY_TAG_LAST, "");
	said = plugin.allocate({});
	rc = names_file_read(names, path, &err);
	if (has_two_tags(said)) {
		sum->twice++;
	} else if (rc || !said.empty()) {
		sum->bad++;
		CHECK(rc && !said.empty());
		here = place(said);
		there = place(err.text);
		CHECK_STR(here.c_str(), there.c_str());
	} else {
		sum->good++;
		same_names(plugin, names);
	}
	if (check_failures)
		printf("# of the file \"%s\": \"%s\" and \"%s\"\n", text.c_str(), said.c_str(),
		       err.text);
	tag_names_free(names);
}

static std::string corpus;

static void the_fuzzers_files_are_read_alike()
{
	struct outcome sum = {};
	DIR *d = opendir(corpus.c_str());
	struct dirent *entry;

	CHECK(d);
	while (d && !check_failures && (entry = readdir(d))) {
		std::ifstream file(corpus + "/" + entry->d_name);
		std::stringstream text;

		if (entry->d_name[0] == '.')
			continue;
		text << file.rdbuf();
		read_by_both(text.str(), &sum);
	}
	if (d)
		closedir(d);
	CHECK(sum.good >= 4);
	CHECK(sum.bad >= 4);
}

static uint32_t drawn = 1;

static uint32_t draw(uint32_t below)
{
	drawn = drawn * 1664525 + 1013904223;
	return (drawn >> 8) % below;
}

static std::string line_of_pieces()
{
	static const std::string pieces[] = {"main",
	                                     "f",
	                                     "g",
	                                     "swtch",
	                                     "parse@src/lex.c",
	                                     "#",
	                                     "# from ",
	                                     "a b",
	                                     "/",
	                                     "!",
	                                     "=",
	                                     " ",
	                                     "\t",
	                                     "\r",
	                                     "\xc3\xa4",
	                                     "x",
	                                     "-",
	                                     "+",
	                                     std::string(1, '\0')};
	static const char *const tags[] = {"0",        "2",        "4",        "500",
	                                   "501",      "502",      "00502",    "16773118",
	                                   "16773119", "16773120", "99999999", "4294967298"};
	static const char *const ends[] = {"", "", "", "=", "!", " =", " !", "!=", " ", "\r", "x"};
	std::string line;

	for (uint32_t i = 1 + draw(4) % 3; i; i--)
		line += pieces[draw(i > 1 ? 19 : 8)];
	if (!draw(12))
		return line;
	return line + (draw(8) ? "/" : " / ") + tags[draw(12)] + ends[draw(11)];
}

static void made_files_are_read_alike()
{
	struct outcome sum = {};

	for (unsigned i = 0; i < 6000 && !check_failures; i++) {
		std::string text;

		for (uint32_t lines = draw(5); lines; lines--)
			text += line_of_pieces() + (lines > 1 || draw(2) ? "\n" : "");
		read_by_both(text, &sum);
	}
	CHECK(sum.good > 500);
	CHECK(sum.bad > 500);
	CHECK(sum.twice > 5);
}

/* What one gives, the other takes as it is, and goes on behind. */
static void each_extends_what_the_other_has_written()
{
	const char *const spots[] = {"spot", "other spot"};
	struct tag_names *names = tag_names_new();
	struct error err = {};
	std::string line;
	names_file plugin;

	std::ofstream(path, std::ios::trunc) << "first/500\n";
	plugin.open(path, ASSAY_TAG_LAST, "");
	CHECK(plugin.allocate({{"f", "a.c", false}, {"mark", "a.c", true}}).empty());
	CHECK_EQ(names_file_add(path, spots, 2, &err), 0);
	CHECK(plugin.allocate({{"spot", "a.c", true}, {"g", "b.c", false}}).empty());
	CHECK_EQ(plugin.find({"spot", "", true}, &line), 505);
	CHECK_STR(line.c_str(), "spot/505=");
	CHECK_EQ(plugin.find({"g", "", false}, &line), 508);
	CHECK_EQ(names_file_read(names, path, &err), 0);
	CHECK_EQ(tag_names_count(names), 6);
	same_names(plugin, names);
	tag_names_free(names);
}

int main(int argc, char **argv)
{
	int fd = mkstemp(path);

	corpus = argc > 1 ? argv[1] : "tests/fuzz/corpus/names_file";
	if (fd < 0)
		return 1;
	close(fd);
	RUN(the_fuzzers_files_are_read_alike);
	RUN(made_files_are_read_alike);
	RUN(each_extends_what_the_other_has_written);
	unlink(path);
	return check_end();
}
