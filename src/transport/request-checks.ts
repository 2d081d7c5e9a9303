import { useCSRFPrevention } from '@graphql-yoga/plugin-csrf-prevention';
import { type DocumentNode, GraphQLError, Kind } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { badInput, type ErrorCode } from '../errors.js';
import { isDeeperThan, parseWithinLimits } from './document-limits.js';

/**
 * A request that a browser may send across origins without asking first must carry one of these. A POST with
 * `content-type: application/json` needs none of them.
 */
export const preflightHeaders = ['graphql-require-preflight', 'apollo-require-preflight'];

/** JSON in variables and extensions; the scalar JSON of the schema is stricter. */
const deepestJson = 64;

function changesSomething(document: DocumentNode, operationName: string | null): boolean {
  return document.definitions.some(
    (definition) =>
      definition.kind === Kind.OPERATION_DEFINITION &&
      definition.operation !== 'query' &&
      (operationName === null || definition.name?.value === operationName),
  );
}

const refused = (code: ErrorCode, message: string, status: number, headers: Record<string, string> = {}) =>
  new GraphQLError(message, { extensions: { code, http: { status, headers } } });

function checkJsonParameter(name: string, text: string | null): void {
  try {
    if (text !== null && text !== '') {
      JSON.parse(text);
    }
  } catch {
    throw refused('BAD_USER_INPUT', `The parameter ${name} is not valid JSON.`, 400);
  }
}

/** Refuses variables and extensions that would be walked through level by level later on. */
export function checkJsonDepth(params: { readonly variables?: unknown; readonly extensions?: unknown }): void {
  for (const [name, value] of Object.entries({ variables: params.variables, extensions: params.extensions })) {
    if (isDeeperThan(value, deepestJson)) {
      throw badInput(`The ${name} are nested too deep: ${deepestJson} levels are allowed.`);
    }
  }
}

/** A link or an image can make any browser send a GET: nothing but queries may come that way. */
function checkGet(parameters: URLSearchParams): void {
  const query = parameters.get('query');
  if (query !== null && query !== '') {
    let document: DocumentNode | null = null;
    try {
      document = parseWithinLimits(query);
    } catch {
      // The parse that follows reports it.
    }
    if (document && changesSomething(document, parameters.get('operationName') || null)) {
      const message = 'Send mutations and subscriptions with POST: GET is for queries.';
      throw refused('BAD_USER_INPUT', message, 405, { Allow: 'POST' });
    }
  }
  checkJsonParameter('variables', parameters.get('variables'));
  checkJsonParameter('extensions', parameters.get('extensions'));
}

/** What is wrong with the form of a request, found before its body is read. */
export function useRequestChecks(): Plugin {
  const csrf: Plugin = useCSRFPrevention({ requestHeaders: preflightHeaders });
  return {
    onRequestParse(payload) {
      if (payload.request.method === 'GET') {
        checkGet(payload.url.searchParams);
      }
      try {
        csrf.onRequestParse?.(payload);
      } catch {
        throw refused(
          'FORBIDDEN',
          `Send POST with content-type application/json, or add the header ${preflightHeaders[0]} with any value.`,
          403,
        );
      }
    },
    onParams: ({ params }) => checkJsonDepth(params),
  };
}
