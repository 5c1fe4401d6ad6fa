import { check } from "./check.ts";
import { formatPath, type Issue } from "./issue.ts";
import type { SchemaNode } from "./schema.ts";

/** Where a value does not match its schema. */
export interface ShapeProblem {
  /** For example `spec.volumes[0].name`. */
  readonly path: string;
  /** What is wrong there; begins with the path. */
  readonly message: string;
}

/** The first relevant problem of a value; by default all are relevant. */
export function shapeProblem(
  schema: SchemaNode,
  value: unknown,
  matters?: (issue: Issue) => boolean,
): ShapeProblem | undefined {
  const { issues } = check(schema, value, matters ? {} : { maxIssues: 1 });
  const issue = matters ? issues.find(matters) : issues[0];
  return issue && { path: formatPath(issue.path), message: issue.message };
}

/** The first place where a value has the wrong type. Fields may be missing, because defaults may add them. */
export function typeProblem(schema: SchemaNode, value: unknown): ShapeProblem | undefined {
  return shapeProblem(schema, value, ({ code }) => code !== "required");
}

/** What {@link guardShape} throws. */
export interface ShapeRefusal {
  /** Whether an error already says what is wrong: then it is rethrown unchanged. */
  isOwn(cause: unknown): boolean;
  /**
   * The error for a value of another shape; without a problem the shape is valid, and something else failed.
   */
  refuse(problem: ShapeProblem | undefined, cause: unknown): unknown;
}

/**
 * Runs a function on a value that may not have been checked. If the value does not match its type (a list that
 * is a string, a `null` among volumes), the failure becomes an error that names the first field that the schema
 * rejects. A well-formed value costs nothing.
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
