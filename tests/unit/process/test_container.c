/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths as the documentation and the tests of container tools have them. */
#include "check.h"
#include "process/container.h"

#include <string.h>

#define ID "da1bdd84c8b25938081afe48da7075e2a211d2b1a62e01c894b4e5f3ffab670a"
#define OUTER "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define UID "099b88fb-2a99-45ad-af94-d91eb81a87e9"
#define UID_ "099b88fb_2a99_45ad_af94_d91eb81a87e9"
#define STATIC "7fd7b5dd5d4e6bd4bbd5f1dc7e6ff5e8"
#define TASK "447438d8e3b0464d8c1e0a0b0ce0ecd7"

static const struct {
	const char *cgroup, *id, *runtime, *pod, *qos;
} cases[] = {
        {NULL, "", "", "", ""},
        {"/", "", "", "", ""},
        {"/system.slice/nginx.service", "", "", "", ""},
        {"/user.slice/user-1000.slice/session-3.scope", "", "", "", ""},
        /* Docker: cgroupfs, systemd, in another container */
        {"/docker/" ID, ID, "docker", "", ""},
        {"/system.slice/docker-" ID ".scope", ID, "docker", "", ""},
        {"/system.slice/docker-" ID ".scope/init.scope", ID, "docker", "", ""},
        {"/docker/" OUTER "/docker/" ID "/a", ID, "docker", "", ""},
        {"/../" ID, ID, "", "", ""},
        /* containerd */
        {"/default/" ID, ID, "containerd", "", ""},
        {"/system.slice/nerdctl-" ID ".scope", ID, "containerd", "", ""},
        {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
         ".slice/cri-containerd-" ID ".scope",
         ID, "containerd", UID, "burstable"},
        {"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
         ".slice/cri-containerd-" ID ".scope",
         ID, "containerd", UID, "besteffort"},
        {"/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", ID, "containerd",
         UID, "guaranteed"},
        {"/system.slice/containerd.service/kubepods-besteffort-pod" UID_
         ".slice:cri-containerd:" ID,
         ID, "containerd", UID, "besteffort"},
        {"/kubepods/burstable/pod" UID "/" ID, ID, "", UID, "burstable"},
        {"/kubepods/pod" UID "/" ID, ID, "", UID, "guaranteed"},
        {"/kubepods/burstable/pod" STATIC "/" ID, ID, "", STATIC, "burstable"},
        {"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC ".slice", "", "",
         STATIC, "burstable"},
        /* A cluster in containers of Docker: the inner ones decide. */
        {"/docker/" OUTER "/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-besteffort.slice/"
         "kubelet-kubepods-besteffort-pod" UID_ ".slice/cri-containerd-" ID ".scope",
         ID, "containerd", UID, "besteffort"},
        {"/docker/" OUTER "/kubelet/kubepods/besteffort/pod" UID "/" ID, ID, "", UID, "besteffort"},
        /* CRI-O, Podman, and what watches over their containers */
        {"/kubepods/besteffort/pod" UID "/crio-" ID, ID, "cri-o", UID, "besteffort"},
        {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-" ID ".scope", ID, "cri-o", UID,
         "guaranteed"},
        {"/kubepods.slice/kubepods-pod" UID_ ".slice/crio-conmon-" ID ".scope", "", "", UID,
         "guaranteed"},
        {"/machine.slice/libpod-" ID ".scope", ID, "podman", "", ""},
        {"/machine.slice/libpod-" ID ".scope/container", ID, "podman", "", ""},
        {"/machine.slice/libpod-conmon-" ID ".scope", "", "", "", ""},
        {"/machine.slice/machine-libpod_pod_" OUTER ".slice/libpod-" ID ".scope", ID, "podman", "",
         ""},
        {"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope", ID,
         "podman", "", ""},
        {"/libpod_parent/libpod-" ID, ID, "podman", "", ""},
        /* LXC, systemd-nspawn; a virtual machine */
        {"/lxc/web", "web", "lxc", "", ""},
        {"/lxc.payload/web/system.slice", "web", "lxc", "", ""},
        {"/lxc.payload.web/system.slice/cron.service", "web", "lxc", "", ""},
        {"/lxc.monitor.web", "", "", "", ""},
        {"/machine.slice/machine-my\\x2ddeb.scope/init.scope", "my-deb", "systemd-nspawn", "", ""},
        {"/machine.slice/systemd-nspawn@deb.service/payload/system.slice", "deb", "systemd-nspawn",
         "", ""},
        {"/machine.slice/machine-qemu\\x2d1\\x2dvm.scope/libvirt/emulator", "", "", "", ""},
        {"/ecs/" TASK "/" TASK "-3356213583", TASK "-3356213583", "ecs", "", ""},
        {"/ecs/" TASK "/" ID, ID, "", "", ""},
        /* Names that are near */
        {"/docker/" ID "0", "", "", "", ""},
        {"/a/x" ID, "", "", "", ""},
        {"/kubepods/pod" UID "0/x", "", "", "", ""},
        {"/pod" UID, "", "", "", ""},
        {"/kubepods/podium", "", "", "", ""},
        {"//machine-.scope//lxc.payload.", "", "", "", ""},
};

static void paths_have_a_container_and_a_pod(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct container c;

		CHECK(container_of_cgroup(&c, cases[i].cgroup) == (*cases[i].id || *cases[i].pod));
		CHECK_STR(c.id, cases[i].id);
		CHECK_STR(c.runtime, cases[i].runtime);
		CHECK_STR(c.pod_uid, cases[i].pod);
		CHECK_STR(c.qos, cases[i].qos);
	}
}

static void names_are_cut(void)
{
	char path[1024] = "/lxc/";
	struct container c;

	memset(path + 5, 'a', 600);
	CHECK(container_of_cgroup(&c, path));
	CHECK_EQ(strlen(c.id), CONTAINER_ID_MAX);
	CHECK(!container_id_is_long(c.id) && container_id_is_long(ID));
}

int main(void)
{
	RUN(paths_have_a_container_and_a_pod);
	RUN(names_are_cut);
	return check_end();
}
