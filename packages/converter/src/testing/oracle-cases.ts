import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";
import type { Environment } from "../resolve/environment.ts";
import { diffXmlTrees, readXmlTree } from "./xml-tree.ts";

/** A recorded conversion of KubeVirt's. */
export interface OracleCase {
  readonly name: string;
  /** The VMI before its defaults were set, as YAML. */
  readonly vmiYaml: string;
  /** The VMI with its defaults; absent if setting them failed. */
  readonly vmi: VirtualMachineInstance | undefined;
  readonly environment: Environment;
  /** Absent if making it failed. */
  readonly resolved: ConverterContext | undefined;
  /** Absent if the conversion failed. */
  readonly xml: string | undefined;
  readonly error: string | undefined;
  readonly launcherXml: string | undefined;
  readonly launcherError: string | undefined;
  readonly launcherCounts: Readonly<Record<string, unknown>> | undefined;
}

const root = process.env["VIRTKIT_ORACLE_DIR"];

/** Why tests against the oracle cannot run; `undefined` if they can. */
export const oracleMissing: string | undefined =
  root === undefined ? "VIRTKIT_ORACLE_DIR is not set" : undefined;

/** All recorded conversions; where their folder holds none, an error: nothing would be compared. */
export function oracleCases(): OracleCase[] {
  if (root === undefined) return [];
  const directory = join(root, "converter/public");
  const names = readdirSync(directory);
  if (names.length === 0) throw new Error(`${directory} holds no recorded case`);
  return names.map((name) => readCase(join(directory, name), name));
}

function readCase(directory: string, name: string): OracleCase {
  const text = (file: string): string | undefined => {
    const path = join(directory, file);
    return existsSync(path) ? readFileSync(path, "utf8") : undefined;
  };
  const json = <T>(file: string): T | undefined => {
    const found = text(file);
    return found === undefined ? undefined : (JSON.parse(found) as T);
  };
  const context = json<Pick<OracleCase, "environment" | "resolved">>("context.json");
  return {
    name,
    vmiYaml: text("vmi.yaml") ?? "",
    vmi: json("vmi.defaulted.json"),
    environment: context?.environment ?? {},
    resolved: context?.resolved,
    xml: text("domain.xml"),
    error: text("error.txt"),
    launcherXml: text("launcher.xml"),
    launcherError: text("launcher.error.txt"),
    launcherCounts: json("launcher.json"),
  };
}

/** What is compared of a case: a document, counts, or that there was an error. */
interface Expected {
  readonly name: string;
  readonly xml: string | undefined;
  readonly error: string | undefined;
  readonly counts?: Readonly<Record<string, unknown>> | undefined;
}

/** One line for each case that comes out otherwise than it did in KubeVirt. */
export function differences<T extends Expected>(
  cases: readonly T[],
  answer: (recorded: T) => { xml: string; counts?: object },
): string[] {
  return cases.flatMap((recorded) => {
    const found = difference(recorded, answer);
    return found === undefined ? [] : [`${recorded.name}: ${found}`];
  });
}

function difference<T extends Expected>(
  recorded: T,
  answer: (recorded: T) => { xml: string; counts?: object },
): string | undefined {
  let found: { xml: string; counts?: object };
  try {
    found = answer(recorded);
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== "ConverterError" && name !== "ApiError") return `threw ${name}: ${message}`;
    return recorded.error === undefined ? `failed: ${message}` : undefined;
  }
  if (recorded.error !== undefined) return `did not fail; KubeVirt: ${recorded.error.trim()}`;
  if (recorded.counts && !sameCounts(found.counts ?? {}, recorded.counts)) {
    return `${JSON.stringify(found.counts)}, not ${JSON.stringify(recorded.counts)}`;
  }
  if (recorded.xml === undefined) return undefined;
  const [first, ...others] = diffXmlTrees(readXmlTree(found.xml), readXmlTree(recorded.xml));
  return first === undefined ? undefined : `${first} (and ${others.length} more)`;
}

function sameCounts(found: object, wanted: Readonly<Record<string, unknown>>): boolean {
  const counts = found as Record<string, unknown>;
  return Object.keys(wanted).every((key) => counts[key] === wanted[key]);
}
