import { execFile } from "node:child_process";
import { fullObject } from "@virtkit/conformance/recorded";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { groupOf, type ObjectKindName, objectKinds, type SchemaNode } from "../schema/index.ts";
import { crds } from "./crds.ts";

type Json = Record<string, unknown>;

const namespace = "virtkit-crds";
const definitions = crds();
const kinds = Object.keys(objectKinds) as ObjectKindName[];

/** Kinds with the name of their published definition. */
const published = [
  ["VirtualMachine", "v1.VirtualMachine"],
  ["VirtualMachineInstance", "v1.VirtualMachineInstance"],
  ["KubeVirt", "v1.KubeVirt"],
] as const;

/** Runs kubectl against the tier's API server, with an object on stdin. */
async function kubectl(args: readonly string[], input?: unknown): Promise<string> {
  const kubeconfig = process.env["VIRTKIT_APISERVER_KUBECONFIG"] ?? "";
  const command = process.env["VIRTKIT_KUBECTL"] ?? "kubectl";
  return await new Promise((resolve, reject) => {
    const all = ["--kubeconfig", kubeconfig, "--request-timeout=20s", ...args];
    const child = execFile(command, all, { maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      error ? reject(new Error(stderr || error.message)) : resolve(stdout),
    );
    child.stdin?.end(input === undefined ? "" : JSON.stringify(input));
  });
}

/** Creates an object, sets its status, reads it back and removes it. */
async function roundTrip(
  kind: ObjectKindName,
  object: Json,
  options: string[] = [],
): Promise<Json> {
  const scope = objectKinds[kind].scope === "Namespaced" ? ["-n", namespace] : [];
  const definition = definitions.find(({ spec }) => spec.names.kind === kind);
  const resource = definition?.metadata.name ?? "";
  const { name } = object["metadata"] as { name: string };
  await kubectl(["create", "--validate=strict", ...options, ...scope, "-f", "-"], object);
  try {
    if (definition?.spec.versions[0]?.subresources?.status && object["status"] !== undefined) {
      const patch = JSON.stringify({ status: object["status"] });
      const args = ["patch", resource, name, "--subresource=status", "--type=merge", `-p=${patch}`];
      await kubectl([...args, ...scope]);
    }
    return JSON.parse(await kubectl(["get", resource, name, ...scope, "-o", "json"])) as Json;
  } finally {
    await kubectl(["delete", resource, name, ...scope]);
  }
}

beforeAll(async () => {
  await kubectl(["create", "namespace", namespace]);
  await kubectl(["apply", "--server-side", "-f", "-"], {
    apiVersion: "v1",
    kind: "List",
    items: definitions,
  });
  // The API server's list may lack an established definition for a moment.
  await vi.waitFor(listAll, { timeout: 30_000, interval: 500 });
}, 60_000);

async function listAll(): Promise<void> {
  await Promise.all(definitions.map(({ metadata }) => kubectl(["get", metadata.name, "-A"])));
}

describe("the API server", () => {
  test("accepts every definition", async () => {
    const { items } = JSON.parse(await kubectl(["get", "crds", "-o", "json"]));
    for (const { metadata, status } of items) {
      const conditions = Object.fromEntries(
        status.conditions.map(({ type, status }: { type: string; status: string }) => [
          type,
          status,
        ]),
      );
      // NonStructuralSchema is present only if something is wrong.
      expect(conditions, metadata.name).toEqual({ NamesAccepted: "True", Established: "True" });
    }
  });

  test.each(kinds)("keeps every field of a %s", async (kind) => {
    const object = named(kind, full(objectKinds[kind].schema) as Json);
    expectKept(await roundTrip(kind, object), object);
  });

  test.each(published)("keeps every published field of a %s", async (kind, definition) => {
    const object = named(kind, lawful(objectKinds[kind].schema, fullObject(definition)) as Json);
    expectKept(await roundTrip(kind, object), object);
  });

  test("refuses an unknown field, and drops it on request", async () => {
    const object = named("MigrationPolicy", { spec: { selectors: {}, unknown: 1 } });
    await expect(roundTrip("MigrationPolicy", object)).rejects.toThrow(
      'unknown field "spec.unknown"',
    );
    const kept = await roundTrip("MigrationPolicy", object, ["--validate=ignore"]);
    expect(() => expectKept(kept, object)).toThrow();
  });

  test.each([
    ["cpu", { cores: "2" }, "spec.domain.cpu.cores"],
    ["memory", { guest: 1.5 }, "spec.domain.memory.guest"],
    ["memory", { guest: "2 Gi" }, "spec.domain.memory.guest"],
    ["rebootPolicy", "Never", "spec.domain.rebootPolicy"],
    ["devices", null, "spec.domain.devices"],
  ])("refuses spec.domain.%s %j", async (field, value, path) => {
    const domain = { devices: {}, [field]: value };
    const object = named("VirtualMachineInstance", { spec: { domain } });
    await expect(roundTrip("VirtualMachineInstance", object)).rejects.toThrow(path);
  });
});

function expectKept(read: Json, sent: Json): void {
  expect(read["spec"]).toEqual(sent["spec"]);
  expect(read["status"]).toEqual(sent["status"]);
}

/** The object with its kind and its own name; the API server fills in the rest of metadata. */
function named(kind: ObjectKindName, object: Json): Json {
  const { version } = objectKinds[kind];
  const apiVersion = `${groupOf(objectKinds[kind], "kubevirt.io")}/${version}`;
  return { ...object, apiVersion, kind, metadata: { name: `${kind.toLowerCase()}-full` } };
}

/** A value with every field of a schema set. */
function full(node: SchemaNode): unknown {
  switch (node.kind) {
    case "object":
      return lawful(
        node,
        Object.fromEntries([...node.fields].map(([name, { schema }]) => [name, full(schema)])),
      );
    case "array":
      return [full(node.items)];
    case "map":
      return { key: full(node.values) };
    case "any-object":
      return { any: { thing: 1 } };
    case "nullable":
      return full(node.inner);
    case "boolean":
      return true;
    case "integer":
    case "float":
      return lawful(node, 7);
    case "quantity":
      return "1Gi";
    case "int-or-string":
      return 80;
    case "string":
      return lawful(
        node,
        { "date-time": "2026-01-31T08:30:00Z", duration: "1h0m0s", none: "text" }[
          node.format ?? "none"
        ],
      );
  }
}

/**
 * The value with everything replaced that breaks a rule of the definition: placeholders and 64-bit extremes.
 */
function lawful(node: SchemaNode, value: unknown): unknown {
  switch (node.kind) {
    case "object":
      return lawfulObject(node, value as Json);
    case "array":
      return (value as unknown[]).map((item) => lawful(node.items, item));
    case "map":
      return Object.fromEntries(
        Object.entries(value as Json).map(([key, item]) => [key, lawful(node.values, item)]),
      );
    case "integer": {
      const { minimum = -1000, maximum = 1000 } = node.rules ?? {};
      return Math.min(Math.max(value as number, minimum), maximum);
    }
    case "string":
      if (node.rules?.closed) return node.known?.[0];
      return node.rules?.pattern === undefined ? value : "0.5";
    case "any-object":
    case "boolean":
    case "float":
    case "int-or-string":
    case "nullable":
    case "quantity":
      return value;
  }
}

function lawfulObject({ fields }: SchemaNode & { kind: "object" }, value: Json): Json {
  const entries = Object.entries(value).map(([name, inner]): [string, unknown] => {
    const schema = fields.get(name)?.schema;
    // The only rule that is an expression: a container directory must be an absolute path.
    if (schema?.rules?.validations && typeof inner === "string") return [name, "/some/path"];
    return [name, schema ? lawful(schema, inner) : inner];
  });
  return Object.fromEntries(entries);
}
