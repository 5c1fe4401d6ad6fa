import { ManualClock } from "@virtkit/api/clock";
import type { KubeClient } from "@virtkit/kube";
import { expect, test } from "vitest";
import { sampleVmi } from "../testing/sample-vmi.ts";
import { RequestEvents } from "./request-events.ts";

test("what a request does to a guest becomes an event of its VMI", async () => {
  const written: unknown[] = [];
  const create = async (_: unknown, event: unknown): Promise<unknown> => {
    written.push(event);
    return event;
  };
  const client = { create } as unknown as KubeClient;
  const clock = new ManualClock();
  await using events = new RequestEvents({ client, clock, nodeName: "n1" });
  const vmi = sampleVmi();
  events.record(vmi, { type: "Normal", reason: "Paused", message: "The guest was paused" });
  await clock.pass(0);
  const { name, namespace, uid } = vmi.metadata ?? {};
  expect(written).toMatchObject([
    {
      metadata: { namespace },
      involvedObject: { apiVersion: "kubevirt.io/v1", name, namespace, uid },
      ...{ type: "Normal", reason: "Paused", message: "The guest was paused" },
      source: { component: "virt-handler", host: "n1" },
    },
  ]);
});
