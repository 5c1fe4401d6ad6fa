import { type Libvirt, LibvirtError, type ProcedureName } from "@virtkit/domain-manager/libvirt";

const uuid = "5d307ca9-b3ef-428c-8861-06e72d69f223";
const xml = `<domain type='kvm'><name>default_demo</name><uuid>${uuid}</uuid></domain>`;
const cookie = new Uint8Array();
const reasons: Readonly<Record<string, number>> = { running: 1, paused: 2, shutoff: 4 };

/** As much of libvirt as a migration needs: one domain, which the phases stop, end or start. */
export class MovingLibvirt {
  state: "running" | "paused" | "shutoff";
  /** How many calls fail from the confirmation on, as if the daemon were dead. */
  failing = 0;
  #isDying = false;
  /** Its one domain. */
  readonly xml = xml;
  /** Where a new connection waits. */
  connecting: Promise<void> = Promise.resolve();
  /** Where perform waits. */
  performing: Promise<void> = Promise.resolve();

  constructor(state: "running" | "shutoff") {
    this.state = state;
  }

  /** One of its connections. */
  async connect(): Promise<Libvirt> {
    await this.connecting;
    const call = async (name: ProcedureName, args: { readonly cancelled?: boolean }) =>
      await this.#call(name, args);
    const subscribe = async () => (async function* () {})();
    return { call, subscribe, close: async () => {} } as unknown as Libvirt;
  }

  async #call(
    name: ProcedureName,
    { cancelled }: { readonly cancelled?: boolean },
  ): Promise<unknown> {
    this.#isDying ||= name === "domainMigrateConfirm";
    if (this.#isDying && this.failing > 0) {
      this.failing--;
      throw new LibvirtError("LIBVIRT_CLOSED", "the connection is lost");
    }
    switch (name) {
      case "domainLookupByName":
      case "domainLookupByUuid":
        return { dom: { name: "default_demo", uuid, id: 1 } };
      case "domainGetState":
        return { state: this.state, reason: reasons[this.state] };
      case "domainGetJobStats":
        return { type: "none", params: {} };
      case "domainGetXmlDesc":
        return { xml };
      case "connectGetLibVersion":
      case "connectGetVersion":
        return { version: 9_000_000n };
      case "domainMigrateBegin":
        return { cookie, xml };
      case "domainMigratePerform":
        await this.performing;
        this.state = "paused";
        return { cookie };
      case "domainMigrateConfirm":
        this.state = cancelled ? "running" : "shutoff";
        return {};
      case "domainMigratePrepare":
      case "domainMigrateFinish":
        this.state = "paused";
        return { cookie };
      case "domainResume":
        this.state = "running";
        return {};
      case "domainDestroy":
        this.state = "shutoff";
        return {};
      default:
        return {};
    }
  }
}
