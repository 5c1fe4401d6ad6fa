import { at } from "@virtkit/api/shape";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { StartedServer } from "../testing/started-server.ts";
import { seedRunningVm } from "../testing/vm-objects.ts";

let started: StartedServer;

beforeAll(async () => {
  started = await StartedServer.start();
  seedRunningVm(started.cluster);
});
afterAll(() => started[Symbol.asyncDispose]());
beforeEach(() => {
  started.node.answer = undefined;
  started.node.seen.length = 0;
  started.reviews.length = 0;
  started.access.allow = { allowed: true };
});

const put = (rest: string, body = "{}") => started.ask("PUT", started.path(rest), { body });

test("pause reaches the VMI's node, with the UID of the VMI that was read", async () => {
  expect(await put("virtualmachineinstances/vm/pause")).toMatchObject({ code: 200, text: "" });
  expect(started.node.seen).toEqual([
    {
      method: "PUT",
      target: "/v1/namespaces/default/virtualmachineinstances/vm/pause",
      uid: "vmi-uid",
      body: "",
    },
  ]);
});

test("asks for permission for exactly what the path names", async () => {
  await put("virtualmachineinstances/vm/sev/injectlaunchsecret");
  expect(started.reviews).toEqual([
    {
      user: "alice",
      groups: ["devs"],
      resourceAttributes: {
        namespace: "default",
        verb: "update",
        group: "subresources.kubevirt.io",
        version: "v1",
        resource: "virtualmachineinstances",
        subresource: "sev/injectlaunchsecret",
        name: "vm",
      },
    },
  ]);
});

test.each([
  ["no", { allowed: false, reason: "no role" }],
  ["yes and no", { allowed: true, denied: true }],
  ["nothing", undefined],
  ["anything other than yes", { allowed: "true" }],
  ["a failure", new Error("no answer")],
])("%s from the access review means no, and nothing happens", async (_, allow) => {
  started.access.allow = allow;
  const answer = await put("virtualmachineinstances/vm/pause");
  expect(answer).toMatchObject({ code: 403, json: { kind: "Status", reason: "Forbidden" } });
  expect(started.node.seen).toEqual([]);
});

test("stop changes the VM, and a dry run does not", async () => {
  expect((await put("virtualmachines/vm/stop", '{"dryRun":["All"]}')).code).toBe(202);
  const strategy = async (): Promise<unknown> =>
    at(
      await started.cluster.client().get(
        {
          group: "kubevirt.io",
          version: "v1",
          plural: "virtualmachines",
          kind: "VirtualMachine",
          namespaced: true,
        },
        { namespace: "default", name: "vm" },
      ),
      "spec",
      "runStrategy",
    );
  expect(await strategy()).toBe("Always");
  expect((await put("virtualmachines/vm/stop")).code).toBe(202);
  expect(await strategy()).toBe("Halted");
});

test("a rejection by the node is passed on with its message and code, as a Status", async () => {
  started.node.answer = { code: 409, body: "the guest is busy" };
  expect(await put("virtualmachineinstances/vm/freeze")).toMatchObject({
    code: 409,
    json: { kind: "Status", reason: "Conflict", details: { group: "kubevirt.io", name: "vm" } },
  });
  started.node.answer = { code: 200, body: "not json" };
  const info = await started.ask("GET", started.path("virtualmachineinstances/vm/guestosinfo"));
  expect(info).toMatchObject({ code: 500, json: { kind: "Status" } });
});

test("facts about the guest are passed on unchanged", async () => {
  started.node.answer = { code: 200, body: '{"hostname":"h"}' };
  const info = await started.ask("GET", started.path("virtualmachineinstances/vm/guestosinfo"));
  expect(info).toMatchObject({ code: 200, json: { hostname: "h" } });
});

test("reports unknown objects and unknown subresources as such", async () => {
  expect(await put("virtualmachineinstances/other/pause")).toMatchObject({
    code: 404,
    json: { reason: "NotFound", details: { kind: "virtualmachineinstance", name: "other" } },
  });
  expect((await put("virtualmachines/vm/frobnicate")).code).toBe(404);
  expect((await started.ask("GET", started.path("virtualmachineinstances/vm/pause"))).code).toBe(
    405,
  );
});

test("an instance type that does not exist is a conflict of the VM", async () => {
  seedRunningVm(started.cluster);
  const body = JSON.stringify({
    metadata: { name: "x" },
    spec: {
      runStrategy: "Always",
      instancetype: { name: "none" },
      template: { spec: { domain: { devices: {} } } },
    },
  });
  const headers = {
    "X-Remote-User": "alice",
    "X-Remote-Group": "devs",
    "content-type": "application/json",
  };
  const answer = await started.ask("PUT", started.path("expand-vm-spec"), { body, headers });
  expect(answer).toMatchObject({ code: 400, json: { reason: "BadRequest" } });
});

test("discovery shows the group and everything it serves to everybody", async () => {
  const options = { certificate: null, headers: {} };
  const group = await started.ask("GET", "/apis/subresources.kubevirt.io", options);
  expect(group.json).toMatchObject({ kind: "APIGroup", name: "subresources.kubevirt.io" });
  const list = await started.ask("GET", "/apis/subresources.kubevirt.io/v1", options);
  const resources = at(list.json, "resources") as { name: string; verbs: string[]; kind: string }[];
  expect(resources.map(({ name }) => name)).toContain("virtualmachineinstances/usbredir");
  expect(resources.every(({ verbs, kind }) => verbs.length > 0 && kind !== "")).toBe(true);
  const version = await started.ask("GET", "/apis/subresources.kubevirt.io/v1/version", options);
  expect(version.json).toMatchObject({ gitVersion: expect.stringMatching(/^v/) });
  const schema = await started.ask("GET", "/openapi/v3/apis/subresources.kubevirt.io/v1", options);
  expect(Object.keys(at(schema.json, "paths") as object).length).toBe(resources.length);
  expect(started.reviews).toEqual([]);
});
