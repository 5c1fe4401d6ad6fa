/** Where an instance type or a preference lives. */
export type MatcherScope = "cluster" | "namespace";

/**
 * The scope that a matcher's `kind` names: in any case, singular or plural; the cluster's if it is empty.
 * `undefined` for a kind that nobody knows.
 */
export function matcherScope(
  matcher: "instancetype" | "preference",
  kind: string,
): MatcherScope | undefined {
  const name = kind.toLowerCase().replace(/s$/, "");
  if (name === "") return kind === "" ? "cluster" : undefined;
  if (name === `virtualmachinecluster${matcher}`) return "cluster";
  return name === `virtualmachine${matcher}` ? "namespace" : undefined;
}
