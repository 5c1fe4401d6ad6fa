import { inspect } from "node:util";
import type { AccessCredential, VirtualMachineInstance } from "@virtkit/api/schema";
import { expect, test } from "vitest";
import { agentSecretNames } from "../mounted-secret-names.ts";
import type { MountedSecrets } from "../mounted-secrets.ts";
import { sealText } from "../sealed.ts";
import type { AccessAgent } from "./access-agent.ts";
import { applyAccess } from "./apply-access.ts";
import { planAccess } from "./plan-access.ts";

function vmi(...accessCredentials: AccessCredential[]): VirtualMachineInstance {
  return { spec: { domain: { devices: {} }, accessCredentials } };
}

const keysOf = (secretName: string, ...users: string[]): AccessCredential => ({
  sshPublicKey: {
    source: { secret: { secretName } },
    propagationMethod: { qemuGuestAgent: { users } },
  },
});
const passwordsOf = (secretName: string): AccessCredential => ({
  userPassword: { source: { secret: { secretName } }, propagationMethod: { qemuGuestAgent: {} } },
});

function secrets(
  files: Readonly<Record<string, Readonly<Record<string, string>>>>,
): MountedSecrets {
  return new Map(
    Object.entries(files).map(([name, content]) => [
      `${name}-access-cred`,
      new Map(Object.entries(content).map(([file, text]) => [file, sealText(text)])),
    ]),
  );
}

/** An agent with a user database that records what it is told. */
function agent(overrides: Partial<AccessAgent> = {}): AccessAgent & { readonly calls: string[] } {
  const calls: string[] = [];
  const files = new Map<string, string>();
  return {
    calls,
    ping: async () => {},
    setAuthorizedKeys: async (user, keys) => void calls.push(`keys ${user} ${keys.join(",")}`),
    setUserPassword: async (user, password) => void calls.push(`password ${user} ${password}`),
    exec: async (program, args) => {
      calls.push([program, ...args].join(" "));
      return program === "getent" ? `${args[1]}:x:1000:100:A User:/home/${args[1]}:/bin/sh\n` : "";
    },
    readFile: async (path) => files.get(path),
    writeFile: async (path, content) => {
      calls.push(`write ${path}`);
      files.set(path, content);
    },
    ...overrides,
  };
}

const tooOld = async () => {
  throw new Error("guest-ssh-add-authorized-keys: command not found");
};

test("collects a user's keys from all Secrets that name the user, one per line", async () => {
  const subject = vmi(keysOf("a", "fedora", "root"), keysOf("b", "fedora"), passwordsOf("p"));
  const mounted = secrets({
    a: { k1: "key1 \n\n key2\n", "..data": "no" },
    b: { k: "key3" },
    p: { fedora: " pw \n", empty: "\n" },
  });
  const guest = agent();
  expect(await applyAccess(planAccess(subject, mounted), guest)).toEqual({
    succeeded: true,
    message: "",
  });
  expect(guest.calls).toEqual([
    "keys fedora key1,key2,key3",
    "keys root key1,key2",
    "password fedora pw",
  ]);
  expect(agentSecretNames(subject)).toEqual(["a-access-cred", "b-access-cred", "p-access-cred"]);
});

test("ignores credentials that bypass the agent, and those without a Secret", () => {
  const subject = vmi(
    {
      sshPublicKey: { source: { secret: { secretName: "s" } }, propagationMethod: { noCloud: {} } },
    },
    { sshPublicKey: { source: {}, propagationMethod: { qemuGuestAgent: { users: ["u"] } } } },
  );
  expect(planAccess(subject, new Map())).toEqual({ steps: [], faults: [] });
  expect(agentSecretNames(subject)).toEqual([]);
});

test("does not remove keys because a Secret is missing", async () => {
  const subject = vmi(keysOf("a", "fedora"), keysOf("gone", "fedora"), keysOf("a", "root"));
  const guest = agent();
  const result = await applyAccess(planAccess(subject, secrets({ a: { k: "key" } })), guest);
  expect(guest.calls).toEqual(["keys root key"]);
  expect(result).toMatchObject({
    succeeded: false,
    message: expect.stringContaining("gone-access-cred"),
  });
});

test.each(["-rf", "a:b", "../x", "a b", "", "a\nb"])("rejects %j as a user", (user) => {
  const { steps, faults } = planAccess(vmi(keysOf("a", user)), secrets({ a: { k: "key" } }));
  expect(steps).toEqual([]);
  expect(faults).toMatchObject([{ code: "DISK_VMI_INVALID" }]);
});

test("writes the file, with owner and permissions, if the agent is too old", async () => {
  const guest = agent({ setAuthorizedKeys: tooOld });
  const plan = planAccess(vmi(keysOf("a", "fedora")), secrets({ a: { k: "key1\nkey2" } }));
  expect(await applyAccess(plan, guest)).toEqual({ succeeded: true, message: "" });
  expect(guest.calls).toEqual([
    "getent passwd fedora",
    "mkdir -p /home/fedora/.ssh",
    "chown 1000:100 /home/fedora/.ssh",
    "chmod 700 /home/fedora/.ssh",
    "write /home/fedora/.ssh/authorized_keys",
    "chown 1000:100 /home/fedora/.ssh/authorized_keys",
    "chmod 600 /home/fedora/.ssh/authorized_keys",
  ]);
  expect(await guest.readFile("/home/fedora/.ssh/authorized_keys")).toBe("key1\nkey2");
  guest.calls.length = 0;
  await applyAccess(plan, guest);
  expect(guest.calls).toEqual(["getent passwd fedora"]);
});

test.each(["", "fedora", "a:b:c:d:e:f", "u:x:0:0::relative:/bin/sh", "u:x:1;id:0::/h:/bin/sh"])(
  "does not trust a guest that answers %j for a user",
  async (line) => {
    const guest = agent({ setAuthorizedKeys: tooOld, exec: async () => line });
    const result = await applyAccess(
      planAccess(vmi(keysOf("a", "u")), secrets({ a: { k: "k" } })),
      guest,
    );
    expect(result).toMatchObject({
      succeeded: false,
      message: expect.stringContaining("home of u"),
    });
  },
);

test("sends nothing to a silent agent", async () => {
  const guest = agent({ ping: tooOld });
  const result = await applyAccess(
    planAccess(vmi(passwordsOf("p")), secrets({ p: { u: "pw" } })),
    guest,
  );
  expect(result).toEqual({ succeeded: false, message: "Guest agent is offline" });
  expect(guest.calls).toEqual([]);
});

test("neither plan nor message shows a password, even if the agent repeats it in its error", async () => {
  const secret = 'hun"ter2';
  const echo = async (_: string, password: string) => {
    const forms = [password, JSON.stringify(password), Buffer.from(password).toString("base64")];
    throw new Error(`bad password ${forms.join(" ")}`);
  };
  const plan = planAccess(vmi(passwordsOf("p")), secrets({ p: { fedora: secret } }));
  const { message } = await applyAccess(plan, agent({ setUserPassword: echo }));
  expect(message).toContain("password of user fedora: bad password [secret]");
  for (const text of [
    message,
    inspect(plan, { depth: 9, showHidden: true }),
    JSON.stringify(plan),
  ]) {
    expect(text).not.toMatch(/ter2|aHVuInRlcjI=/);
  }
});
