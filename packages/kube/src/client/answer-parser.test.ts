import { expect, test } from "vitest";
import { type Answer, AnswerParser } from "./answer-parser.ts";

/** The answer that comes of these bytes, cut into pieces of a size. */
function parse(text: string, size = text.length, { method = "GET", maxBytes = 1_000 } = {}) {
  const parser = new AnswerParser(method, maxBytes);
  const bytes = Buffer.from(text);
  let answer: Answer | undefined;
  for (let at = 0; at < bytes.length && !answer; at += size) {
    answer = parser.push(bytes.subarray(at, at + size));
  }
  return { answer, parser };
}

const head = (...lines: string[]): string => ["HTTP/1.1 200 OK", ...lines, "", ""].join("\r\n");
const whole: readonly [string, string, string][] = [
  ["a length", head("Content-Length: 6"), "grün\n"],
  ["chunks", head("Transfer-Encoding: chunked"), "4\r\ngr\u00fc\r\n2;x=y\r\nn\n\r\n0\r\n\r\n"],
  ["chunks and trailers", head("transfer-encoding: Chunked"), "6\r\ngrün\n\r\n0\r\nA: b\r\n\r\n"],
  ["an interim answer", `HTTP/1.1 100 Continue\r\n\r\n${head("content-length: 6")}`, "grün\n"],
];

test.each(whole)("an answer with %s is read, wherever it is cut", (_what, start, body) => {
  const text = start + body;
  for (let size = 1; size <= Buffer.byteLength(text); size++) {
    const { answer, parser } = parse(text, size);
    expect(answer).toMatchObject({ status: 200, body: "grün\n" });
    expect(parser.isKept).toBe(true);
  }
});

test("an answer is complete only with its last byte", () => {
  for (const [, start, body] of whole) {
    const bytes = Buffer.from(start + body);
    const parser = new AnswerParser("GET", 1_000);
    expect(parser.push(bytes.subarray(0, -1))).toBeUndefined();
    expect(parser.end()).toBeUndefined();
  }
});

test("headers are found by their name in lower case, and joined", () => {
  const { answer } = parse(`${head("Retry-After:  3 ", "A: 1", "a: 2", "content-length: 0")}`);
  expect({ ...answer?.headers }).toEqual({ "retry-after": "3", a: "1, 2", "content-length": "0" });
});

test("a body without a length ends with the connection, which is not kept", () => {
  const { answer, parser } = parse(`${head()}all of it`, 5);
  expect(answer).toBeUndefined();
  expect(parser.end()).toMatchObject({ body: "all of it" });
  expect(parser.isKept).toBe(false);
});

test.each([
  ["HEAD", head("content-length: 900")],
  ["GET", "HTTP/1.1 204 No Content\r\n\r\n"],
  ["GET", "HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n"],
])("an answer to %s without a body is complete after its head: %j", (method, text) => {
  expect(parse(text, text.length, { method }).answer).toMatchObject({ body: "" });
});

test.each([
  ["the server closes it", head("Connection: foo, Close", "content-length: 0")],
  ["it uses HTTP/1.0", "HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n"],
  ["more data follows than was requested", `${head("content-length: 0")}HTTP/1.1 200 OK`],
])("a connection is not kept if %s", (_why, text) => {
  const { answer, parser } = parse(text);
  expect(answer).toMatchObject({ status: 200 });
  expect(parser.isKept).toBe(false);
});

test.each([
  ["not HTTP", "SSH-2.0-OpenSSH\r\n\r\n", /not HTTP/],
  ["another protocol", "HTTP/1.1 101 Switching\r\n\r\n", /another protocol/],
  ["two lengths", head("content-length: 1", "content-length: 2"), /length 1, 2/],
  ["a length that is not a number", head("content-length: 0x10"), /length 0x10/],
  ["a length and chunks", head("content-length: 1", "transfer-encoding: chunked"), /framing/],
  ["another transfer coding", head("transfer-encoding: gzip, chunked"), /framing/],
  ["a header that continues on the next line", head("a: b", " c: d"), /header/],
  ["a name with a space", head("content-length : 1"), /header/],
  ["a chunk without a size", `${head("transfer-encoding: chunked")}x\r\n`, /no size/],
  ["a chunk longer than it says", `${head("transfer-encoding: chunked")}1\r\nab\r\n`, /not end/],
  ["an endless head", `HTTP/1.1 200 OK\r\na: ${"b".repeat(70_000)}`, /headers of the response/],
  ["a body that is too long", head("content-length: 1001"), /longer than 1000 bytes/],
  [
    "a chunk that is too large",
    `${head("transfer-encoding: chunked")}3e9\r\n`,
    /longer than 1000 bytes/,
  ],
  ["an endless body", `${head()}${"b".repeat(1_001)}`, /longer than 1000 bytes/],
])("refuses an answer with %s", (_what, text, message) => {
  expect(() => parse(text)).toThrow(message);
});
