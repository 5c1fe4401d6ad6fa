import { expect, test } from "vitest";
import { connectLibvirt } from "../libvirt/libvirt.ts";
import { LibvirtError } from "../libvirt/libvirt-error.ts";
import { FakeDaemon, type ReceivedCall } from "../testing/fake-daemon.ts";
import { agentRefusal, scriptedAgent } from "../testing/scripted-agent.ts";
import { GuestAgent } from "./guest-agent.ts";

const dom = { name: "ns_vm", uuid: "00000000-0000-4000-8000-000000000001", id: 1 };
const base64 = (text: string) => Buffer.from(text).toString("base64");

test("sends one command for each question, and types the answer", async () => {
  const { agent, asked } = scriptedAgent({
    "guest-ping": { value: {} },
    "guest-get-host-name": { value: { "host-name": "g" } },
    "guest-get-users": { value: [] },
    domainFreeze: { value: { fileSystems: 2 } },
    domainThaw: { value: { fileSystems: 2 } },
    domainShutdown: { value: {} },
    domainSetTime: { value: {} },
  });
  await agent.ping();
  expect(await agent.hostname()).toBe("g");
  expect(await agent.users()).toEqual([]);
  expect([await agent.freeze(), await agent.thaw()]).toEqual([2, 2]);
  await agent.shutdown();
  await agent.setTime(1500);
  expect(asked.map(([name]) => name)).toEqual([
    "guest-ping",
    "guest-get-host-name",
    "guest-get-users",
    "domainFreeze",
    "domainThaw",
    "domainShutdown",
    "domainSetTime",
  ]);
});

test("watches a program until it ends", async () => {
  let looks = 0;
  const { agent, asked } = scriptedAgent({
    "guest-exec": { value: { pid: 7 } },
    "guest-exec-status": () => ({
      value:
        ++looks < 4
          ? { exited: false }
          : { exited: true, exitcode: 3, "out-data": base64("o"), "err-data": base64("e") },
    }),
  });
  expect(await agent.exec("/bin/x", { args: ["a"], input: "in" })).toEqual({
    exitCode: 3,
    stdout: "o",
    stderr: "e",
  });
  expect(asked[0]).toEqual([
    "guest-exec",
    { path: "/bin/x", arg: ["a"], "capture-output": true, "input-data": base64("in") },
  ]);
});

test("a program that a signal ended has a shell's exit code", async () => {
  const { agent } = scriptedAgent({
    "guest-exec": { value: { pid: 7 } },
    "guest-exec-status": { value: { exited: true, signal: 9 } },
  });
  expect(await agent.exec("x")).toMatchObject({ exitCode: 137 });
});

test("gives up a program that never ends after its timeout", async () => {
  const { agent, asked } = scriptedAgent({
    "guest-exec": { value: { pid: 7 } },
    "guest-exec-status": { value: { exited: false } },
  });
  await expect(agent.exec("x", { timeout: 3000 })).rejects.toMatchObject({
    code: "DOMAIN_TIMEOUT",
    message: expect.stringContaining("not ended in 3000 ms"),
  });
  expect(asked.length).toBeLessThan(20);
});

test("a guest that is off before its agent has answered has done what it was asked; one that says so has not", async () => {
  const ended = "internal error: End of file from agent socket";
  await scriptedAgent({ domainShutdown: agentRefusal(ended) }).agent.shutdown();
  const words = `internal error: unable to execute QEMU agent command 'guest-shutdown': ${ended}`;
  const { agent } = scriptedAgent({ domainShutdown: agentRefusal(words) });
  await expect(agent.shutdown()).rejects.toMatchObject({ code: "DOMAIN_AGENT" });
});

test.each([
  ["DOMAIN_AGENT", agentRefusal("Guest agent is not responding", 86), "check in the guest whether"],
  ["DOMAIN_AGENT", agentRefusal("\u001b[1mthe guest's words"), "[1mthe guest's words"],
  ["DOMAIN_AGENT", agentRefusal("x".repeat(100_000)), "100000 characters of explanation"],
  ["DOMAIN_MISSING", agentRefusal("Domain not found", 42), "no such domain"],
  ["DOMAIN_STATE", agentRefusal("domain is not running", 55), "not running"],
  ["DOMAIN_AGENT", new LibvirtError("LIBVIRT_TIMEOUT", "no answer"), "silence"],
  ["DOMAIN_TIMEOUT", new LibvirtError("LIBVIRT_ABORTED", "x"), "gave up"],
  ["DOMAIN_LIBVIRT", new LibvirtError("LIBVIRT_CLOSED", "the daemon is gone"), "daemon is gone"],
])("%s: %s", async (code, error, message) => {
  const { agent } = scriptedAgent({ "guest-ping": error });
  await expect(agent.ping()).rejects.toMatchObject({
    code,
    path: "guest-ping",
    message: expect.stringMatching(/^guest agent, guest-ping: /),
  });
  await expect(agent.ping()).rejects.toThrow(message);
});

async function overFakeDaemon(answer: (call: ReceivedCall) => object | undefined) {
  const daemon = new FakeDaemon(answer);
  const libvirt = await connectLibvirt({ uri: "test:///", dial: daemon.dial });
  return { daemon, agent: new GuestAgent({ libvirt, dom, timeout: 50 }), libvirt };
}

test("a silent agent is a clear error after the deadline", async () => {
  const { agent, libvirt } = await overFakeDaemon(() => undefined);
  await expect(agent.ping()).rejects.toMatchObject({
    code: "DOMAIN_AGENT",
    message: expect.stringContaining("silence; check in the guest whether qemu-guest-agent runs"),
  });
  await libvirt.close();
});

test("rejects a reply as long as libvirt passes on before parsing it", async () => {
  const result = `{"return":"${"x".repeat(4_000_000)}"}`;
  const { agent, libvirt } = await overFakeDaemon(() => ({ result }));
  const ping = agent.hostname({ timeout: 20_000 });
  await expect(ping).rejects.toMatchObject({
    code: "DOMAIN_AGENT",
    message: expect.stringMatching(/guest-get-host-name: the reply has 4000013 characters/),
  });
  await libvirt.close();
});

test("asks an agent with a timeout of whole seconds, and never without one", async () => {
  const { agent, daemon, libvirt } = await overFakeDaemon(() => ({ result: '{"return":{}}' }));
  await agent.ping({ timeout: 1500 });
  expect(daemon.calls.at(-1)).toMatchObject({
    name: "qemuAgentCommand",
    args: { command: '{"execute":"guest-ping"}', timeout: 2 },
  });
  await libvirt.close();
});
