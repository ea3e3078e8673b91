/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbol: names and code of the kernel, its modules and the vdso. */
#include "image/kernel.h"
#include "symbol_fixture.h"

#include <dlfcn.h>
#include <sys/auxv.h>

static const char kallsyms_text[] = "ffffffff81000000 T _stext\n"
                                    "ffffffff81000000 T _text\n"
                                    "ffffffff81000100 t helper\n"
                                    "ffffffff81000200 T do_work\n"
                                    "ffffffffc0000000 t module_one\t[ext4]\n"
                                    "ffffffffc0000080 t module_two\t[ext4]\n";

static void kernel_functions_have_names(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms")};
	struct subject s;

	CHECK(fixture_write("kallsyms", kallsyms_text, sizeof(kallsyms_text) - 1));
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff81000000},
	              "[kernel.kallsyms]", &options);
	CHECK_STR(at(&s, 0xffffffff81000150)->name, "helper");
	CHECK_STR(at(&s, 0xffffffff81000200)->name, "do_work");
	CHECK(at(&s, 0xffffffff81000150) == at(&s, 0xffffffff81000151));
	CHECK_STR(at(&s, 0xffffffff90000000)->name, "[no symbol]");
	subject_end(&s);
	/* Recorded 16 MB higher, before a reboot: the same functions. */
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff82000000},
	              "[kernel.kallsyms]", &options);
	CHECK_STR(at(&s, 0xffffffff82000150)->name, "helper");
	CHECK_EQ(at(&s, 0xffffffff82000150)->start, 0xffffffff82000100);
	subject_end(&s);
	/* KASLR does not move a kernel by so little: it is another one. */
	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL, .base = 0xffffffff81000040},
	              "[kernel.kallsyms]", &options);
	CHECK(!at(&s, 0xffffffff81000150)->named);
	CHECK(symbolizer_trouble(s.symbols, s.image) != NULL);
	subject_end(&s);
}

static const char vmlinux_s[] = ".text\n"
                                ".globl _text\n"
                                "_text: nop\n ret\n"
                                ".globl work\n"
                                ".type work, @function\n"
                                "work: push %rax\n pop %rax\n ret\n"
                                ".size work, . - work\n"
                                ".section .note.GNU-stack,\"\",@progbits\n";

/* The kernel as a file: it was loaded 4 MB above where it was linked. */
static void a_vmlinux_gives_names_and_code(void)
{
	struct symbol_options options = {.vmlinux = fixture_path("vmlinux"),
	                                 .kernel_id = {8, {1, 2, 3, 4, 5, 6, 7, 8}}};
	struct image kernel = {.kind = IMAGE_KERNEL, .base = 0xffffffff81400000};
	uint64_t work = 0, size = 0;
	const struct symbol *symbol;
	struct symbol_code code;
	struct error err = {0};
	const char *said;
	struct subject s;

	CHECK(fixture_write("vmlinux.s", vmlinux_s, sizeof(vmlinux_s) - 1));
	CHECK(fixture_run("as -o vmlinux.o vmlinux.s && ld -Ttext=0xffffffff81000000 -e _text "
	                  "--build-id=0x0102030405060708 -o vmlinux vmlinux.o"));
	CHECK(fixture_nm("vmlinux", "work", &work, &size));
	work += 0x400000;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	symbol = at(&s, work + 1);
	CHECK_STR(symbol->name, "work");
	CHECK(symbol->sized);
	CHECK_EQ(symbol->start, work);
	CHECK_EQ(symbolizer_code(s.symbols, s.image, work, symbol->size, &code, &err), 0);
	CHECK_STR(err.text, "");
	CHECK(!err.code && code.size == 3 && !memcmp(code.bytes, "\x50\x58\xc3", 3));
	subject_end(&s);
	options.kernel_id.bytes[0] = 9;
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "not the vmlinux of the recorded kernel"));
	CHECK(!at(&s, work)->named);
	subject_end(&s);
}

static void modules_have_names(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms")};
	struct subject s;

	subject_start(&s, &(struct image){.kind = IMAGE_MODULE, .base = 0xffffffffc0000000},
	              "[ext4]", &options);
	CHECK_STR(at_offset(&s, 0x7f)->name, "module_one");
	CHECK_STR(at_offset(&s, 0x80)->name, "module_two");
	CHECK_EQ(at_offset(&s, 0x80)->start, 0xffffffffc0000080);
	subject_end(&s);
}

/* An object file in the place of the module; its code is found by name. */
static void code_of_modules_comes_from_their_file(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("kallsyms"),
	                                 .root = fixture_path("root"),
	                                 .kernel_release = "1.2.3"};
	static const uint8_t wanted[] = {0xb8, 42, 0, 0, 0, 0xc3};
	struct image image = {.kind = IMAGE_MODULE, .base = 0xffffffffc0000000};
	struct symbol_code code;
	struct error err = {0};
	struct subject s;

	CHECK(fixture_run("mkdir -p root/lib/modules/1.2.3/kernel/fs && cd "
	                  "root/lib/modules/1.2.3 && printf '%%s\\n' "
	                  "'int module_one(void) { return 1; }' "
	                  "'int module_two(void) { return 42; }' >m.c && "
	                  "gcc -O2 -fcf-protection=none -c -o kernel/fs/my-fs.ko m.c && "
	                  "echo 'kernel/fs/my-fs.ko: kernel/lib/other.ko' >modules.dep"));
	subject_start(&s, &image, "[my_fs]", &options);
	CHECK_EQ(symbolizer_code(s.symbols, s.image, image.base + 0x80, 4096, &code, &err), 0);
	CHECK_STR(err.text, "");
	CHECK_EQ(code.size, sizeof(wanted));
	CHECK(!err.code && !memcmp(code.bytes, wanted, sizeof(wanted)));
	CHECK(code.unlinked && strstr(code.source, "my-fs.ko"));
	CHECK_STR(at_offset(&s, 0x80)->name, "module_two");
	subject_end(&s);
	/* Of another build. */
	image.build_id = (struct build_id){4, {1, 2, 3, 4}};
	subject_start(&s, &image, "[my_fs]", &options);
	CHECK(symbolizer_code(s.symbols, s.image, image.base + 0x80, 16, &code, &err) < 0);
	CHECK(strstr(err.text, "build-id") != NULL);
	subject_end(&s);
}

