import { check } from "./check.ts";
import { formatPath, type Issue } from "./issue.ts";
import type { SchemaNode } from "./schema.ts";

/** Where a value has not the shape of its schema. */
export interface ShapeProblem {
  /** As `spec.volumes[0].name`. */
  readonly path: string;
  /** What is wrong there; begins with the path. */
  readonly message: string;
}

/** The first of a value's problems, of those that matter: by default all. */
export function shapeProblem(
  schema: SchemaNode,
  value: unknown,
  matters?: (issue: Issue) => boolean,
): ShapeProblem | undefined {
  const { issues } = check(schema, value, matters ? {} : { maxIssues: 1 });
  const issue = matters ? issues.find(matters) : issues[0];
  return issue && { path: formatPath(issue.path), message: issue.message };
}

/** The first place where a value has the wrong type. What is missing may be missing: defaults may add it. */
export function typeProblem(schema: SchemaNode, value: unknown): ShapeProblem | undefined {
  return shapeProblem(schema, value, ({ code }) => code !== "required");
}

/** What {@link guardShape} throws. */
export interface ShapeRefusal {
  /** Whether an error says itself what is wrong: then it is thrown as it is. */
  isOwn(cause: unknown): boolean;
  /** The error for a value of another shape; without a problem the shape is sound, and something else failed. */
  refuse(problem: ShapeProblem | undefined, cause: unknown): unknown;
}

/**
 * Runs a function on a value that may never have been checked. It reads the value as its type says; where
 * that lies (a list that is a string, a `null` among volumes) the failure becomes an error that names the
 * field of which the schema complains first. A well-formed value pays nothing.
 */
export function guardShape<T>(
  schema: SchemaNode,
  value: unknown,
  run: () => T,
  { isOwn, refuse }: ShapeRefusal,
): T {
  try {
    return run();
  } catch (cause) {
    throw isOwn(cause) ? cause : refuse(shapeProblem(schema, value), cause);
  }
}
