import type { Quantity } from "@virtkit/api/quantity";
import type { QuantityInput } from "@virtkit/api/schema";
import type { ContainerResources, ResourceList } from "../pod/container.ts";
import { readAmount } from "../read-amount.ts";

type Amounts = Map<string, Quantity>;

/**
 * The compute container's resources while rules work on them. What the VMI sets, as adjusted by rules, takes
 * precedence over what rules have derived.
 */
export interface ResourceSheet {
  readonly limits: Amounts;
  readonly requests: Amounts;
  readonly derivedLimits: Amounts;
  readonly derivedRequests: Amounts;
  readonly claims: NonNullable<ContainerResources["claims"]>;
}

/** A sheet with what the VMI sets. */
export function openSheet(
  limits: Readonly<Record<string, QuantityInput>> | undefined,
  requests: Readonly<Record<string, QuantityInput>> | undefined,
): ResourceSheet {
  return {
    limits: readAmounts(limits, "limits"),
    requests: readAmounts(requests, "requests"),
    derivedLimits: new Map(),
    derivedRequests: new Map(),
    claims: [],
  };
}

function readAmounts(
  list: Readonly<Record<string, QuantityInput>> | undefined,
  bound: string,
): Amounts {
  const amounts: Amounts = new Map();
  for (const [name, value] of Object.entries(list ?? {})) {
    amounts.set(name, readAmount(value, `spec.domain.resources.${bound}.${name}`));
  }
  return amounts;
}

/** Adds an amount to one that may be missing. */
export function increase(amounts: Amounts, name: string, by: Quantity): void {
  const old = amounts.get(name);
  amounts.set(name, old ? old.add(by) : by);
}

/** The resources in the form of a container. */
export function closeSheet(sheet: ResourceSheet): ContainerResources {
  const resources: ContainerResources = {};
  const limits = merge(sheet.derivedLimits, sheet.limits);
  const requests = merge(sheet.derivedRequests, sheet.requests);
  if (limits) resources.limits = limits;
  if (requests) resources.requests = requests;
  if (sheet.claims.length > 0) resources.claims = sheet.claims;
  return resources;
}

function merge(derived: Amounts, stated: Amounts): ResourceList | undefined {
  if (derived.size === 0 && stated.size === 0) return undefined;
  const list: ResourceList = {};
  for (const [name, amount] of derived) list[name] = amount.toString();
  for (const [name, amount] of stated) list[name] = amount.toString();
  return list;
}
