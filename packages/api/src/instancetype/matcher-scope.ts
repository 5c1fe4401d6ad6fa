/** The scope of an instance type or a preference: namespace or cluster. */
export type MatcherScope = "cluster" | "namespace";

/**
 * The scope that a matcher's `kind` names: in upper or lower case, singular or plural; cluster-wide if it is
 * empty. `undefined` for an unknown kind.
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
