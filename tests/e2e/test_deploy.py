# SPDX-License-Identifier: GPL-2.0-or-later
"""Files for container engines and Kubernetes: their syntax, that each field exists, and that they grant the same
rights as the units of systemd."""
import json
import os
import re
import shutil
import subprocess

from harness import ASSAY, ROOT, main, run, test

KUBERNETES = ROOT / "deploy/kubernetes/assay-agent.yaml"
CONTAINER = ROOT / "deploy/container/Containerfile"
UNITS = ROOT / "deploy"
# With Debian's python, which has the packages python3-yaml and python3-kubernetes.
PYTHON = "/usr/bin/python3"

# Prints the fields that the models of the Kubernetes client do not have.
CHECK = r"""
import re, sys, yaml
from kubernetes import client

def check(value, kind, path):
    item = re.match(r"(?:list\[|dict\(str, )(.*)[\])]$", kind)
    if item:
        values = value.values() if isinstance(value, dict) else value
        for i, one in enumerate(values):
            check(one, item[1], f"{path}[{i}]")
        return
    model = getattr(client, kind, None)
    if model is None:
        if kind == "str" and not isinstance(value, str) or kind == "int" and not isinstance(value, int) \
                or kind == "bool" and not isinstance(value, bool):
            print(f"{path}: {value!r} is no {kind}")
        return
    names = {name: attribute for attribute, name in model.attribute_map.items()}
    for key in value:
        if key in names:
            check(value[key], model.openapi_types[names[key]], f"{path}.{key}")
        else:
            print(f"{path}.{key}: {kind} has no such field")

for document in yaml.safe_load_all(open(sys.argv[1])):
    check(document, "V1" + document["kind"], document["kind"])
"""
LOAD = "import json, sys, yaml; print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))"


def has_packages():
    return subprocess.run([PYTHON, "-c", "import yaml, kubernetes"], capture_output=True).returncode == 0


def documents(t):
    if not has_packages():
        t.skip("python3-yaml and python3-kubernetes are not installed")
    found = t.json(t.run(PYTHON, "-c", LOAD, KUBERNETES).out)
    return {document["kind"]: document for document in found}


def unit_capabilities():
    """Of all units that sample without being root: they grant the same."""
    found = {tuple(line.split()) for unit in UNITS.glob("assay-*.service")
             for line in re.findall(r"^CapabilityBoundingSet=(.*)$", unit.read_text(), re.M)}
    return {name.removeprefix("CAP_") for names in found for name in names}


@test
def each_field_of_the_daemon_set_exists(t):
    documents(t)
    t.equal(t.run(PYTHON, "-c", CHECK, KUBERNETES).out, "")
    broken = KUBERNETES.read_text().replace("hostPID:", "hostPids:")
    t.has(t.run(PYTHON, "-c", CHECK, t.write("broken.yaml", broken)).out, "hostPids: V1PodSpec has no such field")


