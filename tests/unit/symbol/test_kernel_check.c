/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol: a map of kernel symbols is compared with what the recording has of its kernel. */
#include "image/kernel_anchors.h"
#include "image/stored_names.h"
#include "symbol_fixture.h"

#include <inttypes.h>

#define TEXT UINT64_C(0xffffffff81000000)
#define STEP UINT64_C(0x200000)
#define MODULE UINT64_C(0xffffffffc0000000)
#define FUNCTIONS 200
#define FUNCTION_BYTES 64

/* A map, as lines; fields that are 0 change nothing. */
struct map {
	uint64_t base;         /* added to all addresses */
	uint64_t shift;        /* added to the addresses of functions, but not to those of labels */
	uint64_t module_shift; /* added to the addresses of modules */
	unsigned first, last;  /* the functions that it has; last 0: all */
	unsigned larger;       /* the functions from this number on follow larger ones */
	bool zero;             /* all addresses are 0 */
	bool no_modules, no_labels;
	const char *prefix; /* of names of functions */
};

static void add_line(struct buf *b, const struct map *m, uint64_t address, char type,
                     const char *name, const char *module)
{
	buf_addf(b, "%016" PRIx64 " %c %s%s%s\n", m->zero ? 0 : address + m->base, type, name,
	         module ? "\t" : "", module ? module : "");
}

static void write_map(const struct map *m, struct kallsyms *read)
{
	unsigned last = m->last ? m->last : FUNCTIONS;
	uint64_t end = TEXT + 0x1000 + FUNCTIONS * FUNCTION_BYTES;
	struct buf b = {0};
	char name[64];

	if (!m->no_labels) {
		add_line(&b, m, TEXT, 'T', "_text", NULL);
		add_line(&b, m, TEXT, 'T', "_stext", NULL);
	}
	for (unsigned i = m->first; i < last; i++) {
		snprintf(name, sizeof(name), "%sfunction_%u", m->prefix ? m->prefix : "", i);
		add_line(&b, m,
		         TEXT + 0x1000 + (uint64_t)i * FUNCTION_BYTES + m->shift +
		                 (m->larger && i >= m->larger ? 16 : 0),
		         i % 4 ? 'T' : 't', name, NULL);
	}
	if (!m->no_labels && last == FUNCTIONS)
		add_line(&b, m, end + m->shift + (m->larger ? 16 : 0), 'T', "_etext", NULL);
	for (unsigned i = 0; i < 8 && !m->no_modules; i++) {
		snprintf(name, sizeof(name), "of_module_%u", i);
		add_line(&b, m, MODULE + i * 0x100 + m->module_shift, 't', name, "[ext4]");
	}
	CHECK(fixture_write("map", b.data ? b.data : "", b.size));
	buf_done(&b);
	if (read)
		CHECK_EQ(kallsyms_read(read, fixture_path("map"), NULL), 0);
}

/* The functions that the recorded kernel has, at its places. */
static struct kernel_anchors recorded_anchors(void)
{
	struct kernel_anchors a = {0};
	struct kallsyms k;

	write_map(&(struct map){0}, &k);
	kernel_anchors_choose(&a, &k);
	kallsyms_done(&k);
	return a;
}

static const struct image recorded_kernel = {.kind = IMAGE_KERNEL,
                                             .base = TEXT,
                                             .base_is = KERNEL_BASE_TEXT,
                                             .end = TEXT + 0x1000 + FUNCTIONS * FUNCTION_BYTES};

/* NULL: it is accepted. Otherwise the refusal has this part. */
static void check_map(const struct map *m, const struct image *kernel,
                      const struct symbol_options *o, const char *refusal, bool checked)
{
	struct symbol_options options = *o;
	uint64_t there = kernel->base + 0x1000 + 50 * FUNCTION_BYTES;
	struct error err = {0};
	struct subject s;
	bool was_checked;
	int r;

	options.kallsyms = fixture_path("map");
	write_map(m, NULL);
	subject_start(&s, kernel, "[kernel.kallsyms]", &options);
	r = symbolizer_check_kernel(s.symbols, &was_checked, &err);
	CHECK_EQ(r < 0, refusal != NULL);
	if (refusal) {
		CHECK(strstr(err.text, refusal) && strstr(err.text, fixture_path("map")));
		if (!strstr(err.text, refusal))
			printf("# %s\n", err.text);
		CHECK(!at(&s, there)->named);
	} else {
		CHECK_STR(err.text, "");
		CHECK_EQ(was_checked, checked);
		CHECK_STR(at(&s, there)->name, "function_50");
		CHECK_EQ(symbolizer_trouble(s.symbols, s.image) != NULL, !checked);
	}
	subject_end(&s);
}

