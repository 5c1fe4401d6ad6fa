import type { ClusterConfig } from "../config/index.ts";
import type {
  ClaimRequest,
  VirtualMachineInstanceResourceClaim,
  VirtualMachineInstanceSpec,
} from "../schema/index.ts";
import { isSet } from "../shape.ts";
import { type Cause, duplicate, each, fine, invalid, join, quote, required } from "./cause.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "./kubernetes-name.ts";
import { firstIndexByClaim } from "./network-claim.ts";

/** ResourceClaims (dynamic resource allocation), and the devices from them. */
export function resourceClaims(
  spec: VirtualMachineInstanceSpec,
  at: string,
  config: ClusterConfig,
): readonly Cause[] {
  const { gpus = [], hostDevices = [] } = spec.domain.devices;
  const listed = spec.resourceClaims ?? [];
  if (listed.length + gpus.length + hostDevices.length === 0) return fine;
  const ofGpus = devices(gpus, {
    field: `${at}.domain.devices.gpus`,
    gate: config.gate("GPUsWithDRA") ? undefined : "GPUsWithDRA",
    mayMix: false,
  });
  const ofHostDevices = devices(hostDevices, {
    field: `${at}.domain.devices.hostDevices`,
    gate: config.gate("HostDevicesWithDRA") ? undefined : "HostDevicesWithDRA",
    mayMix: true,
  });
  const ofNetworks = config.gate("NetworkDevicesWithDRA") ? firstIndexByClaim(spec) : new Map();
  return join(
    claimList(listed, `${at}.resourceClaims`),
    ofGpus.causes,
    ofHostDevices.causes,
    sharedRequests([
      [`${at}.domain.devices.gpus`, ofGpus.firstOf],
      [`${at}.domain.devices.hostDevices`, ofHostDevices.firstOf],
      [`${at}.networks`, ofNetworks],
    ]),
    unlisted(listed, [...ofGpus.claims, ...ofHostDevices.claims], `${at}.resourceClaims`),
  );
}

function claimList(
  claims: readonly VirtualMachineInstanceResourceClaim[],
  at: string,
): readonly Cause[] {
  const seen = new Set<string>();
  return each(claims, (claim, i) => {
    const field = `${at}[${i}]`;
    return join(claimName(claim.name, seen, `${field}.name`), claimTarget(claim, field));
  });
}

function claimName(name: string, seen: Set<string>, field: string): readonly Cause[] {
  if (!name) return required(field, "is missing; devices refer to a claim by its name");
  if (seen.has(name))
    return duplicate(field, `is ${quote(name)}, as in an earlier claim; rename one of them`);
  seen.add(name);
  const problems = dnsLabelProblems(name);
  return problems.length === 0
    ? fine
    : invalid(field, `is ${quote(name)}, which ${problems.join(", and ")}`);
}

function claimTarget(claim: VirtualMachineInstanceResourceClaim, field: string): readonly Cause[] {
  const targets = ["resourceClaimName", "resourceClaimTemplateName"] as const;
  const set = targets.filter((target) => isSet(claim[target]));
  return join(
    set.length === 1
      ? fine
      : invalid(
          field,
          `has ${set.length === 0 ? "neither" : "both"} of ${targets.join(", ")}; set one`,
        ),
    each(set, (target) =>
      each(dnsSubdomainProblems(claim[target] ?? ""), (problem) =>
        invalid(`${field}.${target}`, `is ${quote(claim[target])}, which ${problem}`),
      ),
    ),
  );
}

/** A GPU or host device: a device plugin's resource by name, or a request of a claim. */
interface Device extends ClaimRequest {
  readonly deviceName?: string;
}

interface Devices {
  readonly causes: readonly Cause[];
  /** Claims that complete requests use. */
  readonly claims: readonly string[];
  /** The first device of each complete pair of claim and request. */
  readonly firstOf: ReadonlyMap<string, number>;
}

function devices(
  all: readonly Device[],
  { field, gate, mayMix }: { field: string; gate: string | undefined; mayMix: boolean },
): Devices {
  const none = { claims: [], firstOf: new Map<string, number>() };
  const claimed = all.filter(isClaimed);
  const plain = all.filter((device) => !isClaimed(device));
  if (!mayMix && claimed.length > 0 && plain.length > 0) {
    const text = "mixes devices with deviceName and devices from resource claims; use one kind";
    return { causes: invalid(field, text), ...none };
  }
  const plainCauses = each(plain, (device) => plainDevice(device, field));
  if (claimed.length > 0 && gate) {
    const text = `has devices from resource claims, but the feature gate ${gate} is off; turn it on`;
    return { causes: join(plainCauses, invalid(field, text)), ...none };
  }
  const requests = claimRequests(all, field);
  return { ...requests, causes: join(plainCauses, requests.causes) };
}

function isClaimed(device: Device): boolean {
  return !device.deviceName && hasClaim(device);
}

/** The two fields of a claim request are in the device itself; either makes it one. */
function hasClaim({ claimName, requestName }: Device): boolean {
  return isSet(claimName) || isSet(requestName);
}

function plainDevice(device: Device, field: string): readonly Cause[] {
  if (!device.deviceName) {
    return required(
      field,
      "has an entry without deviceName and without claimName and requestName; set one kind",
    );
  }
  if (!hasClaim(device)) return fine;
  return invalid(
    field,
    `has an entry with deviceName ${quote(device.deviceName)} and a resource claim; keep one`,
  );
}

function claimRequests(all: readonly Device[], field: string): Devices {
  const firstOf = new Map<string, number>();
  const claims: string[] = [];
  const causes = each(all, (device, i) => {
    if (!isClaimed(device)) return fine;
    const { claimName, requestName } = device;
    if (!claimName || !requestName) return incomplete(device, `${field}[${i}]`);
    claims.push(claimName);
    const pair = `${claimName}/${requestName}`;
    if (firstOf.has(pair)) {
      return duplicate(
        `${field}[${i}]`,
        `uses ${quote(pair)}, as an earlier one does; each request is one device`,
      );
    }
    firstOf.set(pair, i);
    return fine;
  });
  return { causes, claims, firstOf };
}

function incomplete({ claimName, requestName }: Device, field: string): readonly Cause[] {
  return join(
    claimName
      ? fine
      : required(`${field}.claimName`, "is missing; name an entry of resourceClaims"),
    requestName
      ? fine
      : required(`${field}.requestName`, "is missing; name a request of the claim"),
  );
}

/** A request is one device, so two lists cannot both use it. */
function sharedRequests(
  lists: readonly (readonly [field: string, firstOf: ReadonlyMap<string, number>])[],
): readonly Cause[] {
  const owner = new Map<string, string>();
  return each(lists, ([field, firstOf]) =>
    [...firstOf].flatMap(([pair, i]) => {
      const earlier = owner.get(pair);
      if (!earlier) owner.set(pair, `${field}[${i}]`);
      return earlier
        ? duplicate(`${field}[${i}]`, `uses ${quote(pair)}, as ${earlier} does`)
        : fine;
    }),
  );
}

function unlisted(
  listed: readonly VirtualMachineInstanceResourceClaim[],
  used: readonly string[],
  field: string,
): readonly Cause[] {
  const names = new Set(listed.map(({ name }) => name));
  const missing = used.find((name) => !names.has(name));
  if (missing === undefined) return fine;
  return invalid(field, `does not list ${quote(missing)}, which a device uses; add it`);
}
