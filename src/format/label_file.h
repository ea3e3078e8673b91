/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_file: a file of labels as the kubelet writes it for a volume of its downward API: lines
 * key="value", in which the value is quoted as Go quotes strings.
 *
 * Lines that begin with # are comments; a value without quotes is taken as it is, so that people
 * can write such files too. The file is not trusted. Stateless. Uses: base.
 */
#ifndef ASSAY_FORMAT_LABEL_FILE_H
#define ASSAY_FORMAT_LABEL_FILE_H

#include "base/text/labels.h"

/* Adds the labels, with `prefix` before each key. Returns the number of lines that are no labels.
 */
size_t label_file_read(struct labels *l, const char *prefix, const char *bytes, size_t size);

#endif
