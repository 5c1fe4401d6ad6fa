import { describe, expect, test } from "vitest";
import { convert } from "../convert.ts";
import { isConverterError } from "../converter-error.ts";
import type { DomainHook } from "../hooks.ts";
import { type Changes, smallContext, smallVmi } from "../testing/conversion.ts";
import { explain } from "./explain.ts";
import { type ExplainedNode, nodesAt } from "./explanation.ts";

const none: Changes = {};
const known = new Map<Changes, readonly ExplainedNode[]>();

function nodesOf(changes: Changes): readonly ExplainedNode[] {
  const nodes = known.get(changes) ?? explain(smallVmi(changes), smallContext(changes)).nodes;
  known.set(changes, nodes);
  return nodes;
}

function explained(path: string, changes = none, nodes = nodesOf(changes)): ExplainedNode {
  const [node] = nodesAt(nodes, path);
  if (!node) throw new Error(`there is no ${path}`);
  return node;
}

function sourcesOf(path: string, changes = none): string[] {
  return explained(path, changes).sources.map((source) => `${source.kind} ${source.path}`);
}

const twoDisks: Changes = {
  devices: {
    disks: [
      { name: "one", disk: { bus: "virtio" }, cache: "none" },
      { name: "two", disk: { bus: "sata" }, serial: "S" },
    ],
  },
  spec: {
    volumes: [
      { name: "one", persistentVolumeClaim: { claimName: "one" } },
      { name: "two", emptyDisk: { capacity: "1Gi" } },
    ],
  },
};

describe("explain", () => {
  test("names the field behind an attribute, an element and text, with its value", () => {
    const { sources } = explained("devices.disk[0].driver.@cache", twoDisks);
    expect(sources).toEqual([
      {
        kind: "field",
        path: "spec.domain.devices.disks[0].cache",
        value: "none",
        because: 'It follows from spec.domain.devices.disks[0].cache ("none").',
      },
    ]);
    expect(sourcesOf("devices.rng", { devices: { rng: {} } })).toEqual([
      "field spec.domain.devices.rng",
    ]);
    expect(sourcesOf("memory")).toEqual(["field spec.domain.memory.guest"]);
  });

  test("distinguishes items of a list, and does not blame one for its neighbour", () => {
    expect(sourcesOf("devices.disk[1].serial", twoDisks)[0]).toBe(
      "field spec.domain.devices.disks[1].serial",
    );
    expect(sourcesOf("devices.disk[1]", twoDisks).sort()).toEqual([
      "field spec.domain.devices.disks[1]",
      "field spec.volumes[1]",
    ]);
  });

  test("follows a name to everything that has it, because neither can change alone", () => {
    expect(sourcesOf("devices.disk[0].alias.@name", twoDisks).sort()).toEqual([
      "field spec.domain.devices.disks[0].name",
      "field spec.volumes[0].name",
    ]);
  });

  test("follows the kind of a volume, which must have some kind", () => {
    expect(sourcesOf("devices.disk[1].source.@file", twoDisks)).toContain(
      "field spec.volumes[1].emptyDisk",
    );
  });

  test("names the field that is not set behind a default", () => {
    const [source] = explained("devices.graphics").sources;
    expect(source).toEqual({
      kind: "default",
      path: "spec.domain.devices.autoattachGraphicsDevice",
      because: "This is because spec.domain.devices.autoattachGraphicsDevice is not set.",
    });
    expect(sourcesOf("devices.disk[0].driver.@error_policy", twoDisks)[0]).toBe(
      "default spec.domain.devices.disks[0].errorPolicy",
    );
  });

  test("names settings of the cluster and facts about the node", () => {
    const context = { memBalloonStatsPeriod: 10, isBlockPVC: { one: true } };
    expect(sourcesOf("devices.memballoon.stats.@period", { context })).toContain(
      "cluster context.memBalloonStatsPeriod",
    );
    expect(sourcesOf("devices.disk[0].source.@dev", { ...twoDisks, context })).toContain(
      "node context.isBlockPVC.one",
    );
  });

  test("names the rule where nothing makes a difference, with its sentence", () => {
    const { sources, step } = explained("devices.channel[0].target.@name");
    expect(sources).toEqual([{ kind: "rule", path: "channels", because: step.summary }]);
    expect(step.name).toBe("channels");
  });

  test("names the rule that changed a node last", () => {
    expect(explained("os.type.@machine").step.name).toBe("machine");
    expect(explained("os.type.@arch").step.name).toBe("frame");
  });

  test("shows what a hook did, and that it left the rest alone", () => {
    const hook: DomainHook = {
      name: "quiet",
      summary: "No sound here.",
      apply: (domain, vmi) => ({
        ...structuredClone(domain),
        onReboot: "destroy",
        extra: { children: [{ name: "x", attributes: { of: vmi.metadata?.name ?? "" } }] },
      }),
    };
    const { nodes } = explain(smallVmi(), smallContext(), { hooks: [hook] });
    const source = { kind: "hook", path: "quiet", because: "No sound here." };
    expect(explained("on_reboot", none, nodes).sources).toEqual([source]);
    expect(explained("x.@of", none, nodes).sources).toMatchObject([
      source,
      { kind: "field", path: "metadata.name" },
    ]);
    expect(explained("memory", none, nodes).step.name).toBe("memory");
  });

  test("works with hooks that cannot be watched", () => {
    const hook: DomainHook = {
      name: "copies",
      apply: (domain, vmi) => ({ ...domain, uuid: structuredClone(vmi).metadata?.name }),
    };
    const { nodes } = explain(smallVmi(), smallContext(), { hooks: [hook] });
    expect(explained("uuid", none, nodes).sources.map(({ path }) => path)).toEqual([
      "copies",
      "metadata.name",
    ]);
  });

  test("gives the domain that convert gives, and changes nothing", () => {
    const vmi = deepFreeze(smallVmi(twoDisks));
    const context = deepFreeze(smallContext());
    expect(explain(vmi, context).domain).toEqual(convert(vmi, context));
  });

  test("fails as convert does", () => {
    const broken = smallVmi({ devices: { disks: [{ name: "lost", disk: {} }] } });
    expect(errorOf(() => explain(broken, smallContext()))).toEqual(
      errorOf(() => convert(broken, smallContext())),
    );
    const malformed = { spec: { domain: { devices: { disks: 5 } } } } as never;
    expect(isConverterError(errorOf(() => explain(malformed, smallContext())))).toBe(true);
  });

  test("accepts a VMI with cycles that nobody reads", () => {
    const vmi = smallVmi() as unknown as Record<string, unknown>;
    vmi["self"] = vmi;
    expect(explain(vmi as never, smallContext()).nodes.length).toBeGreaterThan(50);
  });
});

function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("it did not fail");
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const child of Object.values(value)) deepFreeze(child);
    Object.freeze(value);
  }
  return value;
}
