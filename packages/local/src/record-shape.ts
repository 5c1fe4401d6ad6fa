import { isProcessIdentity } from "@virtkit/node-agent/sandbox";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const vmiUid = /^[A-Za-z0-9-]{1,64}$/;

/**
 * Whether a record has everything that others rely on, with the right types: a damaged file can
 * contain anything, and must not keep anyone from reading the other records.
 */
export function isWholeRecord(value: unknown): boolean {
  const { podUid, createdAt, vmi, accel, published, starter } = fields(value);
  return (
    isText(podUid, uuid) &&
    typeof createdAt === "string" &&
    !Number.isNaN(Date.parse(createdAt)) &&
    isVmi(vmi) &&
    (accel === "kvm" || accel === "tcg") &&
    Array.isArray(published) &&
    published.every(isPort) &&
    isProcessIdentity(starter)
  );
}

function isVmi(value: unknown): boolean {
  const { metadata, spec } = fields(value);
  const { domain, volumes = [] } = fields(spec);
  return (
    isText(fields(metadata)["uid"], vmiUid) &&
    isObject(fields(domain)["devices"]) &&
    Array.isArray(volumes) &&
    volumes.every(isObject)
  );
}

function isPort(value: unknown): boolean {
  const { protocol, address, host, guest } = fields(value);
  return (
    (protocol === "tcp" || protocol === "udp") &&
    (address === undefined || typeof address === "string") &&
    Number.isInteger(host) &&
    Number.isInteger(guest)
  );
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === "string" && pattern.test(value);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return Object(value) as Record<string, unknown>;
}
