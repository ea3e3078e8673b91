/* SPDX-License-Identifier: GPL-2.0-or-later */
/* annotate: hits of a hand-made profile, in code with known bytes. */
#include "output/document_output.h"
#include "symbol/symbolizer.h"
#include "view/annotate/annotate_document.h"
#include "view/annotate/disassembly.h"

#include "check.h"
#include "fixture.h"

#include <errno.h>

/* The address of work(), and its bytes. */
static const char code_s[] = ".text\n"
                             ".globl work, other, _start\n"
                             ".type work, @function\n"
                             "_start: call work\n"
                             ".balign 16\n"
                             "work:\n"
                             "push %rbp\n"      /* +0  55 */
                             "mov %rsp, %rbp\n" /* +1  48 89 e5 */
                             "call other\n"     /* +4  e8 .. .. .. .. */
                             "1: dec %eax\n"    /* +9  ff c8 */
                             "jne 1b\n"         /* +11 75 fc */
                             "pop %rbp\n"       /* +13 5d */
                             "ret\n"            /* +14 c3 */
                             ".size work, . - work\n"
                             ".type other, @function\n"
                             "other: ret\n"
                             ".size other, . - other\n"
                             ".globl wide\n"
                             ".type wide, @function\n"
                             "wide: .fill 60, 1, 0x90\n"
                             "ret\n"
                             ".size wide, . - wide\n"
                             ".section .note.GNU-stack,\"\",@progbits\n";

static const char loop_c[] = "#include <stdlib.h>\n"
                             "static volatile int sink;\n"
                             "int main(int n, char **v)\n"
                             "{\n"
                             "\tfor (int i = 0; i < n * 1000; i++)\n" /* line 5 */
                             "\t\tsink += i * atoi(v[0]);\n"          /* line 6 */
                             "\treturn 0;\n"
                             "}\n";

static bool build(void)
{
	return fixture_write("code.s", code_s, sizeof(code_s) - 1) &&
	       fixture_write("loop.c", loop_c, sizeof(loop_c) - 1) &&
	       fixture_run("gcc -nostdlib -static -o code code.s && cp code again "
	                   "&& gcc -O2 -g -o loop loop.c");
}

struct subject {
	struct profile *profile;
	struct symbolizer *symbols;
	struct view *view;
	struct selection selection;
	struct error err;
};

static void subject_start(struct subject *s)
{
	struct profile_event event = {.name = NULL, .role = ATTR_CLOCK};

	*s = (struct subject){.profile = profile_new()};
	event.name = strdup("cpu-clock");
	vec_push(&s->profile->events, event);
}

static void add_hits(struct subject *s, const char *file, uint64_t address, uint64_t samples)
{
	struct profile *p = s->profile;
	uint32_t image = image_table_named(&p->images, IMAGE_FILE, fixture_path(file));
	struct symbolizer *symbols = symbolizer_new(&p->images, NULL);
	struct profile_frame frame = {0};
	struct profile_row key = {.region = REGION_NONE};

	CHECK(symbolizer_frame(symbols, image, address, &frame.frame));
	symbolizer_free(symbols);
	key.path = profile_path_add(p, PATH_ROOT, profile_frame_add(p, &frame));
	key.thread = process_table_thread(p->processes, 100, 100);
	profile_row_add(p, &key)->samples += samples;
	s->selection.samples += samples;
	s->selection.base_samples += samples;
}

static struct annotate *annotate(struct subject *s, const char *function)
{
	struct annotate_options options = {.function = function, .source = true};
	struct annotate *a;

	if (!s->view) {
		s->symbols = symbolizer_new(&s->profile->images, NULL);
		s->view = view_new(s->profile, s->symbols);
		for (size_t i = 0; i < s->profile->rows.count; i++)
			vec_push(&s->selection.rows, (uint32_t)i);
	}
	s->err = (struct error){0};
	annotate_new(&a, s->view, &s->selection, &options, &s->err);
	return a;
}

static void subject_end(struct subject *s)
{
	selection_done(&s->selection);
	view_free(s->view);
	symbolizer_free(s->symbols);
	profile_free(s->profile);
}