static void maps_are_compared_with_recorded_functions(void)
{
	static const struct {
		struct map map;
		const char *refusal;
	} cases[] = {
	        {{0}, NULL},
	        {{.base = 8 * STEP}, NULL},
	        {{.base = 0x40}, "begins at 0xffffffff81000040"},
	        {{.shift = 0x40},
	         "it has function_1 at 0xffffffff81001080, and the recorded kernel "
	         "has it at 0xffffffff81001040"},
	        {{.base = STEP, .shift = 0x40}, "moved as a whole"},
	        {{.larger = 150}, "it has function_1"},
	        {{.last = 100}, "is cut short"},
	        {{.first = 100}, "lacks"},
	        {{.prefix = "x_"}, "lacks"},
	        {{.zero = true}, "are hidden"},
	        {{.no_labels = true}, "neither _text nor _stext"},
	        {{.no_modules = true}, NULL},
	        {{.module_shift = 0x40}, "of [ext4]"},
	        {{.module_shift = 0x10000}, NULL}, /* no other function is at their places */
	};
	struct kernel_anchors anchors = recorded_anchors();
	struct symbol_options options = {.kernel_anchors = &anchors};

	CHECK(anchors.items.count >= 60);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		check_map(&cases[i].map, &recorded_kernel, &options, cases[i].refusal, true);
	kernel_anchors_done(&anchors);
}

/* Recorders without such functions write the end of the kernel's mapping. */
static void maps_are_compared_with_the_end_of_the_kernel(void)
{
	struct image old = recorded_kernel, unknown = recorded_kernel;
	struct symbol_options options = {0};

	check_map(&(struct map){0}, &recorded_kernel, &options, NULL, true);
	check_map(&(struct map){.base = STEP}, &recorded_kernel, &options, NULL, true);
	check_map(&(struct map){.larger = 150}, &recorded_kernel, &options,
	          "_etext at 0xffffffff81004210, and the recorded kernel ends at "
	          "0xffffffff81004200",
	          false);
	/* Old recorders write the start of the modules, and a store has no end. */
	old.end = MODULE;
	check_map(&(struct map){.larger = 150}, &old, &options, NULL, false);
	unknown.end = 0;
	check_map(&(struct map){.larger = 150}, &unknown, &options, NULL, false);
}

/* Where _stext is not _text, the recorded symbol decides by how much the kernel moved. */
static void the_distance_is_that_of_the_recorded_symbol(void)
{
	static const char text[] = "ffffffff81200000 T _text\n"
	                           "ffffffff81210000 T _stext\n"
	                           "ffffffff81210100 t helper\n";
	struct symbol_options options = {.kallsyms = fixture_path("map")};
	struct image kernel = {.kind = IMAGE_KERNEL, .base = TEXT + 0x10000};
	struct error err = {0};
	struct subject s;
	bool checked;

	CHECK(fixture_write("map", text, sizeof(text) - 1));
	kernel.base_is = KERNEL_BASE_STEXT;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	CHECK_STR(at(&s, TEXT + 0x10100)->name, "helper");
	subject_end(&s);
	kernel.base_is = KERNEL_BASE_UNKNOWN;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	CHECK(symbolizer_check_kernel(s.symbols, &checked, &err) < 0);
	CHECK(strstr(err.text, "unknown by how much it moved") != NULL);
	subject_end(&s);
}

/* A store has the names of the places that were sampled. */
static void maps_are_compared_with_stored_names(void)
{
	static const struct map maps[] = {{0}, {.shift = 0x40}, {.last = 100}, {.prefix = "x_"}};
	struct symbol_options options = {.kallsyms = fixture_path("map")};
	struct image kernel = recorded_kernel;
	struct error err = {0};
	struct subject s;
	char name[64];
	bool checked;

	kernel.end = 0;
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
		struct stored_names *kept = stored_names_new();

		for (unsigned f = 0; f < FUNCTIONS; f += 10) {
			snprintf(name, sizeof(name), "function_%u", f);
			stored_names_add(kept, TEXT + 0x1000 + f * FUNCTION_BYTES + f % 50, name);
		}
		stored_names_finish(kept);
		write_map(&maps[i], NULL);
		subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
		s.images.images.items[s.image].kept = kept;
		CHECK_EQ(symbolizer_check_kernel(s.symbols, &checked, &err) < 0, i > 0);
		CHECK(checked || i);
		if (i)
			CHECK(strstr(err.text, "where the recorded kernel has function_") != NULL);
		subject_end(&s);
	}
}

