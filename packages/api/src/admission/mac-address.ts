const colons = /^[\da-f]{2}(?::[\da-f]{2}){5}$/i;
const dashes = /^[\da-f]{2}(?:-[\da-f]{2}){5}$/i;
const dots = /^[\da-f]{4}(?:\.[\da-f]{4}){2}$/i;

/**
 * Whether the text is an Ethernet address of six octets, written in one of Go's ways:
 * `de:ad:00:00:be:af`, `de-ad-00-00-be-af`, `dead.0000.beaf`. The eight and twenty octets of
 * EUI-64 and InfiniBand are no.
 */
export function isMacAddress(text: string): boolean {
  return colons.test(text) || dashes.test(text) || dots.test(text);
}
