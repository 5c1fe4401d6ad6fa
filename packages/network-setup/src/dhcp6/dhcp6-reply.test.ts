import { expect, test } from "vitest";
import { dhcp6Packet } from "../testing/dhcp-packets.ts";
import { decodeDhcp6, findOption, messageTypes6, optionCodes6 } from "./dhcp6-message.ts";
import { dhcp6Responder } from "./dhcp6-reply.ts";

const respond = dhcp6Responder({
  clientIp: "fd10:0:2::2",
  serverMac: "02:00:00:00:00:00",
  nameservers: ["fd00:96::10"],
});

test.each([
  ["SOLICIT", messageTypes6.solicit, false, messageTypes6.advertise],
  ["SOLICIT with rapid commit", messageTypes6.solicit, true, messageTypes6.reply],
  ["REQUEST", messageTypes6.request, false, messageTypes6.reply],
  ["RENEW", messageTypes6.renew, false, messageTypes6.reply],
  ["RELEASE", messageTypes6.release, false, messageTypes6.reply],
])("answers %s with the one address, under the client's identity", (_, type, rapid, answer) => {
  const reply = decodeDhcp6(respond(dhcp6Packet(type, { rapid })));
  expect(reply.type).toBe(answer);
  expect([...reply.transaction]).toEqual([1, 2, 3]);
  const association = Buffer.from(findOption(reply, optionCodes6.ianaAddress) ?? []);
  expect(association.readUInt32BE(0)).toBe(7);
  expect(association.subarray(16, 32).toString("hex")).toBe("fd100000000200000000000000000002");
  expect(findOption(reply, optionCodes6.rapidCommit) !== undefined).toBe(rapid);
  expect(Buffer.from(findOption(reply, optionCodes6.serverId) ?? []).toString("hex")).toBe(
    "00030001020000000000",
  );
  expect(findOption(reply, optionCodes6.nameServers)).toHaveLength(16);
});

test.each([
  ["too short", Buffer.from([1])],
  ["from a relay", Buffer.from([12, 0, 0, 0])],
  ["without an identity", Buffer.from([1, 0, 0, 0])],
  ["an answer", dhcp6Packet(messageTypes6.reply)],
])("does not answer a message that is %s", (_, message) => {
  expect(() => respond(message)).toThrow(expect.objectContaining({ name: "NetworkSetupError" }));
});

test("rejects an address of the other family", () => {
  expect(() =>
    dhcp6Responder({ clientIp: "10.0.0.1", serverMac: "02:00:00:00:00:00", nameservers: [] }),
  ).toThrow(/clientIP/);
});