/* A vmlinux without a build-id, and one of another build. */
static void a_vmlinux_is_compared(void)
{
	struct symbol_options options = {.vmlinux = fixture_path("vmlinux")};
	struct kernel_anchors anchors = {0};
	struct image kernel = recorded_kernel;
	struct error err = {0};
	struct buf b = {0};
	struct subject s;
	char name[16];
	bool checked;

	kernel.end = 0;
	buf_puts(&b, ".text\n.globl _text\n_text:\n");
	for (unsigned i = 0; i < 20; i++) {
		buf_addf(&b,
		         ".globl f%u\n.type f%u, @function\nf%u: nop\n ret\n"
		         ".size f%u, 2\n.if GROWN && %u == 9\n.skip 8\n.endif\n",
		         i, i, i, i, i);
		snprintf(name, sizeof(name), "f%u", i);
		kernel_anchors_add(&anchors, TEXT + 2 * i, name, NULL);
	}
	options.kernel_anchors = &anchors;
	CHECK(fixture_write("vmlinux.s", b.data, b.size));
	buf_done(&b);
	for (int grown = 0; grown < 2; grown++) {
		CHECK(fixture_run(
		        "as --defsym GROWN=%d -o vmlinux.o vmlinux.s && "
		        "ld -Ttext=0xffffffff81400000 -e _text --build-id=none -o vmlinux "
		        "vmlinux.o",
		        grown));
		subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
		CHECK_EQ(symbolizer_check_kernel(s.symbols, &checked, &err) < 0, grown);
		CHECK(grown || checked);
		CHECK_STR(at(&s, TEXT + 1)->name, grown ? "[no symbol]" : "f0");
		subject_end(&s);
	}
	CHECK(strstr(err.text,
	             "it has f10 at 0xffffffff8140001c, and the recorded kernel has it at "
	             "0xffffffff81400014") != NULL);
	kernel_anchors_done(&anchors);
}

/* Two recordings: the same kernel after a boot at another address, and another kernel. */
static void each_kernel_has_its_own_address(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("map"),
	                                 .kernel_id = {4, {1, 2, 3, 4}}};
	struct image kernel = recorded_kernel;
	struct subject s;
	uint32_t moved, other;

	write_map(&(struct map){0}, NULL);
	kernel.build_id = options.kernel_id;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	kernel = s.images.images.items[s.image];
	kernel.base += STEP;
	moved = image_table_add(&s.images, &kernel);
	kernel.build_id.bytes[0] = 9;
	other = image_table_add(&s.images, &kernel);
	CHECK_STR(at(&s, TEXT + 0x1000)->name, "function_0");
	s.image = moved;
	CHECK_STR(at(&s, TEXT + STEP + 0x1000)->name, "function_0");
	s.image = other;
	CHECK(!at(&s, TEXT + STEP + 0x1000)->named);
	subject_end(&s);
}

static void anchors_are_kept_for_a_boot_and_its_modules(void)
{
	struct kernel_places places = {.kallsyms = fixture_path("map"),
	                               .modules = fixture_path("modules"),
	                               .module_notes = "/nowhere/%s/notes",
	                               .boot_id = "11111111-2222-3333-4444-555555555555"};
	static const char loaded[] = "ext4 16384 1 - Live 0xffffffffc0000000\n";
	struct kernel_anchors first, second;
	struct cache_dir *cache = NULL;
	struct error err;

	setenv("XDG_CACHE_HOME", fixture_path("cache"), 1);
	CHECK_EQ(cache_dir_open(&cache, &err), 0);
	CHECK(fixture_write("modules", loaded, sizeof(loaded) - 1));
	write_map(&(struct map){0}, NULL);
	kernel_anchors_running(&first, cache, &places);
	/* The same boot and modules: the map is not read. */
	CHECK(fixture_write("map", "", 0));
	kernel_anchors_running(&second, cache, &places);
	CHECK_EQ(second.items.count, first.items.count);
	CHECK_EQ(second.text, TEXT);
	for (size_t i = 0; i < first.items.count && i < second.items.count; i++) {
		const struct kernel_anchor *a = &first.items.items[i], *b = &second.items.items[i];

		CHECK_EQ(a->address, b->address);
		CHECK_STR(a->name, b->name);
		CHECK(!a->module == !b->module);
	}
	kernel_anchors_done(&second);
	CHECK(fixture_write("modules", "", 0));
	kernel_anchors_running(&second, cache, &places);
	CHECK_EQ(second.items.count, 0);
	kernel_anchors_done(&first);
	kernel_anchors_done(&second);
	cache_dir_close(cache);
}

int main(void)
{
	if (!fixture_begin()) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(maps_are_compared_with_recorded_functions);
	RUN(maps_are_compared_with_the_end_of_the_kernel);
	RUN(the_distance_is_that_of_the_recorded_symbol);
	RUN(maps_are_compared_with_stored_names);
	RUN(a_vmlinux_is_compared);
	RUN(each_kernel_has_its_own_address);
	RUN(anchors_are_kept_for_a_boot_and_its_modules);
	fixture_end();
	return check_end();
}
