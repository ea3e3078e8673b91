/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/cli/option.h"
#include "cmd/cli/wrap.h"

#include "check.h"

struct shared {
	bool wide;
	uint64_t limit;
};

struct choice {
	bool all, graph, no_children;
	bool whole;
	const char *output, *color, *how, *input;
	struct option_list sort, comm;
	uint64_t freq;
	double percent;
	struct shared shared;
};

static const struct option shared_options[] = {
        {OPTION_FLAG, .name = "wide", .offset = offsetof(struct shared, wide)},
        {OPTION_COUNT, .name = "limit", .argument = "N", .offset = offsetof(struct shared, limit)},
        {.kind = OPTION_END},
};

static bool is_table(const char *word)
{
	return !strcmp(word, "table");
}

static const struct option options[] = {
        {OPTION_GROUP, .help = "What"},
        {OPTION_FLAG, 'a', "all", .offset = offsetof(struct choice, all)},
        {OPTION_FLAG, 'g', "graph", .offset = offsetof(struct choice, graph)},
        {OPTION_FLAG, 0, "no-children", .offset = offsetof(struct choice, no_children)},
        {OPTION_STRING, 'o', "output", "FILE", .offset = offsetof(struct choice, output)},
        {OPTION_STRING, 'c', "color", "[WHEN]", .choices = "auto,never,always",
         .offset = offsetof(struct choice, color)},
        {OPTION_STRING, 'k', "kind", "[HOW]", .choices = "fp,dwarf", .looks_ahead = true,
         .offset = offsetof(struct choice, how)},
        {OPTION_LIST, 's', "sort", "KEY", .choices = "process,cpu",
         .offset = offsetof(struct choice, sort)},
        {OPTION_EACH, 0, "comm", "NAME", .offset = offsetof(struct choice, comm)},
        {OPTION_COUNT, 'F', "freq", "HZ", .help = "Samples a second",
         .offset = offsetof(struct choice, freq)},
        {OPTION_NUMBER, 0, "percent-limit", "PERCENT", .offset = offsetof(struct choice, percent)},
        {OPTION_INCLUDE, .include = shared_options, .offset = offsetof(struct choice, shared)},
        {OPTION_STRING, 'i', "input", "FILE", .is_no_value = is_table,
         .offset = offsetof(struct choice, input)},
        {OPTION_FLAG, 'i', "whole", .offset = offsetof(struct choice, whole)},
        {.kind = OPTION_END},
};

static const struct command permuting = {
        .name = "try", .options = options, .options_size = sizeof(struct choice)};
static const struct command early = {.name = "try",
                                     .options = options,
                                     .options_size = sizeof(struct choice),
                                     .stop_early = true};

struct parsed {
	struct choice choice;
	struct option_result result;
	struct error err;
	int status;
};

/* Parses words given as one text, separated by spaces. */
static struct parsed parse(const struct command *command, const char *text)
{
	static char words[512];
	static char *argv[32];
	struct parsed p = {.choice = {.freq = 997, .percent = 1}};
	int argc = 0;

	argv[argc++] = "try";
	snprintf(words, sizeof(words), "%s", text);
	for (char *word = words; *word; argc++) {
		size_t size = strcspn(word, " ");

		argv[argc] = word;
		word += size;
		if (*word)
			*word++ = '\0';
	}
	p.status = option_parse(command, &p.choice, argc, argv, &p.result, &p.err);
	return p;
}

static void done(struct parsed *p)
{
	option_result_done(&p->result);
}

static void check_error(const char *words, const char *text)
{
	struct parsed p = parse(&permuting, words);

	CHECK(p.status < 0);
	CHECK_STR(p.err.text, text);
	done(&p);
}

