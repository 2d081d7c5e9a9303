import type { Result } from './results.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Result;
}

export interface HttpOptions {
  readonly headers?: Record<string, string>;
  readonly operationName?: string;
  readonly signal?: AbortSignal;
}

/** Sends one operation by POST, as every GraphQL client does. `url` is that of the endpoint, with /graphql. */
export async function gql(
  url: string,
  query: string,
  variables?: Record<string, unknown>,
  { headers, operationName, signal }: HttpOptions = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
    body: JSON.stringify({ query, variables, operationName }),
    ...(signal ? { signal } : {}),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Result };
}

/**
 * Data of an operation that must succeed.
 *
 * @throws Error with the errors of the answer
 */
export async function gqlData(
  url: string,
  query: string,
  variables?: Record<string, unknown>,
  options?: HttpOptions,
): Promise<NonNullable<Result['data']>> {
  const { body, status } = await gql(url, query, variables, options);
  if (body.errors || !body.data) {
    throw new Error(`the operation failed (${status}): ${JSON.stringify(body.errors ?? body)}`);
  }
  return body.data;
}
