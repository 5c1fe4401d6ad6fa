import { readTargetHolder, targetHolderAnnotation } from "@virtkit/api/grant";
import { expect, test } from "vitest";
import {
  claimed,
  config,
  handingOver,
  listening,
  movingVmi,
  report,
  targetView,
  to,
} from "../testing/moving-sample.ts";
import { arrivedVmi, planTargetDuty, type TargetView } from "./plan-target-duty.ts";

const listener = { address: "192.0.2.2", ports: { "4001": 0, "4002": 49152 } };
const { labels } = config.names;
const key = config.names.own(targetHolderAnnotation);
const duty = (change: Partial<TargetView>) => planTargetDuty(targetView(change));

test("a target prepares, publishes where it listens and its incarnation, and receives what is handed over to it", () => {
  expect(duty({}).act).toEqual({ do: "prepare", encryption: "qemu" });
  const prepared = duty({ listener });
  expect(prepared.act).toEqual({ do: "nothing" });
  expect(prepared.vmi?.status?.migrationState).toMatchObject(listening);
  const said = readTargetHolder(prepared.vmi?.metadata?.annotations?.[key]);
  expect(said).toEqual({ migrationUID: "m-1", holder: to });
  const vmi = prepared.vmi ?? movingVmi();
  expect(duty({ vmi, listener, grant: handingOver })).toMatchObject({
    act: { do: "receive", migration: { migrationUID: "m-1", epoch: 1, seq: 4 } },
  });
});

test("a target accepts only encrypted data, or only plain data if the migration's options say so", () => {
  const receive = { vmi: movingVmi(listening), listener, grant: handingOver };
  expect(duty(receive).act).toMatchObject({ do: "receive", encryption: "qemu" });
  const migrationConfiguration = { disableTLS: true };
  expect(duty({ vmi: movingVmi({ migrationConfiguration }) }).act).toEqual({
    ...{ do: "prepare", encryption: "none" },
  });
  const vmi = movingVmi({ ...listening, migrationConfiguration });
  expect(duty({ ...receive, vmi }).act).toMatchObject({ do: "receive", encryption: "none" });
});

test("a target whose node gets no certificate prepares nothing, and says that the migration has failed", () => {
  const failed = duty({ unfit: "no certificate for m-1: the node is unknown" });
  expect(failed.act).toEqual({ do: "nothing" });
  expect(failed.vmi?.status?.migrationState).toMatchObject({
    ...{ failed: true, completed: true },
    failureReason: "no certificate for m-1: the node is unknown",
  });
});

test.each(["Pod", "Migration"] as const)(
  "a target says that it listens on the network %s",
  (network) => {
    const { vmi } = duty({ listener: { ...listener, network } });
    expect(vmi?.status?.migrationState).toMatchObject({
      ...listening,
      migrationNetworkType: network,
    });
  },
);

test("receives nothing that is handed over to another incarnation", () => {
  const grant = { ...handingOver, target: { ...to, nonce: "older" } };
  expect(duty({ vmi: movingVmi(listening), listener, grant }).act).toEqual({ do: "nothing" });
});

test("a target whose agent was restarted publishes its new ports, until the source has begun", () => {
  const ports = { "5001": 0, "5002": 49152 };
  const again = { listener: { ...listener, ports } };
  const open = duty({ vmi: movingVmi(listening), ...again });
  expect(open.vmi?.status?.migrationState?.targetDirectMigrationNodePorts).toEqual(ports);
  const begun = movingVmi({ ...listening, startTimestamp: "1970-01-01T00:00:01Z" });
  const late = duty({ vmi: begun, ...again, grant: handingOver, word: report() });
  expect(late.vmi?.status?.migrationState?.targetDirectMigrationNodePorts).not.toEqual(ports);
});

