# SPDX-License-Identifier: GPL-2.0-or-later
"""Files for container engines, Kubernetes and a ClickHouse server: their syntax, that each field exists, and that they grant the same
rights as the units of systemd."""
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
import xml.etree.ElementTree

from clickhouse_server import PROGRAM, free_port
from harness import ASSAY, ROOT, main, run, test
from time_limit import limit

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


CLICKHOUSE = "/etc/clickhouse-server"
BASE = """<yandex><logger><level>none</level></logger><http_port>8123</http_port><tcp_port>9000</tcp_port>
<openSSL><server><certificateFile>/none</certificateFile><dhParamsFile>/none</dhParamsFile></server></openSSL>
<path>/var/lib/clickhouse/</path><tmp_path>/var/lib/clickhouse/tmp/</tmp_path>
<user_files_path>/var/lib/clickhouse/files/</user_files_path><users_config>users.xml</users_config>
<format_schema_path>/var/lib/clickhouse/formats/</format_schema_path><mark_cache_size>67108864</mark_cache_size>
<default_profile>default</default_profile><default_database>default</default_database></yandex>
"""
BASE_USERS = """<yandex><profiles><default><max_memory_usage>1000000000</max_memory_usage></default></profiles>
<users><default><password></password><networks><ip>::/0</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default/></quotas></yandex>
"""


