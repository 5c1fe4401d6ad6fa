import type { Container, Pod } from "@virtkit/launcher-pod";

/** A container's variables, with references to fields of the Pod resolved. */
export function containerEnvironment(pod: Pod, { env = [] }: Container): Record<string, string> {
  return Object.fromEntries(
    env.map(({ name, value, valueFrom }) => [
      name,
      value ?? podField(pod, valueFrom?.fieldRef.fieldPath ?? ""),
    ]),
  );
}

/**
 * A string or a map of the Pod's metadata by its path: `metadata.uid`, `metadata.labels['a']`.
 * Empty if there is none.
 */
export function podField({ metadata }: Pod, path: string): string {
  const [, name = "", key] = /^metadata\.(\w+)(?:\['(.+)'\])?$/.exec(path) ?? [];
  const value: unknown = (Object(metadata) as Record<string, unknown>)[name];
  if (key !== undefined) return (Object(value) as Record<string, string>)[key] ?? "";
  if (typeof value === "string") return value;
  return Object.entries(Object(value) as Record<string, string>)
    .map(([entry, text]) => `${entry}=${JSON.stringify(text)}`)
    .join("\n");
}

/** A command line with `$(NAME)` replaced by the variable, as a kubelet does; `$$(NAME)` stays `$(NAME)`. */
export function expandCommand(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): string[] {
  return command.map((part) =>
    part.replaceAll(/(\$\$)|\$\(([\w.-]+)\)/g, (text, escaped: string | undefined, name = "") => {
      if (escaped !== undefined) return "$";
      return Object.hasOwn(env, name) ? (env[name] ?? "") : text;
    }),
  );
}