static void start_with_hits(struct subject *s, uint64_t *work)
{
	uint64_t size;

	CHECK(fixture_nm("code", "work", work, &size));
	subject_start(s);
	add_hits(s, "code", *work + 1, 3);
	add_hits(s, "code", *work + 9, 5);
	add_hits(s, "code", *work + 10, 2);
	add_hits(s, "code", *work + 15, 7); /* other */
}

static void hits_are_shown_at_their_instructions(void)
{
	static const uint8_t offsets[] = {0, 1, 4, 9, 10, 11, 13, 14};
	static const uint8_t sizes[] = {1, 3, 5, 2, 0, 2, 1, 1};
	static const uint8_t samples[] = {0, 3, 0, 5, 2, 0, 0, 0};
	struct annotate *a;
	struct subject s;
	uint64_t work;

	start_with_hits(&s, &work);
	a = annotate(&s, "work");
	CHECK_STR(s.err.text, "");
	CHECK(a && a->lines.count == 8);
	for (size_t i = 0; a && i < 8 && i < a->lines.count; i++) {
		CHECK_EQ(a->lines.items[i].address, work + offsets[i]);
		CHECK_EQ(a->lines.items[i].size, sizes[i]);
		CHECK_EQ(a->lines.items[i].samples, samples[i]);
	}
	if (a) {
		CHECK_EQ(a->samples, 10);
		CHECK_EQ(a->inside, 2);
		CHECK_EQ(a->base_samples, 17);
		CHECK_STR(a->lines.items[0].text, "pushq %rbp");
		CHECK(strstr(a->lines.items[2].text, "<other>") != NULL);
		CHECK(strstr(a->lines.items[5].text, "<+0x9>") != NULL);
		CHECK(a->lines.items[4].bytes == NULL);
		CHECK(!memcmp(a->lines.items[1].bytes, "\x48\x89\xe5", 3));
	}
	annotate_free(a);
	subject_end(&s);
}

static void a_function_is_named_in_several_ways(void)
{
	char text[400];
	struct annotate *a;
	struct subject s;
	uint64_t work;

	start_with_hits(&s, &work);
	a = annotate(&s, "code:work");
	CHECK(a && a->samples == 10);
	annotate_free(a);
	snprintf(text, sizeof(text), "%s:0x%llx", fixture_path("code"), (unsigned long long)work);
	a = annotate(&s, text);
	CHECK(a && a->samples == 10);
	annotate_free(a);
	CHECK(annotate(&s, "nothing") == NULL);
	CHECK_EQ(s.err.code, ENOENT);
	CHECK(strstr(s.err.text, "nothing") != NULL);
	CHECK(annotate(&s, "_start") == NULL);
	subject_end(&s);
}

static void functions_of_one_name_are_listed(void)
{
	struct annotate *a;
	struct subject s;
	uint64_t work;

	start_with_hits(&s, &work);
	add_hits(&s, "again", work + 4, 1);
	CHECK(annotate(&s, "work") == NULL);
	CHECK_EQ(s.err.code, EINVAL);
	CHECK(strstr(s.err.text, "code:0x") && strstr(s.err.text, "again:0x"));
	a = annotate(&s, "again:work");
	CHECK(a && a->samples == 1);
	annotate_free(a);
	subject_end(&s);
}

/* The same file by another inode, as from a container: one function. */
static void copies_of_one_file_are_added_up(void)
{
	struct image image = {.kind = IMAGE_FILE, .major = 9999};
	struct profile_frame frame = {0};
	struct profile_row key = {.region = REGION_NONE};
	struct annotate *a;
	struct subject s;
	uint64_t work;

	start_with_hits(&s, &work);
	image.path = intern_add(&s.profile->images.names, fixture_path("code"));
	frame.frame = s.profile->frames.items[1].frame;
	frame.frame.image = image_table_add(&s.profile->images, &image);
	key.path = profile_path_add(s.profile, PATH_ROOT, profile_frame_add(s.profile, &frame));
	key.thread = process_table_thread(s.profile->processes, 100, 100);
	profile_row_add(s.profile, &key)->samples += 4;
	a = annotate(&s, "work");
	CHECK(a && a->samples == 14);
	CHECK(a && a->lines.items[1].samples == 7);
	annotate_free(a);
	subject_end(&s);
}

