/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The slots of a library that is loaded here, and the lists of functions that are followed. */
#if defined(__x86_64__)

#include "runtime_libraries_fixture.h"

#include <dlfcn.h>
#include <zlib.h>

static unsigned long calls_of_deflate(void)
{
	unsigned char out[256];
	uLongf size = sizeof(out);

	forget();
	CHECK_EQ(compress(out, &size, (const unsigned char *)"aaaaaaaaaa", 10), Z_OK);
	CHECK_EQ(seen.enters, seen.exits);
	return seen.enters;
}

static void slots_of_a_library_are_redirected_once(void)
{
	struct loaded image;
	const uintptr_t *slot;
	unsigned long calls;

	CHECK(loaded_find((uintptr_t)dlsym(RTLD_DEFAULT, "deflate"), &image));
	CHECK(strstr(image.path, "libz") != NULL);
	CHECK(!loaded_is_instrumented(&image));
	CHECK_EQ(calls_of_deflate(), 0);
	slot = patch_image(&image);
	CHECK(slot && patch_is_turned(slot));
	calls = calls_of_deflate();
	/* malloc and free, at least; a second call counts nothing again */
	CHECK(calls >= 4);
	CHECK(!patch_image(&image));
	CHECK_EQ(calls_of_deflate(), calls);
	CHECK_EQ(seen.last >> 60, ASSAY_FN_LIBRARY >> 60);
}

static void symbols_are_those_of_the_linker(void)
{
	struct loaded image;
	uintptr_t address = 0;
	int type = -1;

	CHECK(loaded_find((uintptr_t)dlsym(RTLD_DEFAULT, "deflate"), &image));
	CHECK(loaded_function(&image, "deflate", &address, &type));
	CHECK_EQ(address, (uintptr_t)dlsym(RTLD_DEFAULT, "deflate"));
	CHECK_EQ(type, STT_FUNC);
	CHECK(!loaded_function(&image, "no_such_function", &address, &type));
	CHECK(!loaded_find(16, &image));
}

/* jmp *slot0; call *slot1; lea slot2; slot3 in both ways; slot4 is not used. */
static void uses_of_slots_are_distinguished(void)
{
	unsigned char *page = port_memory(4096), *code = page + 2048, marks[5] = {0};
	static const unsigned char words[][3] = {{0, 0xff, 0x25},
	                                         {0x90, 0xff, 0x15},
	                                         {0x48, 0x8d, 0x05},
	                                         {0, 0xff, 0x15},
	                                         {0x48, 0x8b, 0x05}};
	static const int slots[] = {0, 1, 2, 3, 3};
	ElfW(Phdr) segment = {.p_type = PT_LOAD,
	                      .p_flags = PF_X | PF_R,
	                      .p_vaddr = (uintptr_t)code,
	                      .p_filesz = 64};
	struct loaded image = {.segments = &segment, .segment_count = 1};

	for (int i = 0; i < 5; i++) {
		unsigned char *end = code + i * 8 + 7;
		int32_t distance = (int32_t)(page + slots[i] * 8 - end);

		memcpy(end - 7, words[i], 3);
		memcpy(end - 4, &distance, 4);
	}
	got_uses(&image, (const uintptr_t *)page, 5, marks);
	CHECK_EQ(marks[0], GOT_CALLED);
	CHECK_EQ(marks[1], GOT_CALLED);
	CHECK_EQ(marks[2], GOT_TAKEN);
	CHECK_EQ(marks[3], GOT_CALLED | GOT_TAKEN);
	CHECK_EQ(marks[4], 0);
	port_memory_free(page, 4096);
}

static void names_say_what_may_be_followed(void)
{
	CHECK_EQ(library_way("qsort"), LIBRARY_WAY_TIMED);
	CHECK_EQ(library_way("error"), LIBRARY_WAY_TIMED);
	CHECK_EQ(library_way("setjmp"), LIBRARY_WAY_COUNTED);
	CHECK_EQ(library_way("_setjmp"), LIBRARY_WAY_COUNTED);
	CHECK_EQ(library_way("exit"), LIBRARY_WAY_COUNTED);
	CHECK_EQ(library_way("_ZSt20__throw_length_errorPKc"), LIBRARY_WAY_COUNTED);
	CHECK_EQ(library_way("_ZSt4endlIcSt11char_traitsIcEERSt13basic_ostreamIT_T0_ES6_"),
	         LIBRARY_WAY_TIMED);
	CHECK_EQ(library_way("__cyg_profile_func_exit"), LIBRARY_WAY_NONE);
	CHECK_EQ(library_way("__asan_report_load4"), LIBRARY_WAY_NONE);
	CHECK_EQ(library_way(""), LIBRARY_WAY_NONE);
	CHECK(!library_is_wide("/lib/x86_64-linux-gnu/libc.so.6", "qsort"));
	CHECK(library_is_wide("/lib/x86_64-linux-gnu/libmvec.so.1", "_ZGVdN4v_sin"));
	CHECK(library_is_wide("/opt/libother.so", "f"));
}

int main(int argc, char **argv)
{
	CHECK(libraries_begin(argv));
	RUN(names_say_what_may_be_followed);
	RUN(uses_of_slots_are_distinguished);
	RUN(symbols_are_those_of_the_linker);
	RUN(slots_of_a_library_are_redirected_once);
	return check_end();
}

#else

#include <stdio.h>

int main(void)
{
	puts("1..0 # SKIP calls into libraries are followed only on x86-64");
	return 0;
}

#endif