test("after the switch to post-copy, a target whose agent was restarted listens again, and publishes where", () => {
  const vmi = movingVmi({ ...listening, startTimestamp: "2026-01-01T00:00:00Z" });
  const split = {
    ...{ vmi, grant: { ...handingOver, state: "Committed" } as const },
    word: report({ role: "target" }),
  };
  expect(duty(split)).toMatchObject({ act: { do: "reopen", encryption: "qemu" }, closeWay: false });
  // No certificate, and a VMI that is deleted meanwhile, change nothing: the guest's memory is in two places.
  const deleted = {
    ...vmi,
    metadata: { ...vmi.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" },
  };
  for (const change of [{ unfit: "no certificate" }, { vmi: deleted }]) {
    expect(duty({ ...split, ...change }).act).toEqual({ do: "reopen", encryption: "qemu" });
  }
  const same = duty({ ...split, listener });
  expect(same.act).toEqual({ do: "nothing" });
  expect(same.vmi).toBeUndefined();
  const moved = { address: "192.0.2.9", ports: { "4011": 0, "4012": 49152 } };
  expect(duty({ ...split, listener: moved }).vmi?.status?.migrationState).toMatchObject({
    ...{ targetNodeAddress: moved.address, targetDirectMigrationNodePorts: moved.ports },
    startTimestamp: "2026-01-01T00:00:00Z",
  });
  const other = movingVmi({ ...listening, migrationUid: "m-2" });
  expect(duty({ ...split, vmi: other, listener: moved }).vmi).toBeUndefined();
});

test("one write makes an arrived guest this node's: claim, name, label and end", () => {
  const { vmi, events } = arrivedVmi(movingVmi(listening), targetView({ word: report() }));
  expect(vmi.status).toMatchObject({
    nodeName: "node-b",
    migrationState: {
      ...{ completed: true, startTimestamp: "1970-01-01T00:00:01Z" },
      ...{ endTimestamp: "1970-01-01T00:00:10Z", targetNodeDomainDetected: true },
      targetNodeDomainReadyTimestamp: "1970-01-01T00:00:10Z",
    },
  });
  expect(vmi.metadata?.labels).toEqual({ [labels.nodeName]: "node-b" });
  expect(events).toMatchObject([{ reason: "Migrated" }]);
});

test("a claim whose status was lost is reported again, whatever was said about a failure meanwhile", () => {
  const vmi = movingVmi({ ...listening, failed: true, completed: true });
  const grant = { ...claimed, holder: to, epoch: 2 };
  const told = duty({ vmi, grant, word: report({ settled: "runs" }) });
  expect(told.vmi?.status).toMatchObject({
    nodeName: "node-b",
    migrationState: { completed: true },
  });
  expect(told.vmi?.status?.migrationState?.failed).toBeUndefined();
});

test("a launcher that gets no guest is dismissed, unless the grant or the launcher itself names the guest", () => {
  const vmi = movingVmi({
    ...listening,
    failed: true,
    completed: true,
    endTimestamp: "1970-01-01T00:00:02Z",
  });
  expect(duty({ vmi, listener })).toMatchObject({
    act: { do: "dismiss", isEmpty: false },
    closeWay: true,
  });
  expect(duty({ vmi, listener }).vmi?.metadata?.labels).not.toHaveProperty(
    labels.migrationTargetNodeName,
  );
  const named = { vmi, listener, grant: handingOver };
  expect(duty({ ...named, word: report() }).act).toEqual({ do: "nothing" });
  expect(duty({ ...named, word: undefined }).act).toEqual({ do: "nothing" });
  expect(duty({ vmi, listener, word: report() }).act).toEqual({ do: "nothing" });
  expect(duty({ vmi, listener, word: undefined }).act).toEqual({ do: "nothing" });
});

test.each([
  ["its launcher has ended", { hasEnded: true }, { do: "nothing" }],
  ["its copy has ended", { word: report({ settled: "ended" }) }, { do: "dismiss", isEmpty: true }],
  ["its copy is lost", { word: report({ settled: "lost" }) }, { do: "dismiss", isEmpty: true }],
] as const)(
  "if %s the migration is reported as failed, even though the grant names it",
  (_, change, act) => {
    const dead = { vmi: movingVmi(listening), listener, grant: handingOver, ...change };
    // Its source may have ended it, and then says why.
    expect(duty(dead).vmi).toBeUndefined();
    const told = duty({ ...dead, deadFor: 10_000 });
    expect(told.act).toEqual(act);
    expect(told.vmi?.status?.migrationState).toMatchObject({ failed: true, completed: true });
    expect(told.events).toMatchObject([
      { type: "Warning", message: expect.stringMatching(/^migration m-1 failed: the target's /) },
    ]);
    const known = { ...dead, vmi: movingVmi({ ...listening, failed: true, completed: true }) };
    expect(duty({ ...known, deadFor: 10_000 }).events).toEqual([]);
  },
);

test("a launcher that was never asked to receive has no copy: it is dismissed even if the grant names it", () => {
  const over = { failed: true, completed: true, endTimestamp: "1970-01-01T00:00:02Z" };
  const vmi = movingVmi({ ...listening, ...over });
  const { act, closeWay } = duty({ vmi, listener, grant: handingOver, word: "unbegun" });
  expect([act, closeWay]).toEqual([{ do: "dismiss", isEmpty: true }, false]);
});
