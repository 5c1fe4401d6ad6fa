import { invalidVmi } from "../converter-error.ts";

const notations = [
  /^[\da-fA-F]{2}(?::[\da-fA-F]{2}){5}(?:(?::[\da-fA-F]{2}){2})?$/,
  /^[\da-fA-F]{2}(?:-[\da-fA-F]{2}){5}(?:(?:-[\da-fA-F]{2}){2})?$/,
  /^[\da-fA-F]{4}(?:\.[\da-fA-F]{4}){2}(?:\.[\da-fA-F]{4})?$/,
];

/** A hardware address with colons and in lower case, as libvirt wants it, whatever the notation. */
export function formatMac(text: string, path: string): string {
  if (!notations.some((notation) => notation.test(text))) {
    throw invalidVmi(path, `"${text}" is no MAC address; write it as 02:00:00:aa:bb:cc`);
  }
  const digits = text.toLowerCase().replaceAll(/[^\da-f]/g, "");
  return (digits.match(/../g) ?? []).join(":");
}
