"""Runs flows and computations in SimGrid, in a process of its own: a platform as JSON in, the ends as JSON out.

SimGrid's plain model: CM02 without correction factors, TCP window, cross traffic or weights by latency.
"""

import json
import sys

PLAIN = (
    "network/model:CM02",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "network/weight-S:0",
    "network/bandwidth-factor:1",
    "network/latency-factor:1",
)


def main() -> None:
    given = json.load(sys.stdin)
    sys.path += given["path"]
    from simgrid import Actor, Comm, Engine, LinkInRoute, NetZone, this_actor

    engine = Engine(["walltime", *(f"--cfg={setting}" for setting in PLAIN), "--log=root.thres:error"])
    zone = NetZone.create_full_zone("zone")
    hosts = []
    for number, (speed, cores) in enumerate(given["hosts"]):
        host = zone.create_host(f"host{number}", speed)
        host.core_count = cores
        hosts.append(host.seal())
    links = []
    for number, (bandwidth, latency) in enumerate(given["links"]):
        link = zone.create_link(f"link{number}", bandwidth)
        link.set_latency(latency)
        links.append(link.seal())
    for source, target, over in given["routes"]:
        route = [LinkInRoute(links[number]) for number in over]
        zone.add_route(hosts[source].netpoint, hosts[target].netpoint, None, None, route, False)
    zone.seal()
    ends = {}

    def flow(name, begin, source, target, size):
        this_actor.sleep_for(begin)
        Comm.sendto(hosts[source], hosts[target], round(size))
        ends[name] = Engine.clock

    def compute(name, begin, flops):
        this_actor.sleep_for(begin)
        this_actor.execute(flops)
        ends[name] = Engine.clock

    for number, (begin, source, target, size) in enumerate(given["flows"]):
        Actor.create(f"flow{number}", hosts[source], flow, f"flow{number}", begin, source, target, size)
    for number, (begin, host, flops) in enumerate(given["computations"]):
        Actor.create(f"computation{number}", hosts[host], compute, f"computation{number}", begin, flops)
    engine.run()
    sys.stdout.write("\n" + json.dumps(ends) + "\n")


if __name__ == "__main__":
    main()
