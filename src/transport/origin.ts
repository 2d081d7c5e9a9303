import type { IncomingHttpHeaders } from 'node:http';

export interface OriginRules {
  /** Origins of other sites whose pages may call this server. */
  readonly allowed: readonly string[];
  /** No token proves who asks, so the address in the browser's bar has to. */
  readonly loopbackOnly: boolean;
}

const hostOf = (origin: string): string | null => {
  if (!URL.canParse(origin)) {
    return null;
  }
  const { host, protocol } = new URL(origin);
  return (protocol === 'http:' || protocol === 'https:') && host !== '' ? host : null;
};

const isLoopbackName = (hostname: string) =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(\.\d{1,3}){3}$/.test(hostname);

/**
 * Whether a page of this origin may call the server: its own pages and those of the list may, and so may a client
 * that names none, which is no browser. The scheme is not compared, since TLS may end in front of this server.
 */
export function isOriginAllowed(headers: IncomingHttpHeaders, { allowed }: OriginRules): boolean {
  const { origin, host } = headers;
  if (origin === undefined || allowed.includes(origin)) {
    return true;
  }
  const from = hostOf(origin);
  return from !== null && host !== undefined && from === host.toLowerCase();
}

/**
 * Whether the request names this server as itself. A page whose own name has been pointed at loopback (DNS rebinding)
 * counts as same-origin for its browser; what gives it away is the name.
 */
export function isHostAllowed(headers: IncomingHttpHeaders, { allowed, loopbackOnly }: OriginRules): boolean {
  if (!loopbackOnly) {
    return true;
  }
  const host = headers.host?.toLowerCase();
  if (host === undefined || !URL.canParse(`http://${host}`)) {
    return false;
  }
  return isLoopbackName(new URL(`http://${host}`).hostname) || allowed.some((origin) => hostOf(origin) === host);
}
