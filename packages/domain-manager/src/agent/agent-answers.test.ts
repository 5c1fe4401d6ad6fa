import { expect, test } from "vitest";
import {
  agentLimits,
  readAgentInfo,
  readFileSystems,
  readFsFreeze,
  readHostname,
  readInterfaces,
  readOs,
  readTimezone,
  readUsers,
} from "./agent-answers.ts";
import { AgentReply } from "./agent-reply.ts";

const reply = (value: unknown): AgentReply =>
  AgentReply.parse("guest-x", JSON.stringify({ return: value }), 1 << 20);

test("reads the guest's system; leaves out what it does not know, and ignores unknown fields", () => {
  const told = {
    id: "debian",
    name: "Debian GNU/Linux",
    "pretty-name": "Debian GNU/Linux 12 (bookworm)",
    version: "12 (bookworm)",
    "version-id": "12",
    "kernel-release": "6.1.0-54-cloud-amd64",
    machine: "x86_64",
    variant: "server",
  };
  expect(readOs(reply(told))).toEqual({
    id: "debian",
    name: "Debian GNU/Linux",
    prettyName: "Debian GNU/Linux 12 (bookworm)",
    version: "12 (bookworm)",
    versionId: "12",
    kernelRelease: "6.1.0-54-cloud-amd64",
    machine: "x86_64",
  });
  expect(readOs(reply({}))).toEqual({});
});

test("reads its name and time zone", () => {
  expect(readHostname(reply({ "host-name": "guest" }))).toBe("guest");
  expect(readTimezone(reply({ zone: "CET", offset: 3600 }))).toEqual({ zone: "CET", offset: 3600 });
  expect(readTimezone(reply({ offset: -60 }))).toEqual({ zone: "", offset: -60 });
});

test("reads interfaces without the loopback, IPv4 first, and skips invalid addresses", () => {
  const address = (text: string) => ({ "ip-address": text, "ip-address-type": "x", prefix: 24 });
  const told = [
    { name: "lo", "ip-addresses": [address("127.0.0.1")] },
    {
      name: "eth0",
      "hardware-address": "02:00:00:00:00:01",
      "ip-addresses": [address("fe80::1"), address("10.0.2.2"), address("not an address")],
      statistics: { "rx-bytes": 1 },
    },
    { name: "tun0" },
  ];
  expect(readInterfaces(reply(told))).toEqual([
    { interfaceName: "eth0", mac: "02:00:00:00:00:01", ips: ["10.0.2.2", "fe80::1"] },
    { interfaceName: "tun0", mac: "", ips: [] },
  ]);
});

test("reads file systems with their disks; an old agent does not report their usage", () => {
  const told = [
    {
      name: "vda1",
      mountpoint: "/",
      type: "ext4",
      "used-bytes": 10,
      "total-bytes": 100,
      disk: [{ serial: "s", "bus-type": "virtio", bus: 0 }, { "bus-type": "scsi" }],
    },
    { name: "sr0", mountpoint: "/cd", type: "iso9660", disk: [] },
  ];
  expect(readFileSystems(reply(told))).toEqual([
    {
      diskName: "vda1",
      mountPoint: "/",
      fileSystemType: "ext4",
      usedBytes: 10,
      totalBytes: 100,
      disks: [{ serial: "s", busType: "virtio" }, { busType: "scsi" }],
    },
    {
      diskName: "sr0",
      mountPoint: "/cd",
      fileSystemType: "iso9660",
      usedBytes: 0,
      totalBytes: 0,
      disks: [],
    },
  ]);
});

test("reads users, the agent itself, and whether file systems are frozen", () => {
  expect(
    readUsers(
      reply([
        { user: "root", "login-time": 1.5 },
        { user: "a", domain: "AD", "login-time": 2 },
      ]),
    ),
  ).toEqual([
    { userName: "root", loginTime: 1.5 },
    { userName: "a", domain: "AD", loginTime: 2 },
  ]);
  const commands = [{ name: "guest-ping", enabled: true, "success-response": true }];
  expect(readAgentInfo(reply({ version: "7.2.22", supported_commands: commands }))).toEqual({
    version: "7.2.22",
    commands: [{ name: "guest-ping", enabled: true }],
  });
  expect(readFsFreeze(reply("frozen"))).toBe("frozen");
});

test("cuts long lists and strings, and strips unprintable characters", () => {
  const users = Array.from({ length: 5000 }, () => ({ user: "u", "login-time": 0 }));
  expect(readUsers(reply(users))).toHaveLength(agentLimits.users);
  const evil = `\u001b[31mred\u0000\r\n\u202Egnp.exe\u2028\ud800${"x".repeat(5000)}`;
  const hostname = readHostname(reply({ "host-name": evil }));
  expect(hostname).toMatch(/^\[31mredgnp\.exex+$/);
  expect(hostname.length).toBeLessThanOrEqual(agentLimits.text);
});

test.each([
  [
    "a list instead of an object",
    () => readOs(reply([])),
    "reply.return must be an object, found a list",
  ],
  [
    "a number instead of a string",
    () => readHostname(reply({ "host-name": 7 })),
    "reply.return.host-name must be a string, found a value of type number",
  ],
  [
    "nothing instead of a string",
    () => readInterfaces(reply([{}])),
    "reply.return[0].name must be a string, found nothing",
  ],
  [
    "a negative number",
    () =>
      readFileSystems(
        reply([{ name: "a", mountpoint: "/", type: "x", "used-bytes": -1, disk: [] }]),
      ),
    "used-bytes must be a number that is not negative",
  ],
  ["an unknown word", () => readFsFreeze(reply("melting")), "must be frozen or thawed"],
  [
    "an infinite number",
    () => readTimezone(AgentReply.parse("guest-x", '{"return":{"offset":1e999}}', 100)),
    "found an infinite number",
  ],
])("the error for %s names command and field", (_, read, message) => {
  expect(read).toThrow(
    expect.objectContaining({
      code: "DOMAIN_AGENT",
      path: "guest-x",
      message: expect.stringContaining(message),
    }),
  );
});

test.each([
  ["", "not JSON"],
  ["{", "not JSON"],
  ["[]", "must be an object"],
  [`{"return":"${"x".repeat(100)}"}`, "has 113 characters; at most 64 are accepted"],
])("rejects the reply %j", (text, message) => {
  expect(() => AgentReply.parse("guest-x", text, 64)).toThrow(message);
});
