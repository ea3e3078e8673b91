/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inline: chains of inlined functions and lines, at every address of known functions, compared with
 * addr2line and llvm-symbolizer.
 */
#include "symbol/debug/debug_index.h"
#include "symbol/debug/debug_segment.h"
#include "symbol/symbolizer.h"

#include "inline_fixture.h"

#include <sys/resource.h>

#define FRAMES_MAX 66

static const char templates_cc[] =
        "#include <algorithm>\n"
        "#include <map>\n"
        "#include <string>\n"
        "#include <vector>\n"
        "namespace space {\n"
        "template <class T> struct Box {\n"
        "\tT v;\n"
        "\tBox(T x) : v(x) {}\n"
        "\tT get(T by) const { return v * by; }\n"
        "};\n"
        "template <class T, class F> inline T fold(const std::vector<T> &a, F f)\n"
        "{ T s{}; for (auto &x : a) s += f(x); return s; }\n"
        "}\n"
        "extern \"C\" __attribute__((noinline)) long work(int n)\n"
        "{\n"
        "\tstd::vector<long> a;\n"
        "\tfor (int i = 0; i < n; i++) a.push_back((i * 7919) % n);\n"
        "\tstd::sort(a.begin(), a.end(), [](long x, long y) { return x % 17 < y % 17; });\n"
        "\tstd::map<std::string, int> m;\n"
        "\tfor (int i = 0; i < 10; i++) m[std::to_string(i)] += i;\n"
        "\treturn space::fold(a, [&](long x) { space::Box<long> b(x); return b.get(3) + "
        "(long)m.size(); });\n"
        "}\n"
        "int main() { return (int)work(1000); }\n";

struct frames {
	size_t count;
	struct {
		char name[2048], file[256];
		int line;
	} at[FRAMES_MAX];
};

static bool have_clang, have_llvm;

static bool build(void)
{
	have_clang = fixture_run("command -v clang++ >/dev/null");
	have_llvm = fixture_run("command -v llvm-symbolizer >/dev/null");
	return fixture_write("nest.c", nest_c, sizeof(nest_c) - 1) &&
	       fixture_write("templates.cc", templates_cc, sizeof(templates_cc) - 1) &&
	       fixture_run("gcc -O2 -gdwarf-5 -Wl,--build-id -o nest nest.c");
}

static void set_place(struct frames *f, const char *file, int line)
{
	snprintf(f->at[f->count].file, sizeof(f->at[0].file), "%s", line ? base_name(file) : "??");
	f->at[f->count].line = line;
}

/* The outermost name comes from the symbol table, and is excluded. */
static void finish(struct frames *f)
{
	if (f->count)
		snprintf(f->at[f->count - 1].name, sizeof(f->at[0].name), "*");
}

static void our_frames(struct debug_index *x, uint64_t address, struct frames *f)
{
	struct debug_inline in[DEBUG_INLINES_MAX];
	size_t count = debug_index_inlines(x, address, in, DEBUG_INLINES_MAX);
	const char *file;
	int line;

	f->count = 0;
	if (!debug_index_line(x, address, &file, &line))
		line = 0;
	for (; f->count < count; f->count++) {
		snprintf(f->at[f->count].name, sizeof(f->at[0].name), "%.2000s", in[f->count].name);
		set_place(f, file, line);
		file = in[f->count].call_file;
		line = in[f->count].call_line;
	}
	set_place(f, file, line);
	f->count++;
	finish(f);
}

/* "/a/b.c:12:3" or "/a/b.c:12 (discriminator 1)" or "??:?" */
static void parse_place(struct frames *f, char *text)
{
	char *base = text + (base_name(text) - text), *colon = strchr(base, ':');
	int line = 0;

	if (colon) {
		sscanf(colon + 1, "%d", &line);
		*colon = '\0';
	}
	set_place(f, text, line);
}

/* The next record of a tool's output: an address, then names and places in turn. */
static bool their_frames(FILE *in, char *line, size_t size, uint64_t *address, struct frames *f)
{
	unsigned long long value;
	bool name = true;

	f->count = 0;
	if (!*line && !fgets(line, (int)size, in))
		return false;
	if (sscanf(line, "0x%llx", &value) != 1)
		return false;
	*address = value;
	while (*line = '\0', fgets(line, (int)size, in) && strncmp(line, "0x", 2) != 0) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		if (name) {
			snprintf(f->at[f->count].name, sizeof(f->at[0].name), "%.2000s", line);
		} else if (f->count < FRAMES_MAX - 1) {
			parse_place(f, line);
			f->count++;
		}
		name = !name;
	}
	finish(f);
	return true;
}

