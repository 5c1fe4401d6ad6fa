import { expect, test } from "vitest";
import { agentRefusal, type ScriptedReply, scriptedAgent } from "../../testing/scripted-agent.ts";
import { qemuAccessAgent } from "./qemu-access-agent.ts";

function scripted(replies: Readonly<Record<string, ScriptedReply>>) {
  const { agent, asked } = scriptedAgent(replies);
  return { agent: qemuAccessAgent(agent), asked };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");
const done = { value: {} };

test("replaces the keys that are there, and sends a password in base64", async () => {
  const { agent, asked } = scripted({
    "guest-ssh-add-authorized-keys": done,
    "guest-set-user-password": done,
  });
  await agent.setAuthorizedKeys("u", ["k"]);
  await agent.setUserPassword("u", "pw");
  expect(asked).toEqual([
    ["guest-ssh-add-authorized-keys", { username: "u", keys: ["k"], reset: true }],
    ["guest-set-user-password", { username: "u", password: base64("pw"), crypted: false }],
  ]);
});

test("runs a program to its end", async () => {
  const value = { exited: true, exitcode: 0, "out-data": base64("out") };
  const { agent } = scripted({
    "guest-exec": { value: { pid: 7 } },
    "guest-exec-status": { value },
  });
  expect(await agent.exec("getent", ["passwd"])).toBe("out");
});

test("fails if a program fails", async () => {
  const { agent } = scripted({
    "guest-exec": { value: { pid: 7 } },
    "guest-exec-status": { value: { exited: true, exitcode: 2 } },
  });
  await expect(agent.exec("x", [])).rejects.toThrow(/exit code 2/);
});

test("reads a file to its end and closes it", async () => {
  const { agent, asked } = scripted({
    "guest-file-open": { value: 3 },
    "guest-file-read": { value: { count: 4, "buf-b64": base64("text"), eof: true } },
    "guest-file-write": done,
    "guest-file-close": done,
  });
  expect(await agent.readFile("/f")).toBe("text");
  await agent.writeFile("/f", "new");
  expect(asked.map(([name]) => name)).toEqual([
    "guest-file-open",
    "guest-file-read",
    "guest-file-close",
    "guest-file-open",
    "guest-file-write",
    "guest-file-close",
  ]);
});

test("returns undefined for a missing file; other failures are errors", async () => {
  const missing = agentRefusal("failed to open file '/f': No such file or directory");
  expect(await scripted({ "guest-file-open": missing }).agent.readFile("/f")).toBe(undefined);
  await expect(
    scripted({ "guest-file-open": agentRefusal("denied") }).agent.readFile("/f"),
  ).rejects.toThrow("denied");
});

test("stops reading an endless file", async () => {
  const { agent } = scripted({
    "guest-file-open": { value: 3 },
    "guest-file-read": { value: { "buf-b64": base64("x".repeat(48 << 10)), eof: false } },
    "guest-file-close": done,
  });
  await expect(agent.readFile("/f")).rejects.toMatchObject({ code: "DISK_TOO_LARGE" });
});