static void the_value_of_an_option_may_be_in_four_places(void)
{
	static const char *const ways[] = {"-F99", "-F 99", "--freq=99", "--freq 99"};

	for (size_t i = 0; i < 4; i++) {
		struct parsed p = parse(&permuting, ways[i]);

		CHECK_EQ(p.status, 0);
		CHECK_EQ(p.choice.freq, 99);
		CHECK_EQ(p.result.argc, 0);
		done(&p);
	}
}

static void letters_are_combined_and_the_last_may_take_a_value(void)
{
	struct parsed p = parse(&permuting, "-agF10k file");

	CHECK_EQ(p.status, 0);
	CHECK(p.choice.all && p.choice.graph);
	CHECK_EQ(p.choice.freq, 10000);
	CHECK_EQ(p.result.argc, 1);
	CHECK_STR(p.result.argv[0], "file");
	done(&p);
}

static void flags_are_unset_by_no(void)
{
	struct parsed p = parse(&permuting, "--all --no-all --no-children");

	CHECK_EQ(p.status, 0);
	CHECK(!p.choice.all);
	CHECK(p.choice.no_children);
	done(&p);
	p = parse(&permuting, "--no-children --children");
	CHECK_EQ(p.status, 0);
	CHECK(!p.choice.no_children);
	done(&p);
}

static void numbers_have_suffixes_and_limits(void)
{
	struct parsed p = parse(&permuting, "--freq=2M --percent-limit 0.5% --limit 3G");

	CHECK_EQ(p.status, 0);
	CHECK_EQ(p.choice.freq, 2000000);
	CHECK_EQ(p.choice.percent * 1000, 500);
	CHECK_EQ(p.choice.shared.limit, 3000000000);
	done(&p);
	p = parse(&permuting, "--freq=18446744073709551615");
	CHECK_EQ(p.status, 0);
	CHECK(p.choice.freq == UINT64_MAX);
	done(&p);
	check_error("--freq=18446744073709551616",
	            "--freq: 18446744073709551616 is too large a number");
	check_error("--freq=18446744073709551615k",
	            "--freq: 18446744073709551615k is too large a number");
	check_error("-F fast", "-F: 'fast' is not a whole number (such as 1000 or 1k)");
	check_error("-F -5", "-F: '-5' is not a whole number (such as 1000 or 1k)");
	check_error("-F 5kk", "-F: '5kk' is not a whole number (such as 1000 or 1k)");
	check_error("--freq=", "--freq: '' is not a whole number (such as 1000 or 1k)");
	check_error("--percent-limit=many",
	            "--percent-limit: 'many' is not a number (such as 0.5)");
	check_error("--percent-limit=nan", "--percent-limit: 'nan' is not a number (such as 0.5)");
}

static void lists_gather_split_and_replace_defaults(void)
{
	struct parsed p = parse(&permuting, "-s process,cpu --sort=cpu --comm a,b --comm c");

	CHECK_EQ(p.status, 0);
	CHECK_EQ(p.choice.sort.count, 3);
	CHECK_STR(p.choice.sort.items[0], "process");
	CHECK_STR(p.choice.sort.items[1], "cpu");
	CHECK_STR(p.choice.sort.items[2], "cpu");
	CHECK_EQ(p.choice.comm.count, 2);
	CHECK_STR(p.choice.comm.items[0], "a,b");
	CHECK_STR(p.choice.comm.items[1], "c");
	done(&p);
	check_error("--sort=process,pid",
	            "--sort: 'pid' is not one of its values; choose from: process, cpu");
	check_error("--sort=cpu,", "--sort: an empty item; items are separated by one comma");

	const char *standard[] = {"process"};
	struct choice choice = {.sort = {standard, 1}};
	char *argv[] = {"try", "--sort=cpu", NULL};
	struct option_result result;

	CHECK_EQ(option_parse(&permuting, &choice, 2, argv, &result, NULL), 0);
	CHECK_EQ(choice.sort.count, 1);
	CHECK_STR(choice.sort.items[0], "cpu");
	option_result_done(&result);
}

