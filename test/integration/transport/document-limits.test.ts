import { getIntrospectionQuery } from 'graphql';
import { describe, expect, it } from 'vitest';
import { documentLimits } from '../../../src/transport/document-limits.js';
import { gql } from '../../clients/http.js';
import { codesOf } from '../../clients/results.js';
import { rawSocket } from '../../clients/ws.js';
import { useTransport } from '../../support/transport.js';

const times = (count: number, make: (index: number) => string, separator = ' ') =>
  Array.from({ length: count }, (_, index) => make(index)).join(separator);
const nested = (levels: number) => `{ ${'node { '.repeat(levels - 1)}name${' }'.repeat(levels - 1)} }`;

/** As much for the validator to compare as the limits let through. */
const heaviest = `{ node { ${times(8, (i) => `...F${i}`)} } } ${times(
  8,
  (i) =>
    `fragment F${i} on TreeNode { ${times(30, () => 'name')} node { ${times(30, () => 'name')} node { ${times(30, () => 'name')} nodes { ${times(30, () => 'name')} } } } }`,
)}`;

describe('a document within the limits', () => {
  it.each([
    ['the introspection query of every tool', getIntrospectionQuery()],
    [
      'the introspection query with everything that can be asked',
      getIntrospectionQuery({
        descriptions: true,
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      }),
    ],
    ['the deepest one', nested(documentLimits.depth)],
    ['the one with the most aliases', `{ ${times(documentLimits.aliases, (index) => `a${index}: hello`)} }`],
    ['the most mutations at once', `mutation { ${times(documentLimits.mutationFields, (i) => `m${i}: bump`)} }`],
    ['the most of one name in one place', `{ ${times(documentLimits.repeats, () => 'hello')} }`],
    ['many fragments of many fields', heaviest],
    ['the most characters', `{ hello }${' '.repeat(documentLimits.characters - 9)}`],
    [
      'fragments beside each other',
      '{ node { ...A } } fragment A on TreeNode { name node { ...B } } fragment B on TreeNode { name }',
    ],
  ])('is answered: %s', async (_what, query) => {
    const { url } = await useTransport();
    const { body } = await gql(url, query);
    expect(body.errors).toBeUndefined();
    expect(body.data).toBeDefined();
  });
});

/** The ways of making one request cost more than many, as graphql-cop and others collect them. */
const attacks: readonly (readonly [what: string, query: string, reason: RegExp])[] = [
  ['one level too deep', nested(documentLimits.depth + 1), /nested 21 levels deep; 20 are allowed/],
  [
    'deep through fragments',
    `{ node { ...F0 } } ${times(25, (i) => `fragment F${i} on TreeNode { node { ${i < 24 ? `...F${i + 1}` : 'name'} } }`)}`,
    /nested/,
  ],
  ['50,000 nested selections', `{ node ${'{ node '.repeat(50_000)}`, /tokens|characters|brackets/],
  ['900 list brackets, closed again', `{ echo(text: ${'['.repeat(900)}"a"${']'.repeat(900)}) }`, /brackets/],
  ['50,000 list brackets', `{ echo(text: ${'['.repeat(50_000)}`, /tokens|characters|brackets/],
  ['one alias too many', `{ ${times(documentLimits.aliases + 1, (index) => `a${index}: hello`)} }`, /31 aliases/],
  ['101 aliases', `{ ${times(101, (index) => `a${index}: hello`)} }`, /aliases/],
  [
    '100 aliased messages',
    `mutation { ${times(100, (i) => `a${i}: send(input: {sessionId: "1", message: "m"})`)} }`,
    /tokens|aliases/,
  ],
  [
    'two messages',
    'mutation { a: send(input: {sessionId: "1", message: "m"}) b: send(input: {sessionId: "1", message: "n"}) }',
    /one turn/,
  ],
  [
    'two messages, one in a fragment',
    'mutation { send(input: {sessionId: "1", message: "m"}) ...F } fragment F on Mutation { ... { b: send(input: {sessionId: "1", message: "n"}) } }',
    /one turn/,
  ],
  [
    'one mutation too many',
    `mutation { ${times(documentLimits.mutationFields + 1, (i) => `m${i}: bump`)} }`,
    /10 mutations, not 11/,
  ],
  ['one token too many', `{ ${times(documentLimits.tokens - 1, () => 'hello')} }`, /tokens/],
  ['one character too many', `{ hello }${' '.repeat(documentLimits.characters - 8)}`, /characters/],
  [
    'fragments that double each other',
    `{ node { ...F0 } } ${times(60, (i) => `fragment F${i} on TreeNode { ${i < 59 ? `...F${i + 1} ...F${i + 1}` : 'name'} }`)}`,
    /fields/,
  ],
  [
    'fragments in a circle',
    '{ node { ...A } } fragment A on TreeNode { node { ...B } } fragment B on TreeNode { node { ...A } }',
    /Cannot spread fragment "A" within itself/,
  ],
  ['51 directives', `{ hello ${times(51, () => '@include(if: true)')} }`, /directives/],
  ['10 times the same directive', `{ hello ${times(10, () => '@include(if: true)')} }`, /can only be used once/],
  [
    'introspection in a circle',
    '{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }',
    /introspection depth/i,
  ],
];

