import { isObject } from "../shape.ts";
import { quote } from "./cause.ts";

/** An argument that cannot be used. */
export interface ArgumentProblem {
  readonly argument: string;
  readonly message: string;
}

/** The first of some named arguments that is not an object, as callers without types may pass it. */
export function argumentProblem(
  args: Readonly<Record<string, unknown>>,
): ArgumentProblem | undefined {
  const unusable = Object.entries(args).find(([, value]) => !isObject(value));
  if (!unusable) return undefined;
  const [argument, value] = unusable;
  return { argument, message: `${argument} must be an object; found ${quote(value)}` };
}