static void optional_values_need_an_equals_sign(void)
{
	struct parsed p = parse(&permuting, "--color never");

	CHECK_EQ(p.status, 0);
	CHECK_STR(p.choice.color, "");
	CHECK_STR(p.result.argv[0], "never");
	done(&p);
	p = parse(&permuting, "--color=never -ca");
	CHECK_EQ(p.status, 0);
	CHECK_STR(p.choice.color, "");
	CHECK(p.choice.all);
	done(&p);
	check_error("--color=nevr",
	            "--color: 'nevr' is not one of its values; choose from: auto, never, always");
}

static void some_look_at_the_next_word(void)
{
	static const char *const lines[][3] = {
	        {"-k fp x", "fp", "x"},
	        {"-kdwarf x", "dwarf", "x"},
	        {"-ak fp x", "fp", "x"},
	        {"-ka fp", "", "fp"},
	        {"-k other", "", "other"},
	        {"--kind dwarf x", "dwarf", "x"},
	        {"--kind=fp fp", "fp", "fp"},
	        {"-k -- fp", "", "fp"},
	        {"x -k", "", "x"},
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct parsed p = parse(&permuting, lines[i][0]);

		CHECK_EQ(p.status, 0);
		CHECK_STR(p.choice.how, lines[i][1]);
		CHECK_EQ(p.result.argc, 1);
		CHECK_STR(p.result.argv[0], lines[i][2]);
		done(&p);
	}
	check_error("--kind=lbr", "--kind: 'lbr' is not one of its values; choose from: fp, dwarf");
}

