import { expect, test } from "vitest";
import { qemuAccessAgent } from "./qemu-access-agent.ts";

/** An agent that answers from a table and writes down what it was asked. */
function scripted(replies: Readonly<Record<string, unknown>>) {
  const asked: [string, unknown][] = [];
  const command = async (execute: string, args?: object) => {
    asked.push([execute, args]);
    const reply = replies[execute];
    if (reply instanceof Error) throw reply;
    return reply;
  };
  const agent = qemuAccessAgent(command, { execTimeout: 100, sleep: async () => {} });
  return { agent, asked };
}

const base64 = (text: string) => Buffer.from(text).toString("base64");

test("keys replace those that are there, and a password travels in base64", async () => {
  const { agent, asked } = scripted({});
  await agent.setAuthorizedKeys("u", ["k"]);
  await agent.setUserPassword("u", "pw");
  expect(asked).toEqual([
    ["guest-ssh-add-authorized-keys", { username: "u", keys: ["k"], reset: true }],
    ["guest-set-user-password", { username: "u", password: base64("pw"), crypted: false }],
  ]);
});

test("a program is run to its end", async () => {
  const done = { exited: true, exitcode: 0, "out-data": base64("out") };
  const { agent } = scripted({ "guest-exec": { pid: 7 }, "guest-exec-status": done });
  expect(await agent.exec("getent", ["passwd"])).toBe("out");
});

test.each([
  [
    "fails",
    { "guest-exec": { pid: 7 }, "guest-exec-status": { exited: true, exitcode: 2 } },
    /exit code 2/,
  ],
  ["never ends", { "guest-exec": { pid: 7 }, "guest-exec-status": { exited: false } }, /not ended/],
  ["has no number", { "guest-exec": "pid" }, /something else/],
  [
    "prints a number",
    { "guest-exec": { pid: 7 }, "guest-exec-status": { exited: true, exitcode: 0, "out-data": 5 } },
    /something else/,
  ],
])("a program that %s is an error", async (_, replies, message) => {
  await expect(scripted(replies).agent.exec("x", [])).rejects.toThrow(message);
});

test("a file is read to its end and closed", async () => {
  const { agent, asked } = scripted({
    "guest-file-open": 3,
    "guest-file-read": { count: 4, "buf-b64": base64("text"), eof: true },
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

test("a file that is not there is undefined; other failures are errors", async () => {
  const missing = new Error("failed to open file '/f': No such file or directory");
  expect(await scripted({ "guest-file-open": missing }).agent.readFile("/f")).toBe(undefined);
  await expect(
    scripted({ "guest-file-open": new Error("denied") }).agent.readFile("/f"),
  ).rejects.toThrow("denied");
});

test("a file without end is not read for ever", async () => {
  const { agent } = scripted({
    "guest-file-open": 3,
    "guest-file-read": { "buf-b64": base64("x".repeat(48 << 10)), eof: false },
  });
  await expect(agent.readFile("/f")).rejects.toMatchObject({ code: "DISK_TOO_LARGE" });
});
