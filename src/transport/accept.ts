const typesOf = (accept: string | null): string[] =>
  (accept ?? '*/*').split(',').map((type) => type.split(';', 1)[0]?.trim().toLowerCase() ?? '');

/** Whether the client can read a stream of results. */
export const acceptsStream = (accept: string | null): boolean =>
  typesOf(accept).some((type) => ['text/event-stream', 'text/*', '*/*'].includes(type));

/** Whether the client reads nothing but streams, so that even a single answer has to be one. */
export const acceptsOnlyStream = (accept: string | null): boolean => {
  const types = typesOf(accept);
  const json = ['application/json', 'application/graphql-response+json', 'application/*', '*/*'];
  return types.includes('text/event-stream') && !types.some((type) => json.includes(type));
};

export const acceptsHtml = (accept: string | null): boolean => typesOf(accept).includes('text/html');

/** The media type of a refusal that GraphQL had no part in. */
export const jsonTypeFor = (accept: string | null): string =>
  typesOf(accept).includes('application/graphql-response+json')
    ? 'application/graphql-response+json; charset=utf-8'
    : 'application/json; charset=utf-8';