/* A letter of both a flag and an option with a value. */
static void a_shared_letter_is_the_flag_if_no_value_follows(void)
{
	static const struct {
		const char *words, *input;
		bool whole;
		int left;
	} cases[] = {
	        {"-i file", "file", false, 0},   {"-ifile", "file", false, 0},
	        {"-i -", "-", false, 0},         {"-i", NULL, true, 0},
	        {"file -i", NULL, true, 1},      {"-i -F 9 file", NULL, true, 1},
	        {"-i -- file", NULL, true, 1},   {"-i table", NULL, true, 1},
	        {"-ai file", "file", false, 0},  {"-ai -g", NULL, true, 0},
	        {"-itable", "table", false, 0},  {"--input table", "table", false, 0},
	        {"-i --whole x", NULL, true, 1}, {"-i a -i table", "a", true, 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct parsed p = parse(&permuting, cases[i].words);

		CHECK_EQ(p.status, 0);
		CHECK_STR(p.choice.input ? p.choice.input : "none",
		          cases[i].input ? cases[i].input : "none");
		CHECK_EQ(p.choice.whole, cases[i].whole);
		CHECK_EQ(p.result.argc, cases[i].left);
		done(&p);
	}
}

static void remaining_words_keep_their_order(void)
{
	struct parsed p = parse(&permuting, "one -a two - -- -g three");

	CHECK_EQ(p.status, 0);
	CHECK(p.choice.all && !p.choice.graph);
	CHECK_EQ(p.result.argc, 5);
	CHECK_STR(p.result.argv[0], "one");
	CHECK_STR(p.result.argv[1], "two");
	CHECK_STR(p.result.argv[2], "-");
	CHECK_STR(p.result.argv[3], "-g");
	CHECK_STR(p.result.argv[4], "three");
	CHECK(p.result.argv[5] == NULL);
	done(&p);
}

static void a_command_that_stops_early_leaves_the_rest_alone(void)
{
	struct parsed p = parse(&early, "-a ls -g -- x");

	CHECK_EQ(p.status, 0);
	CHECK(p.choice.all && !p.choice.graph);
	CHECK_EQ(p.result.argc, 4);
	CHECK_STR(p.result.argv[0], "ls");
	CHECK_STR(p.result.argv[1], "-g");
	CHECK_STR(p.result.argv[2], "--");
	done(&p);
}

static void mistakes_are_named(void)
{
	check_error("--feq=9", "there is no option --feq; did you mean --freq?");
	check_error("--percent", "there is no option --percent; did you mean --percent-limit?");
	check_error("--xyzzyplugh", "there is no option --xyzzyplugh; 'assay help try' lists them");
	check_error("-aZ", "there is no option -Z; 'assay help try' lists them");
	check_error("--all=yes", "--all takes no value, but got 'yes'");
	check_error("--freq", "--freq needs a value: --freq HZ (Samples a second)");
	check_error("--no-freq", "there is no option --no-freq; did you mean --freq?");
}

static void help_stops_the_parsing(void)
{
	struct parsed p = parse(&permuting, "-a --help --nonsense");

	CHECK_EQ(p.status, 0);
	CHECK(p.result.help);
	done(&p);
	p = parse(&permuting, "-ah --nonsense");
	CHECK_EQ(p.status, 0);
	CHECK(p.result.help);
	done(&p);
	p = parse(&permuting, "-- -h");
	CHECK(!p.result.help);
	done(&p);
}

/* Names of the options that the words give, each with a blank. */
static const char *given_by(const char *words, bool with_defaults)
{
	static char text[256];
	const struct choice before = {.freq = 997, .percent = with_defaults ? 1 : -1};
	struct parsed p = parse(&permuting, words);
	struct option_table table;

	if (!with_defaults && !strstr(words, "percent"))
		p.choice.percent = -1;
	if (!with_defaults && !strstr(words, "freq"))
		p.choice.freq = 0;
	text[0] = '\0';
	option_table_init(&table, options);
	vec_each (o, &table.rows)
		if (option_is_given(o, &p.choice, with_defaults ? &before : NULL))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", o->name);
	option_table_done(&table);
	done(&p);
	return text;
}

static void given_options_differ_from_their_defaults(void)
{
	CHECK_STR(given_by("", true), "");
	CHECK_STR(given_by("", false), "");
	CHECK_STR(given_by("-a -s cpu --comm x --limit 3 --output=f", true),
	          "all output sort comm limit ");
	CHECK_STR(given_by("-a -s cpu --comm x --limit 3 --output=f", false),
	          "all output sort comm limit ");
	CHECK_STR(given_by("--freq 0 --percent-limit 0", true), "freq percent-limit ");
	CHECK_STR(given_by("--freq 1 --percent-limit 0", false), "freq percent-limit ");
	CHECK_STR(given_by("--freq 997 --percent-limit 1", true), "");
}

static void texts_wrap_at_eighty_columns(void)
{
	struct buf b = {0};

	wrap_text(&b,
	          "a text of words that is as long as a line of eighty columns may be, or is it, "
	          "now? and on",
	          0, 4);
	CHECK_STR(buf_text(&b),
	          "a text of words that is as long as a line of eighty columns may be, or is it,\n"
	          "    now? and on");
	buf_clear(&b);
	wrap_text(&b, "one,two", 77, 2);
	CHECK_STR(buf_text(&b), "one,\n  two");
	buf_done(&b);
}

int main(void)
{
	RUN(the_value_of_an_option_may_be_in_four_places);
	RUN(letters_are_combined_and_the_last_may_take_a_value);
	RUN(flags_are_unset_by_no);
	RUN(numbers_have_suffixes_and_limits);
	RUN(lists_gather_split_and_replace_defaults);
	RUN(optional_values_need_an_equals_sign);
	RUN(some_look_at_the_next_word);
	RUN(a_shared_letter_is_the_flag_if_no_value_follows);
	RUN(remaining_words_keep_their_order);
	RUN(a_command_that_stops_early_leaves_the_rest_alone);
	RUN(mistakes_are_named);
	RUN(help_stops_the_parsing);
	RUN(given_options_differ_from_their_defaults);
	RUN(texts_wrap_at_eighty_columns);
	return check_end();
}
