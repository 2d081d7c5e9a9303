import type { ServerResponse } from 'node:http';

/** Lets the last answers of a server close their connections, so that clients make their next request elsewhere. */
export interface LastAnswers {
  /** To be told of every answer before it begins. */
  add(response: ServerResponse): void;
  /** From now on every answer is one of the last, also those to requests that are being answered. */
  begin(): void;
}

export function createLastAnswers(): LastAnswers {
  const open = new Set<ServerResponse>();
  let begun = false;
  const close = (response: ServerResponse) => {
    if (!response.headersSent) response.setHeader('connection', 'close');
  };
  return {
    add(response) {
      if (begun) {
        close(response);
        return;
      }
      open.add(response);
      response.once('close', () => open.delete(response));
    },
    begin() {
      begun = true;
      for (const response of open) close(response);
      open.clear();
    },
  };
}