class Deployed:
    """A server that is set up by the steps of FLEET.md; only paths, the name and ports are others."""
    def __init__(self, t):
        self.place, self.port, self.http, self.tcp = t.path("clickhouse"), free_port(), free_port(), free_port()
        self.place.mkdir()
        (self.place / "config.xml").write_text(
            BASE.replace("/var/lib/clickhouse", f"{self.place}/data").replace("9000", str(self.tcp)).replace("8123", str(self.http)))
        (self.place / "users.xml").write_text(BASE_USERS)
        steps = (ROOT / "docs/FLEET.md").read_text().split("<!-- the steps of tests/e2e/test_deploy.py -->")[1]
        steps = re.sub(r"^ *(chown|systemctl) .*$", "", steps.split("<!-- end -->")[0], flags=re.M)
        for there, here in ((CLICKHOUSE, self.place), ("/usr/share/doc/assay/examples", ROOT / "deploy"),
                            ("db.example.com", "localhost")):
            t.has(steps, there)
            steps = steps.replace(there, str(here))
        t.run("bash", "-e", t.write("steps", steps))
        file = self.place / "config.d/assay.xml"
        file.write_text(file.read_text().replace(CLICKHOUSE, str(self.place)).replace("8443", str(self.port)))
        self.context = ssl.create_default_context(cafile=self.place / "server.crt")
        # It asks on its output whether it may trust its own certificate.
        t.start(PROGRAM, f"--config-file={self.place}/config.xml", stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            try:
                self.ask("default", "SELECT 1", "")
                return
            except OSError:
                time.sleep(0.05)
        raise RuntimeError("the ClickHouse server does not answer")

    def password(self, user):
        return (self.place / f"{user}.password").read_text().strip()

    def ask(self, user, sql, password=None):
        """The answer, or the server's error."""
        password = self.password(user.removeprefix("assay_")) if password is None else password
        request = urllib.request.Request(f"https://localhost:{self.port}/", sql.encode(), {
            "X-ClickHouse-User": user, "X-ClickHouse-Key": password})
        try:
            with urllib.request.urlopen(request, timeout=limit(60), context=self.context) as answer:
                return answer.read().decode().strip()
        except urllib.error.HTTPError as error:
            return error.read().decode()

    def environment(self, user):
        return {**os.environ, "ASSAY_CLICKHOUSE_PASSWORD_FILE": f"{self.place}/{user}.password",
                "ASSAY_CLICKHOUSE_CA_FILE": f"{self.place}/server.crt"}

    def store(self, user, database="assay"):
        return f"clickhouse+https://assay_{user}@localhost:{self.port}/{database}"


def check_central_configuration(t, server, assay, configuration):
    """Only the administrator writes it; the agents' user for it reads nothing else."""
    def name(user):
        return server.store(user, "assay_config")

    for user in ("writer", "reader", "config"):
        assay(user, "store", "config", name(user), "create", status=1)
    assay("admin", "store", "config", name("admin"), "create")
    assay("admin", "store", "config", name("admin"), "set", "*", "freq=61")
    for user in ("writer", "reader", "config"):
        assay(user, "store", "config", name(user), "set", "*", "freq=62", status=1)
    with open(configuration, "a", encoding="utf-8") as f:
        f.write(f"central = {name('config')}\ncentral-token-file = {server.place}/config.password\n")
    t.has(t.assay("agent", "--check", "--config", configuration).err, "the server sets freq = 61\n")
    row = "INTO assay_config.agent_options (machines, option, value) VALUES ('*', 'freq', '63')"
    values = "SELECT now(), '*', 'freq', '63', 0, ''"
    address = f"https://localhost:{server.port}/?query=INSERT%20"
    for user, statement in (
            *((user, f"INSERT {row}") for user in ("writer", "reader", "config")),
            *((user, "SELECT * FROM assay_config.agent_options") for user in ("writer", "reader")),
            ("writer", f"INSERT INTO FUNCTION remote('127.0.0.1:{server.tcp}', assay_config.agent_options, 'default') {values}"),
            ("writer", f"INSERT INTO FUNCTION url('{address}INTO%20assay_config.agent_options%20FORMAT%20TSV', 'TSV', 'a String') VALUES ('x')"),
            ("config", "SELECT * FROM assay.names"), ("config", "SET readonly = 0"),
            ("config", "DROP TABLE assay_config.agent_options"), ("config", "CREATE TEMPORARY TABLE x (a UInt8)"),
            ("config", "SELECT * FROM url('https://localhost/', 'TSV', 'a String')")):
        t.has(server.ask(f"assay_{user}", statement), "Code: ", f"{user}: {statement}")
    t.equal(server.ask("assay_config", "SELECT machines, option, value FROM assay_config.agent_options"), "*\tfreq\t61")


@test
def the_example_of_a_clickhouse_server_is_complete(t):
    t.need(PROGRAM, "openssl")
    users = xml.etree.ElementTree.parse(ROOT / "deploy/clickhouse/users.d/assay.xml").find("users")
    t.equal([user.tag for user in users], ["default", "assay_admin", "assay_writer", "assay_reader", "assay_config"])
    server = Deployed(t)

    def assay(user, *words, status=0):
        return t.assay(*words, env=server.environment(user), status=status)

    # Only the administrator creates the store.
    for user in ("writer", "reader"):
        assay(user, "store", "create", server.store(user), status=1)
    assay("admin", "store", "create", server.store("admin"))
    file = t.path("one.db")
    t.run(t.workload("store_recording"), recording(t), file, "0.05", "web1")
    assay("writer", "store", "copy", file, server.store("writer"))
    configuration = t.write("agent.conf", f"store = {server.store('writer')}\nca-file = {server.place}/server.crt\n"
                            f"token-file = {server.place}/writer.password\n")
    t.has(t.assay("agent", "--check", "--config", configuration).err, "the server has the store")
    found = [t.json(assay("reader", "report", "--json", "--store", name, *words).out)["functions"]
             for name, words in ((server.store("reader"), ("--host", "web1")), (file, ()))]
    t.equal(found[0], found[1], "functions of the server and of the file")
    t.true(found[0], "there are functions")
    check_central_configuration(t, server, assay, configuration)
    assay("admin", "store", "keep", server.store("admin"))
    before = server.ask("assay_admin", "SELECT count() FROM assay.names")
    t.true(int(before) > 0, "rows on the server")
    assay("reader", "store", "copy", file, server.store("reader"), status=1)
    for user, statement in (("reader", "INSERT INTO assay.names VALUES (1, 'x')"), ("reader", "DROP TABLE assay.names"),
                            ("reader", "CREATE TABLE assay.x (a UInt8) ENGINE = Log"), ("writer", "DROP TABLE assay.names"),
                            ("writer", "DROP DATABASE assay"), ("writer", "ALTER TABLE assay.samples_2 DROP COLUMN cpu"),
                            ("writer", "CREATE TABLE assay.x (a UInt8) ENGINE = Log"),
                            ("writer", "RENAME TABLE assay.names TO assay.y"),
                            ("reader", "SET allow_ddl = 1"), ("writer", "SELECT * FROM default.other"),
                            ("admin", "CREATE TABLE default.x (a UInt8) ENGINE = Log")):
        t.has(server.ask(f"assay_{user}", statement), "Code: ", f"{user}: {statement}")
    for statement in ("SELECT count() FROM assay.names", "DROP DATABASE assay", "SELECT count() FROM assay_config.agent_options",
                      "INSERT INTO assay_config.agent_options (option) VALUES ('freq')", "CREATE DATABASE x"):
        t.has(server.ask("default", statement, ""), "Code: ", f"default: {statement}")
    t.equal(server.ask("assay_admin", "SELECT count() FROM assay.names"), before, "rows after all attempts")
    t.has(server.ask("assay_reader", "SELECT 1", "wrong"), "Code: ", "a wrong password")
    t.has(server.ask("assay_writer", "SELECT 1", ""), "Code: ", "no password")
    # From another address than those of the server itself; no HTTP.
    with socket.socket() as s:
        s.bind(("127.0.0.2", 0))
        s.connect(("127.0.0.1", server.port))
        with server.context.wrap_socket(s, server_hostname="localhost") as c:
            c.sendall(b"GET /?query=SELECT%201 HTTP/1.0\r\nX-ClickHouse-User: default\r\n\r\n")
            t.lacks(c.makefile("rb").readline().decode(), " 200 ", "the user default from another address")
    for address in ("127.0.0.1", "127.0.0.2"):
        with socket.socket() as s:
            t.true(s.connect_ex((address, server.http)), "the port without TLS is closed")


def recording(t):
    path = t.path("one.data")
    t.assay("record", "-F", "499", "-o", path, "--", t.workload("loop"), "20")
    return path


main()
