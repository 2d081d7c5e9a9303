import type { ServerResponse } from 'node:http';

function answer(response: ServerResponse, healthy: boolean, status: string): void {
  response.statusCode = healthy ? 200 : 503;
  response.setHeader('content-type', 'application/json; charset=utf-8');
  response.setHeader('cache-control', 'no-store');
  response.end(JSON.stringify({ status }));
}

/** The process lives: its event loop answers. Restart it when this fails. */
export const answerHealth = (response: ServerResponse): void => answer(response, true, 'ok');

/**
 * Asks whether work can be done, for at most `timeoutMs`. Callers that come while the question is open share its
 * answer, so anonymous requests cannot load the database.
 */
export function createReadiness(check: () => Promise<boolean>, timeoutMs: number): () => Promise<boolean> {
  let asking: Promise<boolean> | null = null;
  const ask = async (): Promise<boolean> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(resolve, timeoutMs, false);
    });
    try {
      return await Promise.race([check(), late]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
      asking = null;
    }
  };
  return () => {
    asking ??= ask();
    return asking;
  };
}

/** The process can do work: route requests here only while this is 200. */
export async function answerReadiness(
  response: ServerResponse,
  { draining, isReady }: { readonly draining: boolean; readonly isReady: () => Promise<boolean> },
): Promise<void> {
  if (draining) {
    answer(response, false, 'stopping');
    return;
  }
  const ready = await isReady();
  answer(response, ready, ready ? 'ready' : 'unavailable');
}
