import { parseIp } from "../addresses/ip-address.ts";
import type { VirtualMachineInstanceSpec } from "../schema/index.ts";
import {
  type Cause,
  each,
  fine,
  invalid,
  join,
  notSupported,
  oneOf,
  quote,
  required,
} from "./cause.ts";
import { dnsSubdomainProblems, utf8Length } from "./kubernetes-name.ts";

const policies: ReadonlySet<string> = new Set([
  "ClusterFirstWithHostNet",
  "ClusterFirst",
  "Default",
  "None",
]);

/** Limits of the resolver in the Pod. */
const most = { nameservers: 3, searches: 6, searchCharacters: 256 } as const;

/** Kubernetes' rules for DNS, applied early. The reported paths lack `spec.dnsConfig`, as in KubeVirt. */
export function dns(spec: VirtualMachineInstanceSpec, at: string): readonly Cause[] {
  const { dnsPolicy, dnsConfig } = spec;
  if (!dnsPolicy && !dnsConfig) return fine;
  return join(policy(dnsPolicy, `${at}.dnsPolicy`), config(spec, `${at}.dnsConfig`));
}

function policy(found: string | undefined, field: string): readonly Cause[] {
  if (!found || policies.has(found)) return fine;
  return notSupported(field, `is ${quote(found)}; use ${oneOf(policies)}`);
}

function config(
  { dnsPolicy, dnsConfig }: VirtualMachineInstanceSpec,
  at: string,
): readonly Cause[] {
  if (dnsPolicy === "None" && !dnsConfig) {
    return required(at, "is missing, but dnsPolicy is None; list nameservers there");
  }
  if (!dnsConfig) return fine;
  const { nameservers = [], searches = [], options = [] } = dnsConfig;
  if (dnsPolicy === "None" && nameservers.length === 0) {
    return required(
      "nameservers",
      "is empty, but dnsPolicy is None; list at least one",
      `${at}.nameservers`,
    );
  }
  return join(
    nameserverList(nameservers, `${at}.nameservers`),
    searchList(searches, `${at}.searches`),
    options
      .filter(({ name }) => !name)
      .flatMap(() => invalid("options", "has an entry without a name; set it", `${at}.options`)),
  );
}

function nameserverList(servers: readonly string[], subject: string): readonly Cause[] {
  const field = "nameservers";
  return join(
    servers.length > most.nameservers
      ? invalid(
          field,
          `has ${servers.length} entries; at most ${most.nameservers} are allowed`,
          subject,
        )
      : fine,
    servers
      .filter((server) => !parseIp(server))
      .flatMap((server) =>
        invalid(field, `has ${quote(server)}, which is not an IP address`, subject),
      ),
  );
}

function searchList(searches: readonly string[], subject: string): readonly Cause[] {
  const field = "searchDomains";
  return join(
    searches.length > most.searches
      ? invalid(
          field,
          `has ${searches.length} entries; at most ${most.searches} are allowed`,
          subject,
        )
      : fine,
    utf8Length(searches.join(" ")) > most.searchCharacters
      ? invalid(
          field,
          `has more than ${most.searchCharacters} characters in total; shorten it`,
          subject,
        )
      : fine,
    each(searches, (search) =>
      each(dnsSubdomainProblems(search), (problem) =>
        invalid(field, `has ${quote(search)}, which ${problem}`, subject),
      ),
    ),
  );
}
