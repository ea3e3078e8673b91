/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * otlp_write: a symbolized profile as OTLP profiles (opentelemetry.proto.profiles.v1development,
 * ProfilesData, as of proto 1.11; the body of an export request has the same bytes).
 *
 * There is one Profile for each value, since a Profile has one type of values, and one dictionary
 * for all. Values keep their sign; samples of 0 are not written. docs/FORMAT.md lists the
 * attributes. The samples are in memory until the end, about 20 bytes for each. Appends to a spill,
 * which reports failures. One thread. Uses: base, format, profile.
 */
#ifndef ASSAY_EXPORT_OTLP_WRITE_H
#define ASSAY_EXPORT_OTLP_WRITE_H

#include "base/file/spill.h"
#include "profile/symbolized_profile.h"

/* The attributes host.name, service.name and service.version; NULL: not known. */
struct otlp_resource {
	const char *host, *service, *version;
	const char *labels; /* other attributes: lines "key=value"; NULL: none */
};

/*
 * `resource`: NULL for a file. With a resource each Profile has an id, made of its bytes: the same
 * data has the same id.
 */
void otlp_write(const struct symbolized_profile *n, const struct otlp_resource *resource,
                struct spill *out);

#endif
