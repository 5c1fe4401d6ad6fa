import type { CloneSource } from "@virtkit/api/status";
import { type KubeClient, KubeError } from "@virtkit/kube";
import { expect, test } from "vitest";
import { mayClone } from "./may-clone.ts";

type Attributes = Readonly<Record<string, string>>;

/** Answers as RBAC does: an account has these rights, and no others. */
function reviewer(granted: readonly string[], extra: object = {}) {
  const asked: Attributes[] = [];
  const create = async (_: unknown, object: unknown): Promise<unknown> => {
    const { resourceAttributes } = (object as { spec: { resourceAttributes: Attributes } }).spec;
    asked.push(resourceAttributes);
    const { resource, subresource } = resourceAttributes;
    const allowed = granted.includes(subresource ? `${resource}/${subresource}` : String(resource));
    return { status: { allowed, ...extra } };
  };
  return { asked, client: { create } as unknown as Pick<KubeClient, "create"> };
}

const requestFor = (kind: CloneSource["kind"], namespace = "golden") => ({
  dataVolume: "disk",
  source: { kind, namespace, name: "image" },
  serviceAccount: { namespace: "ns", name: "default" },
});

const everything = ["datavolumes/source", "pods", "pvcs"];
/** Every set of rights, with a bit for each. */
const combinations = Array.from({ length: 8 }, (_, bits) =>
  everything.filter((_, index) => bits & (1 << index)),
);

test.each(combinations.map((granted) => [granted] as const))(
  "with rights %j, a claim needs one of the first two, a snapshot the first or both others",
  async (granted) => {
    const may = async (kind: CloneSource["kind"]) =>
      await mayClone(reviewer(granted).client, requestFor(kind));
    const [isOwn, hasPods, hasClaims] = everything.map((right) => granted.includes(right));
    expect(await may("PersistentVolumeClaim")).toBe(isOwn || hasPods);
    expect(await may("VolumeSnapshot")).toBe(isOwn || (hasPods && hasClaims));
  },
);

test("asks for creation in the source's namespace, of the source itself or of anything", async () => {
  const { asked, client } = reviewer(["pods", "pvcs"]);
  await mayClone(client, requestFor("VolumeSnapshot"));
  const common = { verb: "create", namespace: "golden" };
  expect(asked).toEqual([
    {
      ...common,
      ...{
        group: "cdi.kubevirt.io",
        resource: "datavolumes",
        subresource: "source",
        name: "image",
      },
    },
    { ...common, group: "", resource: "pods" },
    { ...common, group: "", resource: "pvcs" },
  ]);
});

test("an account may clone within its own namespace without a question", async () => {
  const { asked, client } = reviewer([]);
  expect(await mayClone(client, requestFor("VolumeSnapshot", "ns"))).toBe(true);
  expect(asked).toEqual([]);
});

test("an explicit no outweighs a yes, and no answer is an error", async () => {
  const { client } = reviewer(everything, { denied: true });
  expect(await mayClone(client, requestFor("PersistentVolumeClaim"))).toBe(false);
  const silent = { create: async () => Promise.reject(new KubeError("KUBE_TIMEOUT", "no answer")) };
  await expect(mayClone(silent as never, requestFor("VolumeSnapshot"))).rejects.toThrow(
    "no answer",
  );
});
