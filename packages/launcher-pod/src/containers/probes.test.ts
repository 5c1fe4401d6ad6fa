import type { Probe } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import type { PodProbe } from "../pod/container.ts";
import { container, render } from "../testing/render.ts";

function liveness(livenessProbe: Probe): PodProbe | undefined {
  return container(render({ spec: { livenessProbe } }), "compute")?.livenessProbe;
}

const asking = ["virt-probe", "--domainName", "ns_guest", "--timeoutSeconds"];

test("a probe starts ten seconds later, with the kubelet's defaults", () => {
  expect(liveness({ tcpSocket: { port: 22 } })).toEqual({
    tcpSocket: { port: 22 },
    initialDelaySeconds: 10,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 3,
  });
});

test("a command runs in the guest, with one second more for the transfer", () => {
  const probe = liveness({ exec: { command: ["cat", "/x", "/y"] }, timeoutSeconds: 5 });
  expect(probe?.exec?.command).toEqual([...asking, "5", "--command", "cat", "--", "/x", "/y"]);
  expect(probe?.timeoutSeconds).toBe(6);
});

test("a ping asks the guest agent", () => {
  const probe = liveness({ guestAgentPing: {}, initialDelaySeconds: 20 });
  expect(probe?.exec?.command).toEqual([...asking, "1", "--guestAgentPing"]);
  expect(probe).toMatchObject({ initialDelaySeconds: 30, timeoutSeconds: 2 });
});

test.each([[[]], [["virt-probe", "--x"]]])("leaves the command %j unchanged", (command) => {
  expect(liveness({ exec: { command } })).toMatchObject({ exec: { command }, timeoutSeconds: 1 });
});

test("readiness is probed in the same way, and rendering does not change the VMI", () => {
  const readinessProbe: Probe = { exec: { command: ["true"] } };
  const pod = render({ spec: { readinessProbe } });
  expect(container(pod, "compute")?.readinessProbe?.exec?.command).toContain("--command");
  expect(readinessProbe).toEqual({ exec: { command: ["true"] } });
});
