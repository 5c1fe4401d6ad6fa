import type { Interface } from "@virtkit/api/schema";
import { describe, expect, test } from "vitest";
import { domainWith, errorPath } from "../testing/conversion.ts";

function passt(card: Partial<Interface> = {}, annotations = {}, podInterfaceName = "eth0"): object {
  return {
    annotations,
    devices: { interfaces: [{ name: "n", passtBinding: {}, ...card }] },
    spec: { networks: [{ name: "n", pod: {} }] },
    status: { interfaces: [{ name: "n", podInterfaceName }] },
  };
}

describe("passt", () => {
  test("forwards all ports to the guest by default", () => {
    const [card] = domainWith(passt()).devices.interfaces;
    expect(card).toMatchObject({
      type: "vhostuser",
      source: { dev: "eth0" },
      backend: { type: "passt", logFile: "/var/run/kubevirt/passt.log" },
      portForward: [{ proto: "tcp" }, { proto: "udp" }],
    });
  });

  test("treats a missing port as 0, and a missing name as empty", () => {
    const ports = [{ name: "web" }] as unknown as Interface["ports"] & object;
    const name = undefined as unknown as string;
    const changes = {
      ...passt({ name, ports }),
      spec: { networks: [{ name, pod: {} }] },
      status: { interfaces: [{ podInterfaceName: "eth0" }] },
    };
    expect(domainWith(changes).devices.interfaces[0]).toMatchObject({
      alias: { name: "ua-" },
      portForward: [{ proto: "tcp", range: [{ start: 0 }] }],
    });
  });

  test("forwards named ports by protocol, TCP by default, and skips invalid ones", () => {
    const ports = [
      { port: 80 },
      { port: 53, protocol: "UDP" },
      { port: 443, protocol: "tcp" },
      { port: -1 },
      { port: 9, protocol: "SCTP" },
    ];
    expect(domainWith(passt({ ports })).devices.interfaces[0]?.portForward).toEqual([
      { proto: "tcp", range: [{ start: 80 }, { start: 443 }] },
      { proto: "udp", range: [{ start: 53 }] },
    ]);
  });

  test("keeps the ports of an Istio sidecar in the Pod", () => {
    const [card] = domainWith(passt({}, { "sidecar.istio.io/inject": "TRUE" })).devices.interfaces;
    expect(card?.portForward).toHaveLength(1);
    expect(card?.portForward?.[0]?.range).toContainEqual({ start: 15001, exclude: "yes" });
  });

  test("waits for the name of the Pod's interface", () => {
    expect(errorPath(passt({}, {}, ""))).toBe("spec.domain.devices.interfaces[0]");
  });
});
