import { expect, test } from "vitest";
import { type Change, verdict } from "../testing/verdict.ts";

const at = "Invalid spec.accessCredentials[0]";
const secret: Change = { source: { secret: { secretName: "s" } } };
const ssh = (method: Change, rest: Change = secret): Change => ({
  sshPublicKey: { ...rest, propagationMethod: method },
});
const agent: Change = { qemuGuestAgent: { users: ["root"] } };

test.each<[Change, string[]]>([
  [ssh(agent), []],
  [{ userPassword: { ...secret, propagationMethod: { qemuGuestAgent: {} } } }, []],
  [ssh({ noCloud: {} }), [`${at}.sshPublicKey.propagationMethod`]],
  [ssh({ configDrive: {} }), [`${at}.sshPublicKey.propagationMethod`]],
  [
    ssh({ qemuGuestAgent: { users: [] } }),
    [`${at}.sshPublicKey.propagationMethod.qemuGuestAgent.users`],
  ],
  [ssh(agent, { source: {} }), [`${at}.sshPublicKey.source`]],
  [ssh({}), [`${at}.sshPublicKey.propagationMethod`]],
  [
    { userPassword: { source: {}, propagationMethod: {} } },
    [`${at}.userPassword.source`, `${at}.userPassword.propagationMethod`],
  ],
  [{}, [at]],
  [{ ...ssh(agent), userPassword: { ...secret, propagationMethod: { qemuGuestAgent: {} } } }, [at]],
])("%j: %j", (credential, expected) => {
  expect(verdict({ accessCredentials: [credential] })).toEqual(expected);
});

test("keys come with cloud-init if there is a volume for it", () => {
  const volumes = [
    { name: "root", cloudInitNoCloud: { userData: "a" } },
    { name: "other", cloudInitConfigDrive: { userData: "a" } },
  ];
  const disks = [{ name: "root" }, { name: "other" }];
  const accessCredentials = [ssh({ noCloud: {} }), ssh({ configDrive: {} })];
  expect(verdict({ volumes, accessCredentials, domain: { devices: { disks } } })).toEqual([]);
});
