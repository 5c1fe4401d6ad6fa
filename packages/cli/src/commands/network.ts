import { readFile } from "node:fs/promises";
import type { VirtualMachineInstance } from "@virtkit/api/schema";
import {
  type NetworkPlan,
  operationText,
  type PodNic,
  planBinding,
} from "@virtkit/network-setup/plan";
import { readManifests } from "@virtkit/node-agent/manifests";
import { type Io, writeAll } from "../io.ts";
import { outputFormat, writeObjects } from "../output.ts";
import { parseOptions } from "../parse-options.ts";
import { UsageError } from "../usage-error.ts";

/** Text of `virtkit network --help`. */
export const help = `Usage: virtkit network plan -f VMI --nics NICS [OPTION]...

Prints how the guest is connected to the Pod's network: every step, how to undo it, and what the guest and
the domain get. Changes nothing.

  -f, --filename VMI            YAML or JSON with one VirtualMachineInstance; - is stdin
      --nics NICS               JSON with the interfaces that were found in the Pod
      --primary-family FAMILY   ipv4 (default) or ipv6: the cluster's primary IP family
      --flow FLOW               startup (default), liveUpdate or migrationTarget
  -o, --output FORMAT           text (default), json or yaml

Exit codes: 0 done, 1 no plan can be made, 2 wrong usage.`;

const flows = ["startup", "liveUpdate", "migrationTarget"] as const;

/** Prints the plan; exits 1 with the reason if there is none. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions(args, {
    allowPositionals: true,
    options: {
      filename: { type: "string", short: "f" },
      nics: { type: "string" },
      "primary-family": { type: "string" },
      flow: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  if (positionals.length !== 1 || positionals[0] !== "plan") {
    throw new UsageError("network has one subcommand: virtkit network plan");
  }
  const { filename, nics } = values;
  if (filename === undefined || nics === undefined) {
    throw new UsageError("pass the VMI with -f FILE and the Pod's interfaces with --nics FILE");
  }
  const format = outputFormat(values.output, ["text", "json", "yaml"]);
  const primaryFamily = outputChoice("--primary-family", values["primary-family"], [
    "ipv4",
    "ipv6",
  ]);
  const flow = outputChoice("--flow", values.flow, flows);
  const vmi = await readVmi(filename, io);
  const plan = planBinding(vmi, await readNics(nics), { primaryFamily, flow });
  if (format === "text") await writeAll(io.stdout, planText(plan));
  else await writeObjects(io, [plan], format);
  return 0;
}

function outputChoice<const T extends string>(
  option: string,
  value: string | undefined,
  allowed: readonly [T, ...T[]],
): T {
  const chosen = value === undefined ? allowed[0] : allowed.find((known) => known === value);
  if (chosen === undefined) {
    throw new UsageError(`${option} ${value}: use one of ${allowed.join(", ")}`);
  }
  return chosen;
}

async function readVmi(file: string, io: Io): Promise<VirtualMachineInstance> {
  const { documents, problems } = await readManifests([file], io);
  const [problem] = problems;
  if (problem) throw new Error(`${file}:${problem.line}:${problem.column}: ${problem.message}`);
  const [document, second] = documents;
  const { kind } = Object(document?.value) as { kind?: unknown };
  if (kind !== "VirtualMachineInstance" || second) {
    throw new Error(`${file} must contain one VirtualMachineInstance`);
  }
  return document?.value as VirtualMachineInstance;
}

async function readNics(file: string): Promise<readonly PodNic[]> {
  let value: unknown;
  try {
    value = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} cannot be read as JSON: ${(error as Error).message}`);
  }
  const list = Array.isArray(value) ? value : [];
  if (list.length > 0 && list.every(isNic)) return list;
  throw new Error(
    `${file} must be a list of interfaces with name, index, type, mac, mtu, state, addresses and routes`,
  );
}

function isNic(value: unknown): value is PodNic {
  const { name, index, mac, mtu, addresses, routes } = Object(value) as Partial<PodNic>;
  return (
    typeof name === "string" &&
    typeof index === "number" &&
    typeof mac === "string" &&
    typeof mtu === "number" &&
    Array.isArray(routes) &&
    Array.isArray(addresses) &&
    addresses.every((address) => typeof Object(address).cidr === "string")
  );
}

/** A plan for people: what each interface becomes, then the steps, then how to undo them. */
export function planText({ bindings, steps }: NetworkPlan): string {
  const lines: string[] = [];
  for (const { network, kind, podInterface, podIps, domain, dhcp } of bindings) {
    lines.push(
      `network ${network}: ${kind} on ${podInterface}, ${podIps.join(" ") || "no address"}`,
    );
    if (domain)
      lines.push(`  domain: mac ${domain.mac}, mtu ${domain.mtu}, device ${domain.target}`);
    if (dhcp?.config.disabled === false) {
      const { ip, ipv6, gateway } = dhcp.config;
      const addresses = [ip, ipv6].filter((address) => address !== "").join(" ");
      lines.push(
        `  guest: ${addresses || "no address"} by DHCP on ${dhcp.link}, gateway ${gateway || "none"}`,
      );
    }
  }
  const forward = steps.flatMap(({ operation }) => operationText(operation));
  const back = steps.toReversed().flatMap(({ undo }) => undo.flatMap(operationText));
  lines.push("", `${forward.length} steps:`, ...forward.map((line) => `  ${line}`));
  lines.push("", "to undo:", ...back.map((line) => `  ${line}`));
  return `${lines.join("\n")}\n`;
}
