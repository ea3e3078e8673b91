# SPDX-License-Identifier: GPL-2.0-or-later
"""clickhouse_cluster: ClickHouse servers of a cluster on loopback, with ZooKeeper.

    cluster = Cluster(shards=2, replicas=2)     a ZooKeeper and four servers; cluster.end()
    cluster.servers[shard][replica]             clickhouse_server.Server
    installed()                                 ZooKeeper and Java are there
"""
import glob
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import clickhouse_server
from time_limit import limit

JARS = "/usr/share/java"
ZOO = "tickTime=500\ninitLimit=10\nsyncLimit=5\ndataDir={0}/zk\nclientPort={1}\n" \
      "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
MORE = """<zookeeper><node><host>127.0.0.1</host><port>{zoo}</port></node></zookeeper>
<macros><shard>{shard}</shard><replica>{replica}</replica></macros>
<distributed_ddl><path>/clickhouse/ddl</path></distributed_ddl>
<interserver_http_host>127.0.0.1</interserver_http_host>
<interserver_http_port>{inter}</interserver_http_port>
<remote_servers><fleet>{shards}</fleet></remote_servers>
</yandex>"""


def installed():
    return shutil.which("java") and glob.glob(f"{JARS}/zookeeper.jar")


class Member(clickhouse_server.Server):
    def __init__(self, tcp, more):
        self.place = clickhouse_server.new_place()
        self.port = clickhouse_server.free_port()
        self.data, self.before = f"{self.place}/data", []
        with open(f"{self.place}/config.xml", "w") as f:
            f.write(clickhouse_server.CONFIG.format(http=self.port, tcp=tcp, place=self.place,
                                                    https="", data=self.data)
                    .replace("</yandex>", more))
        with open(f"{self.place}/users.xml", "w") as f:
            f.write(clickhouse_server.USERS)
        self.start()


class Cluster:
    def __init__(self, shards=2, replicas=2):
        self.place = tempfile.mkdtemp(prefix="assay-zookeeper-")
        self.zoo = clickhouse_server.free_port()
        with open(f"{self.place}/zoo.cfg", "w") as f:
            f.write(ZOO.format(self.place, self.zoo))
        jars = ":".join(f"{JARS}/{jar}.jar" for jar in (
            "zookeeper", "zookeeper-jute", "slf4j-api", "slf4j-simple", "slf4j-nop", "netty-all",
            "netty", "snappy-java", "metrics-core", "commons-cli", "audience-annotations", "jackson-core",
            "jackson-databind", "jackson-annotations", "log4j-1.2", "netty-handler", "netty-common",
            "netty-transport", "netty-buffer"))
        self.zookeeper = subprocess.Popen(
            ["java", "-Xmx256m", "-cp", jars, "org.apache.zookeeper.server.quorum.QuorumPeerMain",
             f"{self.place}/zoo.cfg"], start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=open(f"{self.place}/log", "w"), stderr=subprocess.STDOUT)
        self.servers = []
        try:
            self.wait_for(self.zoo)
            self.start_servers(shards, replicas)
        except BaseException:
            self.end()
            raise

    def start_servers(self, shards, replicas):
        ports = [[clickhouse_server.free_port() for _ in range(replicas)] for _ in range(shards)]
        text = "".join("<shard><internal_replication>true</internal_replication>" + "".join(
            f"<replica><host>127.0.0.1</host><port>{p}</port></replica>" for p in row) + "</shard>"
            for row in ports)
        for i, row in enumerate(ports):
            self.servers.append([])
            for j, port in enumerate(row):
                self.servers[i].append(Member(port, MORE.format(
                    zoo=self.zoo, shard=f"s{i}", replica=f"r{j}", inter=clickhouse_server.free_port(),
                    shards=text)))

    def wait_for(self, port):
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            with socket.socket() as s:
                if not s.connect_ex(("127.0.0.1", port)):
                    return
            time.sleep(0.1)
        with open(f"{self.place}/log") as log:
            raise RuntimeError("ZooKeeper does not answer: " + log.read()[-2000:])

    def settle(self):
        """Waits until all replicas have all rows."""
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            left = [server.ask("SELECT count() FROM system.replication_queue")
                    for row in self.servers for server in row if server.process.poll() is None]
            if set(left) == {"0"}:
                return
            time.sleep(0.1)
        raise RuntimeError("the replicas differ")

    def end(self):
        for row in self.servers:
            for server in row:
                if server.process.poll() is None:
                    server.end()
        os.killpg(self.zookeeper.pid, signal.SIGKILL)
        self.zookeeper.wait()
        shutil.rmtree(self.place, ignore_errors=True)
