import { encodeGrant, type Grant, grantAnnotation } from "@virtkit/api/grant";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { GrantStore, GrantStoreOptions, StoredGrant } from "@virtkit/domain-manager";
import { isConflict, isNotFound, type KubeObject } from "@virtkit/kube";
import { patchObject } from "@virtkit/kube/writes";
import type { AgentContext } from "../service/agent-context.ts";
import type { GuestRecord } from "../service/guest-record.ts";
import { grantOf } from "../service/vmi-grant.ts";

type Vmi = VirtualMachineInstance & KubeObject;

/** What {@link VmiGrantStore} works with. */
export type GrantContext = Pick<
  AgentContext,
  "client" | "vmis" | "names" | "effects" | "mark" | "signal"
>;

/**
 * The grant of one VMI, by its UID, with other changes written in the same swap. A VMI with the same name and
 * another UID is not it, and reads as invalid.
 */
export class VmiGrantStore implements GrantStore<Vmi | undefined> {
  readonly #vmi: Pick<GuestRecord, "namespace" | "name" | "vmiUid">;
  readonly #context: GrantContext;
  readonly #join: (vmi: Vmi, next: Grant) => VirtualMachineInstance;
  #storeVersion = "";

  /** @param join what the VMI is to be besides, once the grant is the next one. */
  constructor(
    vmi: Pick<GuestRecord, "namespace" | "name" | "vmiUid">,
    context: GrantContext,
    join: (vmi: Vmi, next: Grant) => VirtualMachineInstance = (same) => same,
  ) {
    this.#vmi = vmi;
    this.#context = context;
    this.#join = join;
  }

  async read({ signal }: GrantStoreOptions = {}): Promise<StoredGrant<Vmi | undefined>> {
    const { client, vmis, names, effects, mark, signal: own } = this.#context;
    const { namespace, name, vmiUid } = this.#vmi;
    const options = { signal: signal ? AbortSignal.any([own, signal]) : own };
    const fieldSelector = `metadata.name=${name}`;
    // A list, although of one object: its version is the store's, while an object's is that of its own last change.
    const found = await effects("read the grant", () =>
      client.list(vmis, { namespace, fieldSelector, ...options }),
    );
    this.#storeVersion = found.metadata.resourceVersion;
    mark.check(this.#storeVersion);
    const vmi = found.items[0] as Vmi | undefined;
    if (vmi?.metadata.uid === vmiUid) return { grant: grantOf(vmi, names), version: vmi };
    return { grant: { state: "Invalid", problem: "the VMI is gone" }, version: undefined };
  }

  async swap({ version: vmi }: StoredGrant<Vmi | undefined>, next: Grant): Promise<boolean> {
    if (!vmi) return false;
    const { client, vmis, names, effects, mark, signal } = this.#context;
    const storeVersion = this.#storeVersion;
    if (mark.isNew(storeVersion)) await effects("note the version", () => mark.note(storeVersion));
    const joined = this.#join(vmi, next);
    const annotations = {
      ...joined.metadata?.annotations,
      [names.own(grantAnnotation)]: encodeGrant(next),
    };
    const after = { ...joined, metadata: { ...joined.metadata, annotations } } as Vmi;
    try {
      await effects("swap the grant", () =>
        patchObject(client, vmis, vmi as KubeObject, after as KubeObject, {
          ...{ signal, isExclusive: true },
        }),
      );
      return true;
    } catch (error) {
      if (isConflict(error) || isNotFound(error)) return false;
      throw error;
    }
  }
}
