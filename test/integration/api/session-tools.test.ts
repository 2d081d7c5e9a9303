import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from '../../../src/agent/tools/define-tool.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { chatClient, openTurn } from '../../support/client.js';
import { createSession, decideApproval, submitToolResult } from '../../support/documents.js';
import * as script from '../../support/script.js';

let app: TestApp;
let client: ReturnType<typeof chatClient>;
beforeAll(async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays somebody.',
    parameters: z.object({ to: z.string() }),
    sideEffect: 'write',
    requiresApproval: true,
    run: ({ to }) => `paid ${to}`,
  });
  app = await startTestApp({}, { tools: [pay] });
  client = chatClient(app.url);
});
afterEach(() => expect(app.provider.violations).toEqual([]));
afterAll(() => app.close());

const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
const locate = { name: 'locate', description: 'Where the user is.', parameters };
const toolsOf = async (id: string) =>
  (await client.run('query ($id: ID!) { chatSession(id: $id) { tools { name origin } } }', { id })).data.chatSession
    .tools;
const create = (input: object) => client.run(createSession, { input });

describe('tools in the schema', () => {
  it('are listed with what a frontend wants to know of them', async () => {
    const { data } = await client.run('{ tools { name description parameters origin sideEffect requiresApproval } }');
    expect(data.tools.map(({ name, origin }: { name: string; origin: string }) => [name, origin])).toEqual(
      expect.arrayContaining([
        ['ask_user', 'BUILT_IN'],
        ['current_time', 'BUILT_IN'],
        ['calculator', 'BUILT_IN'],
        ['pay', 'SERVER'],
      ]),
    );
    expect(data.tools.find(({ name }: { name: string }) => name === 'pay')).toEqual({
      name: 'pay',
      description: 'Pays somebody.',
      parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
      origin: 'SERVER',
      sideEffect: 'WRITE',
      requiresApproval: true,
    });
  });

  it('belong to a session as it names them, and its own come last', async () => {
    const names = async (input: Record<string, unknown>) =>
      (await toolsOf(await client.createSession(input))).map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(expect.arrayContaining(['ask_user', 'current_time', 'calculator', 'pay']));
    expect(await names({ tools: null })).toEqual(await names({}));
    expect(await names({ tools: [] })).toEqual([]);
    expect(await names({ tools: ['pay', 'calculator', 'pay'] })).toEqual(['calculator', 'pay']);
    expect(await names({ tools: ['ask_user'], clientTools: [locate] })).toEqual(['ask_user', 'locate']);
    const fork = await client.fork(await client.createSession({ tools: [], clientTools: [locate] }));
    expect(await toolsOf(fork)).toEqual([{ name: 'locate', origin: 'CLIENT' }]);
  });

  it('are offered to the model as the session has them', async () => {
    const sessionId = await client.createSession({ tools: ['calculator'], clientTools: [locate] });
    app.provider.enqueue(
      script.callTools([{ id: 'c1', name: 'calculator', arguments: { expression: '0.1 + 0.2' } }]),
      script.reply('0.3'),
    );
    const first = app.provider.requests.length;
    await client.send(sessionId, 'what is 0.1 + 0.2?');
    const { body } = await app.provider.request(first + 1);
    expect((body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)).toEqual([
      'calculator',
      'locate',
    ]);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: '0.3' });
  });

  it('that do not exist are refused with the names of those that do', async () => {
    const { errors } = await create({ tools: ['calculator', 'subtract'] });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/tools names "subtract".*ask_user, .*calculator/),
      extensions: { code: 'BAD_USER_INPUT' },
    });
  });

  it.each<[string, readonly object[], RegExp]>([
    ['an illegal name', [{ ...locate, name: 'where am I' }], /clientTools\.0\.name must be/],
    ['no name', [{ ...locate, name: '' }], /clientTools\.0\.name must be/],
    ['the name of a tool of the server', [{ ...locate, name: 'pay' }], /clientTools\.0\.name is pay, which is taken/],
    ['the name of ask_user', [{ ...locate, name: 'ask_user' }], /taken/],
    ['a name that the server keeps for itself', [{ ...locate, name: 'find_tools' }], /taken/],
    ['the same name twice', [locate, locate], /clientTools\.1\.name is locate, which is taken/],
    ['a blank description', [{ ...locate, description: ' ' }], /clientTools\.0\.description is empty/],
    ['a long description', [{ ...locate, description: 'x'.repeat(5_000) }], /clientTools\.0\.description has 5000/],
    ['parameters that are no object', [{ ...locate, parameters: [] }], /clientTools\.0\.parameters must be/],
    ['parameters of another type', [{ ...locate, parameters: { type: 'string' } }], /must be "object"/],
    ['no type at all', [{ ...locate, parameters: {} }], /must be "object"/],
    [
      'a schema that does not compile',
      [{ ...locate, parameters: { type: 'object', properties: { a: { type: 'numbr' } } } }],
      /not a valid JSON Schema/,
    ],
    [
      'a schema that refers to something',
      [{ ...locate, parameters: { type: 'object', properties: { a: { $ref: '#' } } } }],
      /has a \$ref/,
    ],
    [
      'a schema that is too large',
      [{ ...locate, parameters: { type: 'object', description: 'x'.repeat(20_000) } }],
      /the limit is 16384/,
    ],
    [
      'too many tools',
      Array.from({ length: 65 }, (_, at) => ({ ...locate, name: `tool_${at}` })),
      /has 65 tools and the limit is 64/,
    ],
  ])('of a client are refused with %s', async (_case, clientTools, message) => {
    const { errors } = await create({ clientTools });
    expect(errors?.[0]?.extensions?.code).toBe('BAD_USER_INPUT');
    expect(errors?.[0]?.message).toMatch(message);
  });

  it('may be created twice under one clientSessionId, if they are the same', async () => {
    const input = { clientSessionId: 's1', tools: ['calculator'], clientTools: [locate] };
    const first = await client.createSession(input);
    expect(await client.createSession(input)).toBe(first);
    const { errors } = await create({ ...input, tools: [] });
    expect(errors?.[0]?.extensions?.code).toBe('IDEMPOTENCY_KEY_REUSED');
  });
});

