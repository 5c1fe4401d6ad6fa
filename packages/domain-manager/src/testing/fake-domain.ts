import type { enumerations } from "../libvirt/protocol/enums.ts";
import {
  headerBytes,
  type MessageHeader,
  messageStatus,
  messageTypes,
  writeHeader,
} from "../libvirt/protocol/message.ts";
import { codecFor } from "../libvirt/xdr/codec-for.ts";
import { XdrWriter } from "../libvirt/xdr/xdr-writer.ts";
import { FakeDaemon, type ReceivedCall } from "./fake-daemon.ts";

/** The one domain that a fake daemon may have. */
export interface FakeDomain {
  /** Undefined: not defined. */
  xml: string | undefined;
  state: (typeof enumerations.domainState)[number];
  reason: number;
  metadata: string | undefined;
}

/** libvirt's numbers of errors. */
const noDomain = 42;
const operationInvalid = 55;
const noDomainMetadata = 80;

type Handlers = Readonly<
  Record<string, (args: Readonly<Record<string, unknown>>) => object | number>
>;

/**
 * A daemon with at most one domain that behaves like libvirt's. `begun` and `resumed` count how
 * often vCPUs were started.
 */
export function fakeDomain(initial: Partial<FakeDomain> = {}): {
  readonly daemon: FakeDaemon;
  readonly domain: FakeDomain;
  readonly counts: { begun: number; resumed: number };
  /** Called before a call is carried out; what it returns is what the daemon does. */
  intercept: (call: ReceivedCall, perform: () => object | Buffer) => object | Buffer | undefined;
} {
  const domain: FakeDomain = {
    xml: undefined,
    state: "shutoff",
    reason: 0,
    metadata: undefined,
    ...initial,
  };
  const counts = { begun: 0, resumed: 0 };
  const handlers = handlersOf(domain, counts);
  const daemon = new FakeDaemon((call) => {
    const perform = (): object | Buffer => {
      const handler = handlers[call.name];
      if (!handler) return {};
      const isKnown = domain.xml !== undefined || call.name === "domainDefineXml";
      const result = isKnown ? handler(call.args as Record<string, unknown>) : noDomain;
      return typeof result === "number" ? errorReply(call.header, result) : result;
    };
    return made.intercept(call, perform);
  });
  const made: ReturnType<typeof fakeDomain> = {
    daemon,
    domain,
    counts,
    intercept: (_, perform) => perform(),
  };
  return made;
}

function handlersOf(domain: FakeDomain, counts: { begun: number; resumed: number }): Handlers {
  const isActive = (): boolean => domain.state !== "shutoff";
  const dom = () => ({
    dom: {
      name: "ns_vm",
      uuid: "5d307ca9-b3ef-428c-8861-06e72d69f223",
      id: isActive() ? 1 : -1,
    },
  });
  const become = (state: FakeDomain["state"], reason: number): object => {
    domain.state = state;
    domain.reason = reason;
    return dom();
  };
  return {
    domainLookupByName: dom,
    domainGetState: () => ({ state: domain.state, reason: domain.reason }),
    domainGetXmlDesc: () => ({ xml: domain.xml ?? "" }),
    domainGetMetadata: () =>
      domain.metadata === undefined ? noDomainMetadata : { metadata: domain.metadata },
    domainSetMetadata: ({ metadata }) => {
      domain.metadata = String(metadata);
      return {};
    },
    domainDefineXml: ({ xml }) => {
      domain.xml = String(xml);
      return dom();
    },
    domainCreate: ({ flags }) => {
      if (isActive()) return operationInvalid;
      counts.begun++;
      // Flags are read as the word that they are on the wire.
      return flags === 1 ? become("paused", 1) : become("running", 1);
    },
    domainResume: () => {
      counts.resumed++;
      return become("running", 5);
    },
    domainSuspend: () => become("paused", 1),
    domainDestroy: () => (isActive() ? become("shutoff", 2) : operationInvalid),
    domainUndefine: () => {
      domain.xml = undefined;
      return {};
    },
  };
}

function errorReply(header: MessageHeader, code: number): Buffer {
  const writer = new XdrWriter(headerBytes);
  const message = "as asked for by the test";
  codecFor("error").write(writer, { code, domain: 10, level: 2, message, int1: 0, int2: 0 });
  const reply = writer.finish();
  writeHeader(reply, { ...header, type: messageTypes.reply, status: messageStatus.error });
  return reply;
}
