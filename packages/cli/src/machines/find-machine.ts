import type { MachineRecord } from "@virtkit/node-agent/local";
import { UsageError } from "../usage-error.ts";

/** The machine that a user means by `NAME` or `NAMESPACE/NAME`. */
export async function findMachine(
  stateDirectory: string,
  names: readonly string[],
): Promise<MachineRecord> {
  const [text, ...more] = names;
  if (text === undefined || more.length > 0) {
    throw new UsageError("give the name of one machine; virtkit ps lists them");
  }
  const [name = "", namespace = "default"] = text.split("/", 2).reverse();
  const { readRecord } = await import("@virtkit/node-agent/local");
  const record = await readRecord(stateDirectory, namespace, name);
  if (record) return record;
  throw new Error(
    `there is no machine "${text}"; virtkit ps lists them, virtkit run -f FILE starts one`,
  );
}

/** How a machine is called on the command line. */
export function machineName({
  namespace,
  name,
}: Pick<MachineRecord, "namespace" | "name">): string {
  return namespace === "default" ? name : `${namespace}/${name}`;
}