static bool same_frames(const struct frames *a, const struct frames *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->at[i].name, b->at[i].name) != 0 || a->at[i].line != b->at[i].line ||
		    strcmp(a->at[i].file, b->at[i].file) != 0)
			return false;
	return true;
}

static void show(const char *who, const struct frames *f)
{
	printf("#  %s:", who);
	for (size_t i = 0; i < f->count; i++)
		printf(" %.80s %s:%d", f->at[i].name, f->at[i].file, f->at[i].line);
	printf("\n");
}

struct comparison {
	size_t addresses, differ, unnamed; /* unnamed: differ, in a function without linkage name */
	size_t deepest;
};

/*
 * Every byte of a function: assay's answer, compared with that of a command that reads addresses.
 */
static struct comparison compare(const char *program, const char *function, const char *command)
{
	static struct frames ours, theirs;
	struct comparison c = {0};
	uint64_t start = 0, size = 0, address;
	char line[4096] = "", text[512];
	struct debug_index *x;
	struct elf_file *f;
	FILE *in;

	CHECK(fixture_nm(program, function, &start, &size) && size > 16);
	CHECK(!elf_file_open(&f, fixture_path(program), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x != NULL);
	snprintf(text, sizeof(text),
	         "cd '%s' && seq %llu %llu | while read a; do printf '0x%%x\\n' $a; done | %s %s",
	         fixture_dir, (unsigned long long)start, (unsigned long long)(start + size - 1),
	         command, program);
	in = popen(text, "r");
	while (x && in && their_frames(in, line, sizeof(line), &address, &theirs)) {
		our_frames(x, address, &ours);
		c.addresses++;
		if (ours.count > c.deepest)
			c.deepest = ours.count;
		if (same_frames(&ours, &theirs))
			continue;
		c.differ++;
		c.unnamed += ours.count > 1 && strncmp(ours.at[0].name, "_Z", 2) != 0;
		if (c.differ > 2)
			continue;
		printf("# %s %#llx\n", program, (unsigned long long)address);
		show("ours", &ours);
		show(command, &theirs);
	}
	if (in)
		pclose(in);
	CHECK_EQ(c.addresses, size);
	debug_index_free(x);
	elf_file_close(f);
	return c;
}

#define ADDR2LINE "addr2line -a -i -f -e"
#define LLVM "llvm-symbolizer --no-demangle --inlining -a -e"

static void chains_of_c_are_those_of_addr2line(void)
{
	static const char *const compilers[] = {"gcc", "clang"};
	struct comparison c;
	char program[32];

	for (size_t i = 0; i < (have_clang ? 2 : 1); i++)
		for (int version = 4; version <= 5; version++) {
			snprintf(program, sizeof(program), "nest-%s-%d", compilers[i], version);
			CHECK(fixture_run("%s -O2 -gdwarf-%d -o %s nest.c", compilers[i], version,
			                  program));
			c = compare(program, "work", ADDR2LINE);
			CHECK_EQ(c.differ, 0);
			CHECK_EQ(c.deepest, 4);
		}
}

/*
 * addr2line 2.40 gives functions that have no linkage name the name of the
 * symbol they are in, mistakes files of DWARF 5, and does not know how clang
 * writes ranges in DWARF 5; llvm-symbolizer agrees with us at every address.
 */
static void chains_of_templates_are_those_of_the_tools(void)
{
	struct comparison c;

	CHECK(fixture_run("g++ -O2 -gdwarf-4 -o templates-4 templates.cc"));
	c = compare("templates-4", "work", ADDR2LINE);
	CHECK(100 * (c.differ - c.unnamed) <= c.addresses);
	CHECK(20 * c.differ <= c.addresses);
	CHECK(c.deepest >= 8);
	if (!have_llvm)
		return;
	CHECK(fixture_run("g++ -O2 -gdwarf-5 -o templates-5 templates.cc"));
	CHECK_EQ(compare("templates-4", "work", LLVM).differ, 0);
	CHECK_EQ(compare("templates-5", "work", LLVM).differ, 0);
	if (!have_clang)
		return;
	CHECK(fixture_run("clang++ -O2 -gdwarf-5 -o templates-c templates.cc"));
	CHECK_EQ(compare("templates-c", "work", LLVM).differ, 0);
}

static void packed_and_split_dwarf_are_read(void)
{
	struct debug_index *x;
	struct elf_file *f;

	CHECK(fixture_run("gcc -O2 -g -gz=zlib -o packed nest.c"));
	CHECK_EQ(compare("packed", "work", ADDR2LINE).differ, 0);
	CHECK(fixture_run("gcc -O2 -g -gsplit-dwarf -c -o split.o nest.c && gcc -o split split.o"));
	/* addr2line 2.40 finds nothing there */
	if (have_llvm)
		CHECK_EQ(compare("split", "work", LLVM).differ, 0);
	CHECK(!elf_file_open(&f, fixture_path("split"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x && is_deep(x, deep_address(x, "split")));
	debug_index_free(x);
	elf_file_close(f);
}

/* Lines are in the program, functions in a missing file: reported, not guessed. */
static void split_dwarf_that_is_gone_is_counted(void)
{
	uint64_t start = 0, size = 0;
	struct debug_inline in[4];
	struct debug_index *x;
	struct elf_file *f;
	const char *file;
	int line;

	CHECK(fixture_run("cp split gone && sed -i s/split.dwo/spilt.dwo/ gone"));
	CHECK(fixture_nm("gone", "work", &start, &size));
	CHECK(!elf_file_open(&f, fixture_path("gone"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x && debug_index_line(x, start, &file, &line));
	CHECK(x && !debug_index_inlines(x, start + size / 2, in, 4));
	CHECK_EQ(x ? debug_index_missing(x)->units : 0, 1);
	debug_index_free(x);
	/* opening a pipe in its place would block */
	CHECK(fixture_run("mkfifo spilt.dwo"));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x && !debug_index_inlines(x, start + size / 2, in, 4));
	debug_index_free(x);
	elf_file_close(f);
}

/* libdw opens such a file beside the program, too, which may be in another directory. */
static void a_pipe_next_to_the_program_is_not_opened(void)
{
	uint64_t start = 0, size = 0;
	struct debug_inline in[4];
	struct debug_index *x;
	struct elf_file *f;

	CHECK(fixture_run("mkdir beside && cp split beside/ && sed -i s/split.dwo/aside.dwo/ "
	                  "beside/split && mkfifo beside/aside.dwo && ln -s beside/split linked"));
	CHECK(fixture_nm("linked", "work", &start, &size));
	CHECK(!elf_file_open(&f, fixture_path("linked"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	CHECK(x && !debug_index_inlines(x, start + size / 2, in, 4));
	CHECK_EQ(x ? debug_index_missing(x)->units : 0, 1);
	debug_index_free(x);
	elf_file_close(f);
}

static void the_symbolizer_names_them(void)
{
	struct symbol_options none = {0}, without = {.no_inlines = true};
	struct image image = {.kind = IMAGE_FILE};
	struct symbol_inline in[4], again[4];
	struct symbolizer *s;
	struct image_table images;
	struct frame frame = {0};
	struct debug_index *x;
	struct elf_file *f;
	uint64_t address;

	CHECK(!elf_file_open(&f, fixture_path("nest"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	address = deep_address(x, "nest");
	debug_index_free(x);
	elf_file_close(f);
	image_table_init(&images);
	image.path = intern_add(&images.names, fixture_path("nest"));
	frame.image = image_table_add(&images, &image);
	s = symbolizer_new(&images, &none);
	CHECK(symbolizer_frame(s, frame.image, address, &frame));
	CHECK_EQ(symbolizer_inlines(s, frame, in, 4), 3);
	CHECK_STR(in[0].name, "innermost");
	CHECK_STR(in[2].name, "outer");
	CHECK_EQ(in[2].call_line, 30);
	CHECK_EQ(symbolizer_inlines(s, frame, again, 2), 2);
	CHECK(again[0].name == in[0].name && again[1].name == in[1].name);
	CHECK_STR(symbolizer_find(s, frame)->name, "work");
	symbolizer_free(s);
	s = symbolizer_new(&images, &without);
	CHECK_EQ(symbolizer_inlines(s, frame, in, 4), 0);
	symbolizer_free(s);
	image_table_done(&images);
}

#define FILES 48

/* Half with DWARF and half without; fewer files may be open than each half has. */
static void more_files_than_the_limit_of_open_files(void)
{
	struct rlimit few, before;
	struct image_table images;
	struct symbol_inline in[4];
	struct symbolizer *s;
	uint32_t ids[FILES];
	struct debug_index *x;
	struct elf_file *f;
	uint64_t address;
	size_t wrong = 0;
	char name[32];

	CHECK(!elf_file_open(&f, fixture_path("nest"), NULL));
	x = debug_index_new(f, NULL, NULL, NULL);
	address = deep_address(x, "nest");
	debug_index_free(x);
	elf_file_close(f);
	CHECK(fixture_run("cp nest bare && strip -g bare && for i in $(seq 0 2 %d); do cp nest "
	                  "copy$i; cp bare copy$((i + 1)); done",
	                  FILES - 2));
	image_table_init(&images);
	for (int i = 0; i < FILES; i++) {
		struct image image = {.kind = IMAGE_FILE};

		snprintf(name, sizeof(name), "copy%d", i);
		image.path = intern_add(&images.names, fixture_path(name));
		ids[i] = image_table_add(&images, &image);
	}
	CHECK(!getrlimit(RLIMIT_NOFILE, &before));
	few = before;
	few.rlim_cur = 20;
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	s = symbolizer_new(&images, NULL);
	for (int i = 0; i < FILES; i++) {
		struct frame frame = {0};

		wrong += !symbolizer_frame(s, ids[i], address, &frame) ||
		         symbolizer_inlines(s, frame, in, 4) != (i % 2 ? 0 : 3) ||
		         strcmp(symbolizer_find(s, frame)->name, "work") != 0;
	}
	CHECK_EQ(wrong, 0);
	CHECK(!setrlimit(RLIMIT_NOFILE, &before));
	symbolizer_free(s);
	image_table_done(&images);
}

/* Against the plain definition: of all spans at an address the deepest, latest, first. */
static uint32_t span_at(const struct debug_span *spans, size_t count, uint64_t address)
{
	const struct debug_span *best = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct debug_span *s = &spans[i];

		if (s->start > address || s->end <= address)
			continue;
		if (!best || s->depth > best->depth ||
		    (s->depth == best->depth &&
		     (s->start > best->start ||
		      (s->start == best->start && s->value < best->value))))
			best = s;
	}
	return best ? best->value : ID_NONE;
}

static void spans_are_laid_flat(void)
{
	struct debug_spans spans = {0};
	struct debug_segments flat = {0};
	uint64_t seed = 3;
	size_t wrong = 0;

	for (int round = 0; round < 500; round++) {
		spans.count = flat.count = 0;
		for (uint32_t i = 0; i < 1 + (uint32_t)round % 40; i++) {
			uint64_t start, length;

			seed = hash_u64(seed + 1);
			start = 10 + seed % 200;
			length = 1 + (seed >> 20) % 60;
			vec_push(&spans, (struct debug_span){start, start + length,
			                                     (uint32_t)(seed >> 40) % 4, i});
		}
		debug_flatten(&spans, &flat);
		CHECK(flat.count <= 2 * spans.count);
		for (uint64_t a = 0; a < 300; a++)
			wrong += debug_segment_at(flat.items, flat.count, a) !=
			         span_at(spans.items, spans.count, a);
	}
	CHECK_EQ(wrong, 0);
	vec_done(&spans);
	vec_done(&flat);
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! cannot build the programs to look at\n");
		return 1;
	}
	RUN(spans_are_laid_flat);
	RUN(chains_of_c_are_those_of_addr2line);
	RUN(chains_of_templates_are_those_of_the_tools);
	RUN(packed_and_split_dwarf_are_read);
	RUN(split_dwarf_that_is_gone_is_counted);
	RUN(a_pipe_next_to_the_program_is_not_opened);
	RUN(the_symbolizer_names_them);
	RUN(more_files_than_the_limit_of_open_files);
	fixture_end();
	return check_end();
}
