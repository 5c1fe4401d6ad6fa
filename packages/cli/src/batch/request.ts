/** The value behind a path of fields of a request, or undefined where the path ends early. */
export function nested(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, key)) {
      return undefined;
    }
    current = (current as Record<string, unknown>)[key];
  }
  return current ?? undefined;
}

/** `spec.configuration` of the KubeVirt object in a request's context. */
export function configuration(context: unknown): unknown {
  return nested(context, "kubevirt", "configuration") ?? nested(context, "configuration") ?? {};
}

export function isGateOn(context: unknown, gate: string): boolean {
  const developer = nested(configuration(context), "developerConfiguration");
  const lists = (name: string): boolean =>
    (nested(developer, name) as string[] | undefined)?.includes(gate) ?? false;
  return lists("featureGates") || !lists("disabledFeatureGates");
}
