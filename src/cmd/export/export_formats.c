/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/export/export_formats.h"

#include "cmd/export/export.h"
#include "cmd/load/load.h"
#include "export/callgrind.h"
#include "export/times/chrome_samples.h"
#include "export/times/firefox.h"
#include "export/folded.h"
#include "export/otlp_write.h"
#include "export/paths_csv.h"
#include "export/paths_json.h"
#include "export/times/perf_script.h"
#include "export/pprof_write.h"
#include "export/speedscope.h"

#include <string.h>

#define SAMPLES LOAD_BIT(LOAD_SAMPLES)
#define CALLS LOAD_BIT(LOAD_CALLS)
#define TAGS LOAD_BIT(LOAD_TAGS)
#define ALL (SAMPLES | CALLS | TAGS | LOAD_BIT(LOAD_PPROF))

static int to_pprof(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                    struct named_below *below, struct error *err)
{
	return pprof_write(n, out, err);
}

static int to_callgrind(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                        struct named_below *below, struct error *err)
{
	*below = callgrind_write(n, out);
	return 0;
}

static int to_folded(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                     struct named_below *below, struct error *err)
{
	*below = folded_write(n, columns, out);
	return 0;
}

static int to_speedscope(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                         struct named_below *below, struct error *err)
{
	*below = speedscope_write(n, out);
	return 0;
}

static int to_csv(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                  struct named_below *below, struct error *err)
{
	paths_csv_write(n, out);
	return 0;
}

static int to_json(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                   struct named_below *below, struct error *err)
{
	paths_json_write(n, out);
	return 0;
}

static int to_otlp(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                   struct named_below *below, struct error *err)
{
	otlp_write(n, NULL, out);
	return 0;
}

static int to_firefox(const struct symbolized_profile *n, unsigned columns, struct spill *out,
                      struct named_below *below, struct error *err)
{
	firefox_write(n, NULL, out);
	return 0;
}

static void to_firefox_timed(struct timed_samples *t, struct spill *out)
{
	firefox_write(t->n, t, out);
}

static const struct export_format formats[] = {
        {.name = "pprof",
         .file = EXPORT_PPROF_DEFAULT,
         .binary = true,
         .kinds = ALL,
         .write = to_pprof},
        {.name = "callgrind",
         .kind = "callgrind's format",
         .whole_depth = true,
         .kinds = ALL,
         .write = to_callgrind},
        {.name = "folded",
         .kind = "the folded form",
         .one_value = true,
         .kinds = ALL,
         .write = to_folded},
        {.name = "speedscope", .kind = "speedscope's format", .kinds = ALL, .write = to_speedscope},
        {.name = "firefox",
         .whole_depth = true,
         .kinds = ALL,
         .write = to_firefox,
         .write_timed = to_firefox_timed,
         .estimate = firefox_estimate},
        {.name = "perf-script",
         .kinds = SAMPLES,
         .write_timed = perf_script_write,
         .estimate = perf_script_estimate},
        {.name = "chrome",
         .kinds = SAMPLES | TAGS,
         .write_timed = chrome_samples_write,
         .estimate = chrome_samples_estimate},
        {.name = "otlp", .binary = true, .kinds = ALL, .write = to_otlp},
        {.name = "csv", .kinds = ALL, .write = to_csv},
        {.name = "json", .whole_depth = true, .kinds = ALL, .write = to_json},
        {.name = "ctf", .kinds = TAGS},
        {.name = "sqlite", .kinds = ALL},
};

const struct export_format *export_format_find(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

void export_format_words(struct buf *out, unsigned kinds)
{
	const char *words[sizeof(formats) / sizeof(*formats)];
	size_t count = 0;

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (formats[i].kinds & kinds)
			words[count++] = formats[i].name;
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "%s%s", !i ? "" : i + 1 < count ? ", " : " and ", words[i]);
}
