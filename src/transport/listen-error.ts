/** A port that cannot be had; the message says why, and what the operator can do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Words for a fault of listening; faults without a reason that is known stay as they are. */
export function listenError(
  error: NodeJS.ErrnoException,
  { host, port }: { readonly host: string; readonly port: number },
): Error {
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program uses it: stop that one, or set PORT',
    EACCES: 'this user may not use it: set PORT to one above 1023',
    EADDRNOTAVAIL: 'this machine has no such address: set HOST',
    ENOTFOUND: 'no such host is known: set HOST',
  };
  const reason = reasons[error.code ?? ''];
  return reason
    ? new ListenError(`port ${port} of ${host} cannot be opened, since ${reason}.`, { cause: error })
    : error;
}
