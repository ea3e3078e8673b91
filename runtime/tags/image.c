/* SPDX-License-Identifier: MIT */
/*
 * image: in each executable and library whose objects hold triggers: hands the names of its
 * tags, which the compiler's plugin left in a section, to the device. Objects refer to
 * assay_tags_image; the linker takes this from libassay-tags-image.a for them.
 */
extern const char __start_assay_tags_names[] __attribute__((weak, visibility("hidden")));
extern const char __stop_assay_tags_names[] __attribute__((weak, visibility("hidden")));

extern void assay_tags_names(const char *text, const char *end);
extern const char assay_tags_image __attribute__((visibility("hidden")));

const char assay_tags_image = 1;

__attribute__((constructor(102))) static void tell_names(void)
{
	assay_tags_names(__start_assay_tags_names, __stop_assay_tags_names);
}
