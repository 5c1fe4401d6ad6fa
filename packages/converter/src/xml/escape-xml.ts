/** A character that XML 1.0 cannot hold, however escaped; the writer adds its place. */
export class XmlCharacterError extends Error {
  override readonly name = "XmlCharacterError";
}

// Anything but printable ASCII that stands for itself in every text and attribute.
const special = /[^ !#-%'-;=?-~]/;

/** 1 for each ASCII code that {@link special} does not match. */
const plain = Uint8Array.from({ length: 128 }, (_, code) =>
  special.test(String.fromCharCode(code)) ? 0 : 1,
);

/** Up to about this length a loop was faster than a regular expression, which takes a while to begin. */
const shortLength = 24;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\t": "&#9;",
  "\n": "&#10;",
  "\r": "&#13;",
};

/**
 * Makes a value safe between double quotes. Tab, newline and carriage return become character
 * references, because a parser turns them into spaces otherwise.
 *
 * @throws XmlCharacterError on a control character, a lone surrogate, U+FFFE or U+FFFF.
 */
export function escapeAttribute(value: string): string {
  return isPlain(value) ? value : escapeSlowly(value, '&<>"\t\n\r');
}

/**
 * Makes a value safe as the text of an element. Carriage return becomes a character reference,
 * because a parser turns it into a newline otherwise.
 *
 * @throws XmlCharacterError as {@link escapeAttribute}.
 */
export function escapeText(value: string): string {
  return isPlain(value) ? value : escapeSlowly(value, "&<>\r");
}

/** Whether nothing in it needs a closer look. */
function isPlain(value: string): boolean {
  if (value.length > shortLength) return !special.test(value);
  for (let at = 0; at < value.length; at++) {
    if (plain[value.charCodeAt(at)] !== 1) return false;
  }
  return true;
}

function escapeSlowly(value: string, escapes: string): string {
  let result = "";
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at);
    if (isHighSurrogate(value.charCodeAt(at)) && isLowSurrogate(value.charCodeAt(at + 1))) {
      result += character + value.charAt(at + 1);
      at++;
      continue;
    }
    refuseInvalid(value.charCodeAt(at));
    result += escapes.includes(character) ? entities[character] : character;
  }
  return result;
}

function refuseInvalid(code: number): void {
  const control = code < 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d;
  if (!control && !isHighSurrogate(code) && !isLowSurrogate(code) && code < 0xfffe) return;
  const name = code.toString(16).toUpperCase().padStart(4, "0");
  throw new XmlCharacterError(`contains U+${name}, which XML cannot express; remove it`);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
