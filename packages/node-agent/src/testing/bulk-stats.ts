import type { DomainStats } from "@virtkit/domain-manager";

/** What libvirt's bulk call says of a running guest with one vCPU, one card and one disk: the part that metrics use. */
export const bulkStats: DomainStats = {
  ...{ "cpu.time": 2_500_000_000, "cpu.user": 1_000_000_000, "cpu.system": 500_000_000 },
  ...{ "balloon.current": 1024, "balloon.maximum": 1024, "balloon.rss": 900 },
  ...{ "balloon.available": 800, "balloon.unused": 700, "balloon.usable": 750 },
  ...{ "balloon.disk_caches": 50, "balloon.swap_in": 0, "balloon.swap_out": 0 },
  ...{ "balloon.major_fault": 3, "balloon.minor_fault": 4 },
  ...{ "vcpu.current": 1, "vcpu.maximum": 1, "vcpu.0.state": 1, "vcpu.0.time": 1e9 },
  ...{ "vcpu.0.wait": 1e6, "vcpu.0.delay": 1e6 },
  ...{ "net.count": 1, "net.0.name": "tap0" },
  ...{ "net.0.rx.bytes": 5, "net.0.rx.pkts": 1, "net.0.rx.errs": 0, "net.0.rx.drop": 0 },
  ...{ "net.0.tx.bytes": 6, "net.0.tx.pkts": 1, "net.0.tx.errs": 0, "net.0.tx.drop": 0 },
  ...{ "block.count": 1, "block.0.name": "vda" },
  ...{ "block.0.rd.reqs": 3, "block.0.rd.bytes": 512, "block.0.rd.times": 1e6 },
  ...{ "block.0.wr.reqs": 4, "block.0.wr.bytes": 512, "block.0.wr.times": 1e6 },
  ...{ "block.0.fl.reqs": 1, "block.0.fl.times": 1e6 },
  // Nothing has been measured.
  "dirtyrate.calc_status": 0,
};
