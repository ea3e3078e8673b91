/* SPDX-License-Identifier: MIT */
/*
 * image: linked into each executable and library whose objects contain triggers. It registers the
 * tag names, which the compiler plugin left in a section, with the device. The objects refer to
 * assay_tags_image, so the linker takes this file from libassay-tags-image.a.
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