static void another_kernel_is_refused(void)
{
	struct image kernel = {.kind = IMAGE_KERNEL};
	struct symbol_options options = {.kernel_id = {4, {1, 2, 3, 4}}};
	struct kernel_identity running;
	const char *said;
	struct subject s;

	kernel_running(&running);
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "recorded"));
	CHECK_STR(at(&s, 0xffffffff81000150)->name, "[no symbol]");
	subject_end(&s);

	options = (struct symbol_options){.kernel_release = "0.0.0-other"};
	subject_start(&s, &kernel, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "0.0.0-other") && strstr(said, running.release));
	subject_end(&s);
}

static void missing_kallsyms_is_reported(void)
{
	struct symbol_options options = {.kallsyms = fixture_path("nowhere")};
	const char *said;
	struct subject s;

	subject_start(&s, &(struct image){.kind = IMAGE_KERNEL}, "[kernel.kallsyms]", &options);
	said = symbolizer_trouble(s.symbols, s.image);
	CHECK(said && strstr(said, "nowhere") && strstr(said, "No such file"));
	CHECK(!at(&s, 0xffffffff81000150)->named);
	subject_end(&s);
}

/* libc finds its clock function in the vdso: the same address must have the same name. */
static void the_vdso_has_names(void)
{
	uintptr_t start = getauxval(AT_SYSINFO_EHDR);
	void *vdso = dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD);
	void *clock = vdso ? dlsym(vdso, "__vdso_clock_gettime") : NULL;
	struct kernel_identity running;
	struct symbol_options options = {0};
	struct subject s;
	const char *name;

	if (!start || !clock) {
		printf("# no vdso here\n");
		return;
	}
	kernel_running(&running);
	options.kernel_release = running.release;
	options.kernel_id = running.build_id;
	subject_start(&s, &(struct image){.kind = IMAGE_VDSO}, "[vdso]", &options);
	name = at_offset(&s, (uintptr_t)clock - start)->name;
	CHECK(strstr(name, "clock_gettime") != NULL);
	subject_end(&s);
	subject_start(&s, &(struct image){.kind = IMAGE_VDSO, .build_id = {4, {1}}}, "[vdso]",
	              &options);
	CHECK(!at_offset(&s, (uintptr_t)clock - start)->named);
	subject_end(&s);
}

static void ways_into_the_kernel_are_known(void)
{
	static const struct {
		const char *function;
		enum kernel_entry entry;
	} cases[] = {
	        {"entry_SYSCALL_64_after_hwframe", ENTRY_SYSCALL},
	        {"do_syscall_64", ENTRY_SYSCALL},
	        {"entry_SYSENTER_compat_after_hwframe", ENTRY_SYSCALL},
	        {"do_int80_syscall_32", ENTRY_SYSCALL},
	        {"el0_svc", ENTRY_SYSCALL},
	        {"asm_exc_page_fault", ENTRY_FAULT},
	        {"exc_page_fault", ENTRY_FAULT},
	        {"page_fault", ENTRY_FAULT},
	        {"el0_da", ENTRY_FAULT},
	        {"asm_exc_nmi", ENTRY_INTERRUPT},
	        {"asm_sysvec_apic_timer_interrupt", ENTRY_INTERRUPT},
	        {"asm_common_interrupt", ENTRY_INTERRUPT},
	        {"apic_timer_interrupt", ENTRY_INTERRUPT},
	        {"el1_interrupt", ENTRY_INTERRUPT},
	        {"handle_softirqs", ENTRY_SOFTIRQ},
	        {"__do_softirq", ENTRY_SOFTIRQ},
	        {"run_ksoftirqd", ENTRY_SOFTIRQ},
	        {"ret_from_fork_asm", ENTRY_THREAD},
	        {"kthread", ENTRY_THREAD},
	        {"cpu_startup_entry", ENTRY_IDLE},
	        {"do_idle.constprop.0", ENTRY_IDLE},
	        {"common_startup_64", ENTRY_IDLE},
	        {"__x64_sys_read", ENTRY_NONE},
	        {"vfs_read", ENTRY_NONE},
	        {"kthread_stop", ENTRY_NONE},
	        {"nmi_handle", ENTRY_NONE},
	        {"", ENTRY_NONE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CHECK_EQ(kernel_entry_of(cases[i].function), cases[i].entry);
		if (kernel_entry_of(cases[i].function) != cases[i].entry)
			printf("# %s\n", cases[i].function);
	}
}

int main(void)
{
	if (!fixture_begin()) {
		printf("Bail out! no temporary directory\n");
		return 1;
	}
	RUN(kernel_functions_have_names);
	RUN(a_vmlinux_gives_names_and_code);
	RUN(modules_have_names);
	RUN(code_of_modules_comes_from_their_file);
	RUN(another_kernel_is_refused);
	RUN(missing_kallsyms_is_reported);
	RUN(the_vdso_has_names);
	RUN(ways_into_the_kernel_are_known);
	fixture_end();
	return check_end();
}
