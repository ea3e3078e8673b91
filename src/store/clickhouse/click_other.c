/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/clickhouse/click_other.h"

#include "image/image.h"
#include "store/clickhouse/click_digest.h"

struct click_other click_other(void)
{
	uint64_t none = 0;
	struct click_other o = {.name = click_digest("name", "s", CLICK_OTHER)};

	o.image = click_digest("image", "qqbqqq", (uint64_t)IMAGE_NAME, o.name, "", (size_t)0, none,
	                       none, none);
	o.frame = click_digest("frame", "qqqq", o.image, none, none, o.name);
	o.stack = click_digest("stack", "qq", none, o.frame);
	return o;
}
