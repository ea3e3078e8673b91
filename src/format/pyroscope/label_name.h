/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * label_name: names of labels as Prometheus and Pyroscope allow them: letters, digits and _, and no
 * digit at first. All other characters of a key become _: k8s.pod.name is k8s_pod_name. Two keys
 * may have the same name. Stateless. Any thread. Uses: nothing.
 */
#ifndef ASSAY_FORMAT_PYROSCOPE_LABEL_NAME_H
#define ASSAY_FORMAT_PYROSCOPE_LABEL_NAME_H

#include <stdbool.h>

/* Makes the key a name. */
void label_name_make(char *key);
/* Whether the key has this name. */
bool label_name_is(const char *key, const char *name);

#endif
