# SPDX-License-Identifier: GPL-2.0-or-later
"""A store on a cluster of two shards with two replicas each: the same answers as of one server,
with all replicas and with one killed (with ASSAY_LONG=1, for a minute)."""

import clickhouse_cluster
import clickhouse_server
import old_windows as keep
from harness import long_test, main, test


@long_test
def a_cluster_gives_the_same_answers_with_a_replica_killed(t):
    if not clickhouse_cluster.installed():
        t.skip("ZooKeeper is not installed (Debian: zookeeper)")
    one = clickhouse_server.server(t).store("alone")
    file = keep.stored(t, t.path("cluster.db"), "web1", "web2", "db2")
    t.assay("store", "copy", file, one)
    cluster = clickhouse_cluster.Cluster()
    try:
        answers(t, cluster, file, one)
    finally:
        cluster.end()


def answers(t, cluster, file, one):
    first = cluster.servers[0][0].store("fleet")
    t.assay("store", "create", "--cluster", "fleet", first)
    t.assay("store", "copy", file, first)
    cluster.settle()
    other = cluster.servers[1][1].store("fleet")
    hosts = ("web1", "web2", "*")
    for host in hosts:
        keep.same(t, keep.report(t, other, host), keep.report(t, one, host), f"of {host}")
    shards = [int(row[0].ask("SELECT count() FROM samples_2_local", "fleet"))
              for row in cluster.servers]
    t.true(all(shards), f"rows of each shard: {shards}")
    cluster.settle()
    killed = cluster.servers[1][0]
    killed.stop()
    for host in hosts:
        keep.same(t, keep.report(t, first, host), keep.report(t, one, host), f"of {host}, killed")
    t.assay("store", "keep", "--fine", "1s", one)
    t.assay("store", "keep", "--fine", "1s", first)
    cluster.settle()
    for host in hosts:
        keep.same(t, keep.report(t, first, host), keep.report(t, one, host), f"of {host}, merged")
    killed.start()
    cluster.settle()
    for host in hosts:
        keep.same(t, keep.report(t, killed.store("fleet"), host), keep.report(t, one, host),
                  f"of {host}, back")


@test
def tables_of_a_cluster(t):
    """The first statement, for a cluster that the server does not have, and a wrong name."""
    asked = []
    server = clickhouse_server.Between(clickhouse_server.server(t).port,
                                       lambda path, body: asked.append(body.decode(errors="replace")))
    name = f"clickhouse://127.0.0.1:{server.port}/clustered"
    t.true(t.assay("store", "create", "--cluster", "fleet", name, status=1).err,
           "the server has no such cluster")
    t.has(asked[0], "CREATE DATABASE IF NOT EXISTS clustered ON CLUSTER fleet")
    t.has(t.assay("store", "create", "--cluster", "a b", name, status=1).err,
          "letters, digits")


main()
