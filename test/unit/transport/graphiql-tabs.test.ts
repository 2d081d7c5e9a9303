import { readFileSync } from 'node:fs';
import { buildSchema, getOperationAST, parse, validate } from 'graphql';
import { getVariableValues } from 'graphql/execution/values.js';
import { describe, expect, it } from 'vitest';
import { graphiqlTabs, lastSession } from '../../../src/transport/graphiql-tabs.js';

const schema = buildSchema(readFileSync(new URL('../../../schema.graphql', import.meta.url), 'utf8'));
const tabs = graphiqlTabs({ authRequired: false });

describe('the tabs of GraphiQL', () => {
  it('lead from a new session to what it cost', () => {
    const names = tabs.map(({ query }) => getOperationAST(parse(query))?.name?.value);
    expect(names).toEqual(['CreateSession', 'Send', 'Stream', 'SeedHistory', 'HistoryAndCost', 'Stop']);
  });

  it.each(tabs.map(({ query, variables }) => [getOperationAST(parse(query))?.name?.value, query, variables] as const))(
    'are operations of this schema: %s',
    (_name, query, variables) => {
      const document = parse(query);
      expect(validate(schema, document)).toEqual([]);
      const operation = getOperationAST(document);
      const given = JSON.parse(variables ?? '{}') as Record<string, unknown>;
      const { errors } = getVariableValues(schema, operation?.variableDefinitions ?? [], given);
      expect(errors).toBeUndefined();
    },
  );

  it('begin with a comment that fits into the editor, and need no id but the last session’s', () => {
    for (const { query, variables } of tabs) {
      const comments = query.split('\n').filter((line) => line.startsWith('#'));
      expect(comments.length).toBeGreaterThan(0);
      expect(Math.max(...comments.map((line) => line.length))).toBeLessThan(60);
      expect(variables ?? lastSession).toContain(lastSession);
    }
  });

  it('show where a token goes on a server that asks for one', () => {
    for (const { query, headers } of graphiqlTabs({ authRequired: true })) {
      expect(query).toContain('TOKEN');
      expect(JSON.parse(headers ?? '')).toEqual({ authorization: 'Bearer TOKEN' });
    }
  });
});
