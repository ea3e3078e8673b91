/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "format/other_format.h"

#include "base/memory/buf.h"
#include "base/memory/xalloc.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 4

/* How a format is recognised; all that is given must apply. */
struct format_mark {
	const char *magic; /* the first bytes, after blanks if the format is text */
	size_t magic_size;
	const char *words[WORDS_MAX]; /* texts in the first bytes */
	struct other_format format;
};

#define MAGIC(bytes) .magic = (bytes), .magic_size = sizeof(bytes) - 1

#define SHOWN_BY_FIREFOX                                                                           \
	"profiler.firefox.com shows it; assay reads the perf.data that samply and the profiler "   \
	"import, and 'assay export --to firefox' writes this format"
#define READS_FOLDED ", which assay reads"
/* A dictionary of marshal, with tuples of three as keys. */
#define PSTATS                                                                                     \
	{                                                                                          \
		"a profile of Python's cProfile",                                                  \
		        "'python3 -m pstats FILE' prints it; 'assay record -g -- python3 -X perf " \
		        "PROGRAM' samples Python's functions"                                      \
	}
#define UNPACK "unpack it, and give the file that is in it"

/* More special formats are first. */
static const struct format_mark marks[] = {
        /* ---- bytes ---- */
        {MAGIC("FLR\0"),
         .format = {"a recording of Java Flight Recorder (JFR)",
                    "'jfrconv -o collapsed FILE out.folded' of async-profiler writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC("JAVA PROFILE 1."),
         .format = {"a heap dump of Java (hprof)", "it contains objects and no profile"}},
        {MAGIC("gmon"),
         .format = {"a profile of gprof (gmon.out)",
                    "'gprof PROGRAM FILE' prints it; 'assay record' and 'assay calls' measure "
                    "such a program"}},
        {MAGIC("\x17\x08\x44tracing"),
         .format = {"a trace of trace-cmd (trace.dat)",
                    "'trace-cmd report FILE' prints it; 'assay record' samples, and 'assay "
                    "waits' traces switches"}},
        {MAGIC("SIMPLEPERF"),
         .format = {"a report of simpleperf",
                    "give the perf.data from which it was made, or make folded stacks of that "
                    "with simpleperf's stackcollapse.py"}},
        {MAGIC("memray\0"),
         .format = {"a recording of memray", "'memray flamegraph FILE' shows it"}},
        {MAGIC("MOJ"),
         .format = {"a profile of Austin (MOJO)",
                    "'mojo2austin FILE out.folded' writes folded stacks" READS_FOLDED}},
        {MAGIC("Nettrace"), .format = {"a trace of .NET (nettrace)",
                                       "'dotnet-trace convert --format Chromium FILE' writes trace "
                                       "events" READS_FOLDED}},
        {MAGIC("go 1."), .words = {" trace"},
         .format = {"an execution trace of Go",
                    "'go tool trace -pprof=sync FILE > out.pb.gz' writes a pprof "
                    "profile" READS_FOLDED " (or -pprof=net, syscall, sched)"}},
        {MAGIC("\x04\x08{"),
         .format = {"a profile of Ruby's stackprof",
                    "'stackprof --stackcollapse FILE > out.folded' writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC("{(\x03\0\0\0"), .format = PSTATS}, /* of Python 2 */
        {MAGIC("{)\x03"), .format = PSTATS},
        {MAGIC("{\xa9\x03"), .format = PSTATS},
        {MAGIC("\xfb)\x03"), .format = PSTATS},
        {MAGIC("\xfb\xa9\x03"), .format = PSTATS},
        {MAGIC("\x5e\x97\xca\xfd"),
         .format = {"a recording of sysprof", "'sysprof FILE' shows it"}},
        {MAGIC("\x81rforpl\xff"),
         .format = {"counters of LLVM's coverage (profraw)", "llvm-profdata reads it"}},
        {MAGIC("\x57\x1d\xd1\x75"),
         .format = {"the metadata of an LTTng trace", "'babeltrace2' prints such a trace"}},
        {MAGIC("\x7f"
               "ELF"),
         .format = {"a program or library",
                    "'assay record -- FILE' samples it, and the recording has a name of its "
                    "own"}},
        {MAGIC("\x1f\x8b\x08"), .format = {"a file compressed by gzip", UNPACK}},
        {MAGIC("\x28\xb5\x2f\xfd"), .format = {"a file compressed by zstd", UNPACK}},
        {MAGIC("\xfd"
               "7zXZ"),
         .format = {"a file compressed by xz", UNPACK}},
        {MAGIC("BZh"), .format = {"a file compressed by bzip2", UNPACK}},
        {MAGIC("PK\x03\x04"), .format = {"a zip archive", UNPACK}},
        {MAGIC("\xff\xfe"),
         .format = {"text in UTF-16", "'iconv -f UTF-16 -t UTF-8 FILE > NEW' converts it"}},
        {MAGIC("\xfe\xff"),
         .format = {"text in UTF-16", "'iconv -f UTF-16 -t UTF-8 FILE > NEW' converts it"}},
        /* ---- JSON ---- */
        {MAGIC("{"), .words = {"speedscope.app/file-format-schema"},
         .format = {"a profile of speedscope",
                    "the tool that wrote it usually writes folded stacks or pprof, which assay "
                    "reads: 'py-spy record --format raw', 'rbspy record --format collapsed', "
                    "'assay export --to folded'"}},
        {MAGIC("{"), .words = {"\"dhatFileVersion\""},
         .format = {"a heap profile of valgrind's dhat",
                    "dh_view.html of valgrind shows it; 'valgrind --xtree-memory=full' writes "
                    "allocations in the format of callgrind" READS_FOLDED}},
        {MAGIC("{"), .words = {"\"resourceProfiles\""},
         .format = {"OTLP profiles as JSON",
                    "give them as protobuf, which assay reads: with 'format: proto' the file "
                    "exporter of OpenTelemetry's collector writes it"}},
        {MAGIC("{"), .words = {"\"callFrame\"", "\"nodes\""},
         .format = {"a CPU profile of V8 (.cpuprofile of Node.js and Chrome)",
                    "the developer tools of Chrome show it; 'assay record -g -- node "
                    "--perf-basic-prof PROGRAM' samples JavaScript's functions"}},
        {MAGIC("{"), .words = {"\"functionName\"", "\"timestamps\"", "\"samples\""},
         .format = {"a CPU profile of V8 (.cpuprofile of Node.js and Chrome)",
                    "the developer tools of Chrome show it"}},
        {MAGIC("{"), .words = {"\"callFrame\"", "\"selfSize\""},
         .format = {"a heap profile of V8", "the developer tools of Chrome show it"}},
        {MAGIC("{"), .words = {"\"snapshot\"", "\"node_fields\""},
         .format = {"a heap snapshot of V8", "the developer tools of Chrome show it"}},
        {MAGIC("{"), .words = {"\"preprocessedProfileVersion\""},
         .format = {"a profile of the Firefox Profiler", SHOWN_BY_FIREFOX}},
        {MAGIC("{"), .words = {"\"stackTable\"", "\"threads\""},
         .format = {"a profile of Firefox or samply", SHOWN_BY_FIREFOX}},
        {MAGIC("{"), .words = {"\"mode\"", "\"frames\"", "\"raw\""},
         .format = {"a profile of Ruby's stackprof as JSON",
                    "'stackprof --stackcollapse DUMP > out.folded' writes folded stacks of the "
                    "dump" READS_FOLDED}},
        {MAGIC("{"), .words = {"\"recording\"", "\"timelineRecords\""},
         .format = {"a recording of Safari's timeline", "Safari's web inspector shows it"}},
        {MAGIC("{"), .words = {"\"recording\"", "\"displayName\""},
         .format = {"a recording of Safari's timeline", "Safari's web inspector shows it"}},
        /* ---- text ---- */
        {MAGIC("desc:"), .words = {"\ncmd:", "\ntime_unit:"},
         .format = {"a heap profile of valgrind's massif",
                    "'ms_print FILE' prints it; 'valgrind --xtree-memory=full' writes "
                    "allocations in the format of callgrind" READS_FOLDED}},
        {MAGIC("v "), .words = {"\nX ", "\nI "},
         .format = {"a recording of heaptrack",
                    "'heaptrack_print -f FILE -F out.folded' writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC("# tracer:"), .format = {"a text of the kernel's function tracer",
                                        "'assay calls --kernel' counts calls in the kernel"}},
        {MAGIC("Analysis of sampling"),
         .format = {"a report of macOS's sample",
                    "'inferno-collapse-sample FILE > out.folded' writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC(""), .words = {"Time and Allocation Profiling Report", "COST CENTRE"},
         .format = {"a profile of Haskell's GHC",
                    "'inferno-collapse-ghcprof FILE > out.folded' writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC("<?xml"), .words = {"<trace-query-result"},
         .format = {"an export of xctrace",
                    "'inferno-collapse-xctrace FILE > out.folded' writes folded "
                    "stacks" READS_FOLDED}},
        {MAGIC("<"), .words = {"<svg"},
         .format = {"a picture (SVG)", "give the recording or the folded stacks from which it was "
                                       "made"}},
        {MAGIC("<"), .words = {"<html"},
         .format = {"a page (HTML)", "give the recording from which it was made"}},
};

static const struct other_format perf_script = {
        "the output of perf script",
        "'stackcollapse-perf.pl FILE > out.folded' writes folded stacks" READS_FOLDED
        ", and so does 'inferno-collapse-perf'; or give the perf.data from which it was made"};

static const struct other_format uftrace = {
        "a recording of uftrace",
        "'uftrace dump --flame-graph -d FILE > out.folded' writes folded stacks" READS_FOLDED};

/* A line of perf script: "NAME TID [CPU] TIME: PERIOD EVENT:", of which TIME: and EVENT: are never
 * absent. */
static bool is_script_line(const char *line, size_t size)
{
	bool time = false;

	while (size && isspace((unsigned char)line[size - 1]))
		size--;
	if (!size || isspace((unsigned char)*line) || line[size - 1] != ':')
		return false;
	for (size_t i = 2; i + 1 < size; i++)
		time |= line[i] == ':' && line[i + 1] == ' ' &&
		        isdigit((unsigned char)line[i - 1]) && memrchr(line, '.', i);
	return time;
}

/* A frame: blanks, an address and a blank. */
static bool is_script_frame(const char *line, size_t size)
{
	size_t i = 0, digits = 0;

	while (i < size && (line[i] == ' ' || line[i] == '\t'))
		i++;
	if (!i)
		return false;
	while (i < size && isxdigit((unsigned char)line[i]))
		i++, digits++;
	return digits && i < size && line[i] == ' ';
}

static bool is_perf_script(const char *at, size_t size)
{
	const char *end = at + size;
	bool sample = false;

	while (at < end) {
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((feed ? feed : end) - at);

		if (sample)
			return is_script_frame(at, length);
		if (length && *at != '#') {
			if (!is_script_line(at, length))
				return false;
			sample = true;
		}
		at = feed ? feed + 1 : end;
	}
	return false;
}

static bool is_marked(const struct format_mark *m, const char *bytes, size_t size)
{
	if (size < m->magic_size || memcmp(bytes, m->magic, m->magic_size) != 0)
		return false;
	for (unsigned i = 0; i < WORDS_MAX && m->words[i]; i++)
		if (!memmem(bytes, size, m->words[i], strlen(m->words[i])))
			return false;
	return true;
}

const struct other_format *other_format_of(const void *bytes, size_t size)
{
	const char *at = bytes;

	if (size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3)) { /* a byte order mark */
		at += 3;
		size -= 3;
	}
	while (size && strchr(" \t\r\n", *at) && *at) {
		at++;
		size--;
	}
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
		if (is_marked(&marks[i], at, size))
			return &marks[i].format;
	return is_perf_script(at, size) ? &perf_script : NULL;
}

const struct other_format *other_format_of_directory(const char *path)
{
	static const char *const files[] = {"info", "task.txt", "default.opts"};
	bool all = true;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *file = xasprintf("%s/%s", path, files[i]);

		all = all && !access(file, F_OK);
		free(file);
	}
	return all ? &uftrace : NULL;
}

int other_format_refuse(const struct other_format *f, const char *path, struct error *err)
{
	struct buf way = {0};
	const char *at = f->way, *mark;
	int ret;

	for (; (mark = strstr(at, "FILE")); at = mark + 4) {
		buf_add(&way, at, (size_t)(mark - at));
		buf_puts(&way, path);
	}
	buf_puts(&way, at);
	ret = error_set(err, EINVAL, "%s is %s, which assay does not read: %s", path, f->name,
	                buf_text(&way));
	buf_done(&way);
	return ret;
}
