import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { ProbeAction } from "./plan-probes.ts";

/** A kubelet's. */
const mostRedirects = 10;

/**
 * Asks a guest over HTTP, as a kubelet does: any status from 200 to 399 passes, certificates are
 * not checked, and a redirect is followed only on the same host; one that leads elsewhere passes.
 * The body is not read, because a guest may send without end.
 */
export async function checkHttp(
  { url, headers }: Extract<ProbeAction, { kind: "http" }>,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  const first = new URL(url);
  let next = first;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const { status, location } = await answerOf(next, headers, signal);
    if (status < 200 || status > 399) throw new Error(`${next.href} answered ${status}`);
    if (location === undefined || status < 300) return;
    if (!URL.canParse(location, next.href))
      throw new Error(`${next.href} redirects to an address that is not valid`);
    next = new URL(location, next);
    const isHere = next.hostname === first.hostname && /^https?:$/.test(next.protocol);
    if (!isHere) return;
  }
  throw new Error(`${first.href} redirects more than ${mostRedirects} times`);
}

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
}

async function answerOf(
  url: URL,
  headers: readonly (readonly [name: string, value: string])[],
  signal: AbortSignal,
): Promise<Answer> {
  const options = {
    headers: { "user-agent": "virtkit-probe", accept: "*/*", ...Object.fromEntries(headers) },
    agent: false,
    rejectUnauthorized: false,
    signal,
  } as const;
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  return await new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      resolve({ status: response.statusCode ?? 0, location: response.headers.location });
      response.destroy();
    });
    request.on("error", reject);
    request.end();
  });
}