/* The starts of instructions are compared with objdump. */
static void instructions_are_where_objdump_says(void)
{
	char command[512], line[512];
	unsigned long long address;
	uint64_t start = 0, size = 0;
	struct annotate *a;
	struct subject s;
	size_t i = 0;
	FILE *in;

	CHECK(fixture_nm("loop", "main", &start, &size));
	subject_start(&s);
	add_hits(&s, "loop", start, 1);
	a = annotate(&s, "main");
	CHECK(a != NULL);
	snprintf(command, sizeof(command),
	         "objdump -d --start-address=%llu --stop-address=%llu '%s/loop'",
	         (unsigned long long)start, (unsigned long long)(start + size), fixture_dir);
	in = popen(command, "r");
	while (a && in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, " %llx:\t", &address) != 1 || !strchr(line, '\t'))
			continue;
		/* a long instruction's second line has no third field */
		if (!strchr(strchr(line, '\t') + 1, '\t'))
			continue;
		CHECK(i < a->lines.count && a->lines.items[i].address == address);
		i++;
	}
	if (in)
		pclose(in);
	CHECK(a && i == a->lines.count && i > 10);
	annotate_free(a);
	subject_end(&s);
}

static void source_lines_are_shown_beside_the_code(void)
{
	const char *wanted = "\t\tsink += i * atoi(v[0]);";
	uint64_t start = 0, size = 0;
	struct annotate *a;
	struct subject s;
	int lines = 0;

	CHECK(fixture_nm("loop", "main", &start, &size));
	subject_start(&s);
	add_hits(&s, "loop", start, 1);
	a = annotate(&s, "main");
	for (size_t i = 0; a && i < a->lines.count; i++) {
		if (a->lines.items[i].line != 6)
			continue;
		lines++;
		CHECK(strstr(a->lines.items[i].file, "loop.c") != NULL);
		CHECK_STR(a->lines.items[i].source, wanted);
	}
	CHECK(lines >= 2);
	annotate_free(a);
	subject_end(&s);
}

static void bytes_that_are_no_code_are_shown(void)
{
	static const uint8_t bytes[] = {0x06, 0x90, 0xc3};
	struct symbol_code code = {.bytes = bytes,
	                           .address = 0x1000,
	                           .size = sizeof(bytes),
	                           .source = "test",
	                           .machine = CODE_X86_64};
	struct disassembly d;
	struct error err = {0};

	CHECK_EQ(disassemble(&code, &d, &err), 0);
	CHECK_EQ(d.items.count, 3);
	CHECK_STR(d.items.items[0].text, ".byte 0x06");
	CHECK(!d.items.items[0].decoded && d.items.items[1].decoded);
	CHECK_EQ(d.items.items[2].address, 0x1002);
	disassembly_done(&d);
	code.machine = CODE_OTHER;
	CHECK_EQ(disassemble(&code, &d, &err), -ENOTSUP);
}

static void arm_branches_have_targets(void)
{
	/* cbz x0, +8; b +4; ret */
	static const uint8_t bytes[] = {0x40, 0, 0, 0xb4, 1, 0, 0, 0x14, 0xc0, 0x03, 0x5f, 0xd6};
	struct symbol_code code = {.bytes = bytes,
	                           .address = 0x4000,
	                           .size = sizeof(bytes),
	                           .source = "test",
	                           .machine = CODE_ARM64};
	struct disassembly d;

	CHECK_EQ(disassemble(&code, &d, NULL), 0);
	CHECK_EQ(d.items.count, 3);
	CHECK(d.items.items[0].branch && d.items.items[0].target == 0x4008);
	CHECK(d.items.items[1].branch && d.items.items[1].target == 0x4008);
	CHECK(!d.items.items[2].branch);
	disassembly_done(&d);
}

