/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The compiler's plugin uses no code of assay, so the format of names files is implemented twice:
 * plugin/gcc/names.cc and src/format/ctf/names_file.c. Here both read the same valid and invalid
 * files: those of the fuzzer's corpus, and many that are generated from pieces of lines.
 */
#include "names_alike.h"

#include "../unit/lib/check.h"

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

static void read_by_both(const std::string &text, struct outcome *sum)
{
	struct tag_names *names = tag_names_new();
	struct error err = {};
	names_file plugin;
	std::string said, difference;
	int rc;

	std::ofstream(path, std::ios::trunc) << text;
	plugin.open(path, ASSAY_TAG_LAST, "");
	said = plugin.allocate({});
	rc = names_file_read(names, path, &err);
	(names_twice(said) ? sum->twice : said.empty() ? sum->good : sum->bad)++;
	CHECK_EQ(!rc, !err.text[0]);
	difference = names_difference(plugin, said, names, err.text);
	CHECK_STR(difference.c_str(), "");
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

/* Each reader accepts the file that the other one has written, and appends to it. */
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
	line = names_difference(plugin, "", names, "");
	CHECK_STR(line.c_str(), "");
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
