import { expect, test } from "vitest";
import {
  type SchemaNode,
  type VirtualMachineInstance,
  VirtualMachineInstanceMigrationSchema,
  VirtualMachineInstanceSchema,
  VirtualMachineSchema,
} from "../schema/index.ts";
import { anything, pick, type Random, randomFrom, sample } from "../testing/random-object.ts";
import { cluster, instance } from "../testing/verdict.ts";
import type { AdmissionKind } from "./admission-request.ts";
import { type AdmissionReviewAnswer, reviewAdmission, reviewMutation } from "./admission-review.ts";
import type { Cause } from "./cause.ts";
import { instanceCauses } from "./virtual-machine-instance.ts";

const schemas: Readonly<Record<string, { kind: AdmissionKind; schema: SchemaNode }>> = {
  virtualmachineinstances: { kind: "VirtualMachineInstance", schema: VirtualMachineInstanceSchema },
  virtualmachines: { kind: "VirtualMachine", schema: VirtualMachineSchema },
  virtualmachineinstancemigrations: {
    kind: "VirtualMachineInstanceMigration",
    schema: VirtualMachineInstanceMigrationSchema,
  },
};

/** Feature gates that enable more rules. */
const open = cluster({
  gates: [
    "NetworkDevicesWithDRA",
    "PortRangesSpec",
    "UtilityVolumes",
    "DecentralizedLiveMigration",
  ],
});

/** An object of the schema, usually with one part replaced by something else. */
function attack(schema: SchemaNode, random: Random): unknown {
  const object = sample(schema, random);
  const way = random();
  if (way < 0.3) return object;
  if (way < 0.4) return anything(random, 4);
  for (let i = 0; i < 3; i++) spoil(object, random);
  return object;
}

/** Walks down a random path and replaces what is at its end. */
function spoil(object: unknown, random: Random): void {
  let place = object;
  while (typeof place === "object" && place !== null) {
    const keys = Object.keys(place);
    if (keys.length === 0) return;
    const key = pick(keys, random);
    const holder = place as Record<string, unknown>;
    if (random() < 0.25) {
      holder[key] = anything(random, 2);
      return;
    }
    place = holder[key];
  }
}

function reviewOf(resource: string, random: Random): unknown {
  const schema = schemas[resource]?.schema as SchemaNode;
  return {
    request: {
      uid: "u",
      resource: { group: "kubevirt.io", resource },
      operation: pick(["CREATE", "UPDATE"], random),
      userInfo: {
        username: pick(["u", "system:serviceaccount:kubevirt:kubevirt-handler"], random),
        extra: { "authentication.kubernetes.io/node-name": ["a"] },
      },
      object: attack(schema, random),
      oldObject: attack(schema, random),
    },
  };
}

/** What is wrong with the answers to a review, if anything. */
function weakness(review: unknown): string | undefined {
  const before = JSON.stringify(review);
  const answers = [reviewAdmission(review, open), reviewMutation(review, open)];
  if (JSON.stringify(review) !== before) return "the request was changed";
  const longest = Math.max(0, ...answers.flatMap(causes).map(({ message }) => message.length));
  if (longest > 1000) return `a message has ${longest} characters`;
  if (!answers.flatMap(causes).every(({ field }) => field)) return "a cause has no field";
  return JSON.stringify(answers).length > 0 ? undefined : "not JSON";
}

function causes({ response }: AdmissionReviewAnswer): readonly Cause[] {
  return response.status?.details?.causes ?? [];
}

test.each(Object.keys(schemas))(
  "answers any %s with a bounded response",
  (resource) => {
    const random = randomFrom(7);
    let judgedByRules = 0;
    for (let i = 0; i < 250; i++) {
      const review = reviewOf(resource, random);
      expect(weakness(review)).toBeUndefined();
      if (causes(reviewAdmission(review, open)).some(({ reason }) => reason)) judgedByRules++;
    }
    expect(Object.keys(Object.prototype)).toEqual([]);
    // Otherwise the attack would not get past the schema.
    expect(judgedByRules).toBeGreaterThan(25);
  },
  30_000,
);

test("survives deep nesting", () => {
  const depth = 100_000;
  const deep = JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`) as unknown;
  for (const resource of Object.keys(schemas)) {
    const subject = { spec: { runStrategy: "Always", template: { spec: instance()["spec"] } } };
    for (const object of [
      { ...subject, status: { deep } },
      { ...subject, metadata: { managedFields: [{ fieldsV1: { deep } }] } },

      deep,
      { spec: deep },
      instance({ hostname: deep }),
      instance({}, { status: { deep } }),
    ]) {
      const request = {
        uid: "u",
        resource: { group: "kubevirt.io", resource },
        operation: "CREATE",
        object,
      };
      const update = { ...request, operation: "UPDATE", oldObject: object };
      for (const review of [{ request }, { request: update }]) {
        expect(reviewAdmission(review, open).response.allowed).toBeTypeOf("boolean");
        expect(reviewMutation(review, open).response.allowed).toBeTypeOf("boolean");
      }
    }
  }
});

test("control: the same attack finds rules that trust the object", () => {
  const random = randomFrom(7);
  let thrown = 0;
  for (let i = 0; i < 250; i++) {
    const object = attack(VirtualMachineInstanceSchema, random);
    try {
      instanceCauses(object as VirtualMachineInstance, open, false);
    } catch {
      thrown++;
    }
  }
  expect(thrown).toBeGreaterThan(25);
});

test("answers for a VMI with ten times more of everything than is allowed", () => {
  const many = 2560;
  const list = <T>(make: (i: number) => T): T[] => Array.from({ length: many }, (_, i) => make(i));
  const object = instance({
    networks: list(() => ({ name: "a", pod: {} })),
    volumes: list(() => ({ name: "a" })),
    resourceClaims: list(() => ({ name: "a" })),
    topologySpreadConstraints: list(() => ({
      topologyKey: "",
      maxSkew: 0,
      whenUnsatisfiable: "DoNotSchedule",
    })),
    domain: {
      devices: {
        disks: list(() => ({ name: "a", bootOrder: 1, cdrom: { bus: "virtio" } })),
        interfaces: list(() => ({ name: "a", bootOrder: 1, state: "absent" })),
        gpus: list(() => ({ name: "a", claimName: "a", requestName: "a" })),
      },
    },
  });
  const request = {
    uid: "u",
    resource: { group: "kubevirt.io", resource: "virtualmachineinstances" },
    operation: "CREATE",
    object,
  };
  const { response } = reviewAdmission({ request }, open);
  expect(response.status?.details?.causes).toHaveLength(10);
});