enum shown_as { AS_TEXT, AS_FULL_TEXT, AS_JSON };

static void show(const struct annotate *a, enum shown_as how, struct buf *out)
{
	const struct document_reader reader = {.program = how == AS_JSON};
	const struct document_text_options plain = {0};
	struct document d;

	buf_clear(out);
	document_init(&d);
	annotate_document_fill(&d, a, how == AS_FULL_TEXT, &reader);
	if (reader.program)
		document_json_print(&d, false, NULL, out);
	else
		document_text_print(&d, &plain, NULL, out);
	document_done(&d);
}

static void both_outputs_show_it(void)
{
	struct buf out = {0};
	struct annotate *a;
	struct subject s;
	uint64_t work;

	start_with_hits(&s, &work);
	a = annotate(&s, "work");
	if (a)
		show(a, AS_TEXT, &out);
	CHECK(strstr(buf_text(&out), "  48 89 e5        movq %rsp, %rbp\n") != NULL);
	CHECK(strstr(buf_text(&out), "\n30.00 %        3  0x") != NULL);
	CHECK(strstr(buf_text(&out), "\n50.00 %        5  0x") != NULL);
	CHECK(strstr(buf_text(&out), "2 samples are not at an instruction") != NULL);
	CHECK(strchr(buf_text(&out), '\033') == NULL);
	if (a)
		show(a, AS_JSON, &out);
	CHECK(strstr(buf_text(&out), "\"inside_instruction\": 2") != NULL);
	CHECK(strstr(buf_text(&out), "\"bytes\": \"4889e5\"") != NULL);
	CHECK(strstr(buf_text(&out), "\"share\": 0.3") != NULL);
	buf_done(&out);
	annotate_free(a);
	subject_end(&s);
}

/* Hits at 20, 32 and 33 of 61 instructions, with four around each and the three between. */
static void instructions_far_from_samples_are_left_out(void)
{
	struct buf out = {0};
	struct annotate *a;
	struct subject s;
	uint64_t wide = 0, size, hot = 0;

	CHECK(fixture_nm("code", "wide", &wide, &size));
	subject_start(&s);
	add_hits(&s, "code", wide + 20, 3);
	add_hits(&s, "code", wide + 32, 4);
	add_hits(&s, "code", wide + 33, 1);
	a = annotate(&s, "wide");
	CHECK(a && a->lines.count == 61);
	for (size_t i = 0; a && i < a->lines.count; i++) {
		CHECK_EQ(a->lines.items[i].hot, i >= 16 && i < 38);
		hot += a->lines.items[i].hot ? a->lines.items[i].samples : 0;
	}
	CHECK_EQ(hot, 8);
	if (a)
		show(a, AS_TEXT, &out);
	CHECK(strstr(buf_text(&out), "... 16 instructions without samples\n") != NULL);
	CHECK(strstr(buf_text(&out), "... 23 instructions without samples\n") != NULL);
	CHECK(strstr(buf_text(&out), "39 of 61 instructions are left out") != NULL);
	CHECK(strstr(buf_text(&out), "--full") != NULL);
	if (a)
		show(a, AS_FULL_TEXT, &out);
	CHECK(!strstr(buf_text(&out), "without samples") && !strstr(buf_text(&out), "left out"));
	CHECK(strstr(buf_text(&out), "ret") != NULL);
	buf_done(&out);
	annotate_free(a);
	subject_end(&s);
}

int main(void)
{
	if (!fixture_begin() || !build()) {
		printf("Bail out! cannot build the programs that the tests look at\n");
		return 1;
	}
	RUN(hits_are_shown_at_their_instructions);
	RUN(a_function_is_named_in_several_ways);
	RUN(functions_of_one_name_are_listed);
	RUN(copies_of_one_file_are_added_up);
	RUN(instructions_are_where_objdump_says);
	RUN(source_lines_are_shown_beside_the_code);
	RUN(bytes_that_are_no_code_are_shown);
	RUN(arm_branches_have_targets);
	RUN(both_outputs_show_it);
	RUN(instructions_far_from_samples_are_left_out);
	fixture_end();
	return check_end();
}