@test
def the_daemon_set_grants_what_the_units_grant(t):
    pod = documents(t)["DaemonSet"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    capabilities = container["securityContext"]["capabilities"]
    t.equal(set(capabilities["add"]), unit_capabilities())
    t.equal(capabilities["drop"], ["ALL"])
    t.equal(pod["hostPID"], True)
    t.equal(pod["securityContext"]["runAsNonRoot"], True)
    t.equal(container["securityContext"].get("privileged"), None)
    t.equal(container["securityContext"]["readOnlyRootFilesystem"], True)
    t.equal(container["resources"]["requests"]["memory"], "40Mi")
    t.lacks(json.dumps(pod), "hostPath")


@test
def what_the_daemon_set_mounts_it_also_defines(t):
    found = documents(t)
    pod = found["DaemonSet"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    t.equal(set(mounts), {v["name"] for v in pod["volumes"]})
    first, = pod["initContainers"]
    t.equal(first["image"], container["image"])
    t.equal({m["name"]: m["mountPath"] for m in first["volumeMounts"]},
            {name: mounts[name] for name in ("spool", "runtime")})
    t.equal(mounts["configuration"] + "/" + next(iter(found["ConfigMap"]["data"])), "/etc/assay/agent.conf")
    password = next(e["value"] for e in container["env"] if e["name"] == "ASSAY_CLICKHOUSE_PASSWORD_FILE")
    t.true(password.startswith(mounts["secret"] + "/"), "the password is in the secret")
    names = {found[kind]["metadata"]["namespace"] for kind in found}
    t.equal(names, {"assay"})
    labels = found["DaemonSet"]["spec"]["template"]["metadata"]["labels"]
    t.equal(found["DaemonSet"]["spec"]["selector"]["matchLabels"], labels)


@test
def the_image_and_the_daemon_set_agree(t):
    text = CONTAINER.read_text()
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.M)).splitlines()
    words = [line.split(" ", 1) for line in lines if line.strip()]
    t.equal([w[0] for w in words], ["FROM", "COPY", "RUN", "USER", "ENV", "WORKDIR", "ENTRYPOINT", "CMD"])
    arguments = {word: rest for word, rest in words}
    pod = documents(t)["DaemonSet"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    t.equal(int(arguments["USER"]), pod["securityContext"]["runAsUser"])
    t.equal(json.loads(arguments["CMD"]), container["args"])
    capabilities = re.search(r"setcap (\S+)\+ep", text)[1].split(",")
    t.equal({name.removeprefix("cap_").upper() for name in capabilities},
            set(container["securityContext"]["capabilities"]["add"]))
    environment = dict(pair.split("=") for pair in arguments["ENV"].split())
    made = {path for path in pod["initContainers"][0]["command"] if path.startswith("/") and path != "/bin/mkdir"}
    t.equal(made, {environment["ASSAY_SPOOL"], f"/run/user/{arguments['USER']}"})
    for path in made:
        t.has(arguments["RUN"], f" {path}")


@test
def an_agent_with_these_rights_runs_in_these_directories(t):
    """As the container does it: a user without rights, two capabilities of the file, volumes of a group."""
    t.need("unshare", "mount", "setpriv", "setcap")
    if os.getuid() or run("unshare", "-m", "true", status=None).status:
        t.skip("needs root and mount namespaces")
    pod = documents(t)["DaemonSet"]["spec"]["template"]["spec"]
    user, command = pod["securityContext"]["runAsUser"], pod["initContainers"][0]["command"]
    capabilities = pod["containers"][0]["securityContext"]["capabilities"]["add"]
    program, names = t.path("assay"), ",".join(f"cap_{name.lower()}" for name in capabilities)
    shutil.copy(ASSAY, program)
    t.directory.chmod(0o755)
    if run("setcap", f"{names}+ep", program, status=None).status:
        t.skip("this file system has no capabilities of files")
    paths = [path for path in command[1:] if path.startswith("/")]
    volumes = sorted({path.rsplit("/", 1)[0] for path in paths})
    script = t.write("script", "set -e\n" + "".join(
        f"mkdir -p {v}; mount -t tmpfs -o mode=2777,gid={user} volume {v}\n" for v in volumes) +
        f"as='setpriv --reuid {user} --regid {user} --clear-groups'\n"
        f"$as {' '.join(command)}\n"
        f"as=\"$as --bounding-set -all,{','.join('+' + n.lower() for n in capabilities)}\"\n"
        f"cd {paths[-1]}\n$as {program} start --name agent --store {paths[-1]}/a.db --window 1 2>&1\n"
        f"$as {program} status --name agent\n$as {program} stop --name agent 2>&1\n"
        f"$as {program} report --store {paths[-1]}/a.db\n")
    out = t.run("unshare", "-m", "bash", script).out
    t.has(out, "Session agent: running")
    t.has(out, "the whole machine")


main()
