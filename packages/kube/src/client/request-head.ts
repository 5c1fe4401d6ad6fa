const token = /^[!#$%&'*+\-.^`|~\w]+$/;
const printable = /^[\t\x20-\x7e]*$/;
const visible = /^[\x21-\x7e]+$/;

/** The lines before a request's body. Rejects what could be taken for a line of its own. */
export function requestHead(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): string {
  if (!token.test(method)) throw new Error(`${JSON.stringify(method)} is not an HTTP method`);
  if (!visible.test(path)) throw new Error("the path has characters that must be escaped");
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    // Values may be secret: the error does not quote them.
    if (!token.test(name) || !printable.test(value)) {
      throw new Error(
        `the header ${JSON.stringify(name)} contains characters that HTTP does not allow`,
      );
    }
    head += `${name}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}
