// The name characters of XML 1.0 that libvirt's documents use: ASCII, with a namespace prefix.
const namePattern = /^[A-Za-z_][A-Za-z0-9_.-]*(?::[A-Za-z_][A-Za-z0-9_.-]*)?$/;

/**
 * Whether a string can name an element or attribute. Stricter than XML: ASCII only, at most one
 * prefix, since nothing that libvirt reads is named otherwise.
 */
export function isXmlName(name: string): boolean {
  return namePattern.test(name);
}
