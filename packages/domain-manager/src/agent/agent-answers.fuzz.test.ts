import fc from "fast-check";
import { expect, test } from "vitest";
import { isDomainManagerError } from "../domain-manager-error.ts";
import * as answers from "./agent-answers.ts";
import { readExecStatus, readPid } from "./agent-exec.ts";
import { AgentReply } from "./agent-reply.ts";

type Reader = (reply: AgentReply) => unknown;

const readers: Readonly<Record<string, Reader>> = {
  "guest-get-osinfo": answers.readOs,
  "guest-get-host-name": answers.readHostname,
  "guest-get-timezone": answers.readTimezone,
  "guest-network-get-interfaces": answers.readInterfaces,
  "guest-get-fsinfo": answers.readFileSystems,
  "guest-get-users": answers.readUsers,
  "guest-info": answers.readAgentInfo,
  "guest-fsfreeze-status": answers.readFsFreeze,
  "guest-exec": readPid,
  "guest-exec-status": readExecStatus,
};

/** Names that the parsers look for, so that random replies get past the first field. */
const names = [
  ...["id", "name", "pretty-name", "version", "host-name", "zone", "offset", "hardware-address"],
  ...[
    "ip-addresses",
    "ip-address",
    "mountpoint",
    "type",
    "disk",
    "bus-type",
    "serial",
    "used-bytes",
  ],
  ...["user", "domain", "login-time", "supported_commands", "enabled", "pid", "exited", "exitcode"],
  ...["signal", "__proto__", "constructor", "toString"],
];

const evilText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.constantFrom("\u001b]0;pwned\u0007", "a\nb", "\u202E", "\u0000", "x".repeat(6000), "10.0.0.1"),
);
const leaf = fc.oneof(evilText, fc.double(), fc.integer(), fc.boolean(), fc.constant(null));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "medium", maxDepth: 5 },
    leaf,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 8 }),
  ),
})).value;
/** One entry repeated many times, as a guest would do to fill memory. */
const longList = fc
  .oneof(
    fc.constantFrom({ user: "u", "login-time": 1 }, { name: "eth0" }, null),
    fc.integer(),
    fc.string({ unit: "binary", maxLength: 20 }),
  )
  .map((entry): unknown => Array(1100).fill(entry));
const text = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.oneof(value, longList).map((found) => JSON.stringify({ return: found })),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 200 }) },
);

/** What must hold for everything that a parser accepts. */
function isBounded(found: unknown): boolean {
  if (typeof found === "string") {
    return found.length <= answers.agentLimits.path && !/[\p{Cc}\p{Cf}\p{Cs}]/u.test(found);
  }
  if (typeof found === "number") return Number.isFinite(found);
  if (Array.isArray(found)) return found.length <= 1024 && found.every(isBounded);
  if (typeof found !== "object" || found === null) return found !== null;
  return Object.getPrototypeOf(found) === Object.prototype && Object.values(found).every(isBounded);
}

/**
 * Whether a parser withstands one reply: it returns something bounded, or throws the one error that
 * names the command.
 */
function withstands(command: string, read: (text: string) => unknown, reply: string): boolean {
  try {
    const found = read(reply);
    // A program's output is passed on as it is.
    return command === "guest-exec-status" || isBounded(found);
  } catch (error) {
    if (!isDomainManagerError(error) || error.code !== "DOMAIN_AGENT") return false;
    return error.message.includes(command) && error.message.length < 300;
  }
}

const attack = (command: string, read: (text: string) => unknown): fc.RunDetails<[string]> =>
  fc.check(
    fc.property(text, (reply) => withstands(command, read, reply)),
    { numRuns: 300, endOnFailure: true },
  );

test.each(Object.entries(readers))("%s withstands what a guest may answer", (command, read) => {
  const { counterexample } = attack(command, (reply) =>
    read(AgentReply.parse(command, reply, 1 << 20)),
  );
  expect(counterexample).toBe(null);
});

/** Parsers by someone who trusts the guest. */
const planted: Readonly<Record<string, (text: string) => unknown>> = {
  "accepts any JSON": (reply) => JSON.parse(reply).return,
  "trusts the type": (reply) => {
    const { return: users } = JSON.parse(reply) as { return: { user: string }[] };
    return users.map(({ user }) => user.slice(0, 256));
  },
  "accepts every entry": (reply) =>
    AgentReply.parse("guest-x", reply, 1 << 20).list(Number.POSITIVE_INFINITY, () => 1),
};

test.each(Object.entries(planted))("the same attack finds a reader that %s", (_, read) => {
  expect(attack("guest-x", read).counterexample).not.toBe(null);
});
