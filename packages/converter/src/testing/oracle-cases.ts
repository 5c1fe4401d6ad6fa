import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import type { ConverterContext } from "../context.ts";

/** A recorded conversion of KubeVirt's. */
export interface OracleCase {
  readonly name: string;
  /** The VMI before its defaults were set, as YAML. */
  readonly vmiYaml: string;
  /** The VMI with its defaults; absent if setting them failed. */
  readonly vmi: VirtualMachineInstance | undefined;
  readonly environment: Readonly<Record<string, unknown>>;
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

/** All recorded conversions. */
export function oracleCases(): OracleCase[] {
  if (root === undefined) return [];
  const directory = join(root, "converter/public");
  return readdirSync(directory).map((name) => readCase(join(directory, name), name));
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
