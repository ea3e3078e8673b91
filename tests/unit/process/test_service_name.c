/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check.h"
#include "process/service_name.h"

#include <stdlib.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void the_innermost_service_or_container_is_the_name(void)
{
	static const struct {
		const char *cgroup, *name;
	} cases[] = {
	        {NULL, ""},
	        {"", ""},
	        {"/", ""},
	        {"/system.slice/nginx.service", "nginx"},
	        {"/system.slice/nginx.service/worker", "nginx"},
	        {"/user.slice/user-1000.slice/session-3.scope", "session-3"},
	        {"/user.slice/user@1000.service/app.slice/web.service", "web"},
	        {"/system.slice/docker-" ID ".scope", "0123456789ab"},
	        {"/docker/" ID, "0123456789ab"},
	        {"/kubepods.slice/pod1.slice/cri-containerd-" ID ".scope", "0123456789ab"},
	        {"/system.slice/containerd.service/kubepods/" ID, "0123456789ab"},
	        {"/system.slice/docker-" ID ".scope/system.slice/db.service", "db"},
	        {"/a/.service", ".service"},
	        {"/a//b/", "b"},
	        {"/a/b.scope/c", "c"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = service_name(cases[i].cgroup);

		CHECK_STR(name, cases[i].name);
		free(name);
	}
}

static void the_suffix_of_a_unit_is_not_part_of_a_name(void)
{
	CHECK_EQ(service_name_length("nginx.service"), 5);
	CHECK_EQ(service_name_length("nginx"), 5);
	CHECK_EQ(service_name_length("*.service"), 1);
	CHECK_EQ(service_name_length(".service"), 8);
	CHECK_EQ(service_name_length(""), 0);
}

int main(void)
{
	RUN(the_innermost_service_or_container_is_the_name);
	RUN(the_suffix_of_a_unit_is_not_part_of_a_name);
	return check_end();
}