describe('what a turn waits for', () => {
  it('is an approval, asked for and decided over the wire', async () => {
    const sessionId = await client.createSession();
    app.provider.enqueue(
      script.callTools([{ id: 'p1', name: 'pay', arguments: { to: 'Ann' } }]),
      script.reply('Paid.'),
    );
    const turn = openTurn(app.url, 'ws', sessionId, 'pay Ann');
    const { request } = await turn.until(({ __typename }) => __typename === 'InputRequested');
    expect(request).toMatchObject({
      __typename: 'ToolApproval',
      toolCall: { id: 'p1', name: 'pay', arguments: { to: 'Ann' }, status: 'PENDING', result: null },
    });
    expect((await client.session(sessionId)).pendingInput).toMatchObject({
      __typename: 'ToolApproval',
      id: request.id,
    });
    const refused = await client.trySend(sessionId, 'and?');
    expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'INPUT_PENDING', requestId: request.id });
    const { data } = await client.run(decideApproval, { input: { requestId: request.id, approved: true } });
    expect(data.decideApproval).toMatchObject({ id: request.turnId });
    const rest = await turn.rest();
    expect(rest.map(({ __typename }) => __typename).slice(0, 3)).toEqual([
      'InputResolved',
      'ToolCallStarted',
      'ToolCallCompleted',
    ]);
    expect(rest[2].toolCall).toMatchObject({ status: 'SUCCEEDED', result: 'paid Ann' });
    const late = await client.run(decideApproval, { input: { requestId: request.id, approved: false } });
    expect(late.errors?.[0]?.extensions?.code).toBe('INPUT_ALREADY_RESOLVED');
  });

  it('is a tool of the client, over the wire', async () => {
    const sessionId = await client.createSession({ clientTools: [locate] });
    app.provider.enqueue(script.callTools([{ id: 'c1', name: 'locate', arguments: { n: 1 } }]), script.reply('Rome.'));
    const waiting = await client.send(sessionId, 'where am I?');
    expect(waiting).toMatchObject({
      finishReason: 'INPUT_REQUIRED',
      pendingInput: {
        __typename: 'ClientToolCall',
        toolCall: { name: 'locate', arguments: { n: 1 }, status: 'RUNNING' },
      },
    });
    const first = app.provider.requests.length;
    const input = { requestId: waiting.pendingInput.id, result: 'Rome', isError: null };
    expect((await client.run(submitToolResult, { input })).errors).toBeUndefined();
    const { body } = await app.provider.request(first);
    expect(body.messages.at(-1)).toMatchObject({ role: 'tool', content: 'Rome' });
  });

  it('takes no id that is none', async () => {
    const { errors } = await client.run(decideApproval, { input: { requestId: 'nonsense', approved: true } });
    expect(errors?.[0]?.extensions?.code).toBe('BAD_USER_INPUT');
  });
});
