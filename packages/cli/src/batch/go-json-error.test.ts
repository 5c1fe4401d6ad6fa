import { expect, test } from "vitest";
import { goJsonError } from "./go-json-error.ts";

test.each([
  ["{bad", "json: offset 2: invalid character 'b' looking for beginning of object key string"],
  ["{", "unexpected EOF"],
  ['{"a" 1}', "json: offset 6: invalid character '1' after object key"],
  ['{"a":x}', "json: offset 6: invalid character 'x' looking for beginning of value"],
  ['{"a":1 "b"}', "json: offset 8: invalid character '\"' after object key:value pair"],
  ['{"a":[1 2]}', "json: offset 9: invalid character '2' after array element"],
  ['{"a":trve}', "json: offset 8: invalid character 'v' in literal true (expecting 'u')"],
  ['{"a":"\\x"}', "json: offset 8: invalid character 'x' in string escape code"],
  ['{"a":1.}', "json: offset 8: invalid character '}' after decimal point in numeric literal"],
  ['{"a":1,}', "json: offset 8: invalid character '}' looking for beginning of object key string"],
])("%s", (text, message) => {
  expect(goJsonError(text)).toBe(message);
});

test.each(['{"a":[1,-2.5e+3,"\\u00e9",null,true,{}]}', " {} trailing", "[]", '"x"', "-0"])(
  "%s has a value to begin with",
  (text) => {
    expect(goJsonError(text)).toBeUndefined();
  },
);