describe('a document beyond the limits', () => {
  it.each(attacks)('is refused before anything runs: %s (A74)', async (_what, query, reason) => {
    const { url, activity } = await useTransport();
    const { body } = await gql(url, query);
    expect(body).not.toHaveProperty('data');
    expect(codesOf(body)[0]).toBe('BAD_USER_INPUT');
    expect(body.errors?.[0]?.message).toMatch(reason);
    expect([activity.sends, activity.bumps]).toEqual([[], 0]);
  });

  it('is refused over WebSocket in the same words, and the socket goes on', async () => {
    const { url, activity } = await useTransport();
    const socket = await rawSocket(url);
    await socket.init();
    for (const [what, query, reason] of attacks) {
      socket.subscribe(what, query);
      const frame = await socket.receiveFor(what);
      expect(frame?.type, what).toBe('error');
      expect(frame?.payload[0]).toMatchObject({
        message: expect.stringMatching(reason),
        extensions: { code: 'BAD_USER_INPUT' },
      });
    }
    socket.subscribe('after', '{ hello }');
    expect(await socket.receiveFor('after')).toMatchObject({ type: 'next', payload: { data: { hello: 'world' } } });
    expect(activity.sends).toEqual([]);
    await socket.close();
  });

  it('may have just as many tokens as it is told', async () => {
    const { url } = await useTransport();
    const message = async (count: number) =>
      (await gql(url, `{ ${times(count - 2, () => 'hello')} }`)).body.errors?.[0]?.message;
    expect(await message(documentLimits.tokens)).not.toMatch(/tokens/);
    expect(await message(documentLimits.tokens + 1)).toMatch(/more than 2000 tokens/);
  });

  it('takes no time worth mentioning, whether it is refused or just allowed', async () => {
    const { url } = await useTransport();
    // The shapes that made validators take seconds: many fields of one name, with equal and with different arguments.
    const worst = [
      heaviest,
      `{ ${times(990, () => '__typename')} }`,
      `{ ${times(280, () => 'echo(text: "a")')} }`,
      `{ ${times(280, (i) => `echo(text: "${i}")`)} }`,
      `{ node { ${times(60, (i) => `...F${i}`)} } } ${times(60, (i) => `fragment F${i} on TreeNode { name node { name nodes { name } } }`)}`,
      ...attacks.map(([, query]) => query),
    ];
    await gql(url, '{ hello }');
    const slow: [number, string][] = [];
    for (const query of worst) {
      const startedAt = performance.now();
      await gql(url, query);
      slow.push([performance.now() - startedAt, query.slice(0, 60)]);
    }
    slow.sort(([one], [other]) => other - one);
    expect(slow[0]?.[0]).toBeLessThan(500);
  });
});

describe('variables', () => {
  const deep = (levels: number) => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`) as unknown;
  const text = (levels: number) =>
    `{"query":"{ hello }","variables":{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}}`;

  it('may be nested as deep as any input is', async () => {
    const { url } = await useTransport();
    const { body } = await gql(url, '{ hello }', { deep: deep(60) });
    expect(body).toEqual({ data: { hello: 'world' } });
  });

  it('are refused when they are 200,000 levels deep, over HTTP and WebSocket', async () => {
    const { url } = await useTransport();
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: text(200_000),
    });
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { errors: [{ message: 'The variables are nested too deep: 64 levels are allowed.' }] },
    ]);
    const socket = await rawSocket(url);
    await socket.init();
    socket.send(`{"id":"1","type":"subscribe","payload":${text(200_000)}}`);
    expect(await socket.receiveFor('1')).toMatchObject({
      type: 'error',
      payload: [{ message: 'The variables are nested too deep: 64 levels are allowed.' }],
    });
    await socket.close();
  });
});
