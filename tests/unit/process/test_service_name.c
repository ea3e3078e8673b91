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
	        {"/system.slice/nginx.service", "nginx.service"},
	        {"/system.slice/nginx.service/worker", "nginx.service"},
	        {"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
	        {"/user.slice/user@1000.service/app.slice/web.service", "web.service"},
	        {"/system.slice/docker-" ID ".scope", "0123456789ab"},
	        {"/docker/" ID, "0123456789ab"},
	        {"/kubepods.slice/pod1.slice/cri-containerd-" ID ".scope", "0123456789ab"},
	        {"/system.slice/containerd.service/kubepods/" ID, "0123456789ab"},
	        {"/system.slice/docker-" ID ".scope/system.slice/db.service", "db.service"},
	        {"/a/.service", ".service"},
	        {"/a//b/", "b"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *name = service_name(cases[i].cgroup);

		CHECK_STR(name, cases[i].name);
		free(name);
	}
}

int main(void)
{
	RUN(the_innermost_service_or_container_is_the_name);
	return check_end();
}
