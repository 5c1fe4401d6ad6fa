import { expect, test } from "vitest";
import { requestHead } from "./request-head.ts";

test("a head has the request line and the headers", () => {
  expect(requestHead("GET", "/a?b=c", { host: "h:1", accept: "*/*" })).toBe(
    "GET /a?b=c HTTP/1.1\r\nhost: h:1\r\naccept: */*\r\n\r\n",
  );
});

test.each([
  ["GET /\r\nx", "/", {}],
  ["GET", "/a b", {}],
  ["GET", "/a\r\nhost: evil", {}],
  ["GET", "/ü", {}],
  ["GET", "/", { "a\r\nb": "c" }],
  ["GET", "/", { a: "b\r\nc: d" }],
  ["GET", "/", { a: "b\nc" }],
])("nothing in a head can add a line: %j %j %j", (method, path, headers) => {
  expect(() => requestHead(method, path, headers)).toThrow(/method|path|header/);
});

test("an error does not reveal the value of a header", () => {
  expect(() => requestHead("GET", "/", { authorization: "secret\n" })).toThrow(/^(?!.*secret)/);
});
