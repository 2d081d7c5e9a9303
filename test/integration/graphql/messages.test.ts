import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globalId } from '../../../src/graphql/ids.js';
import { newId } from '../../../src/ids.js';
import { codesOf, startTestSchema, statementsOf, type TestSchema } from '../../support/graphql.js';
import { type RowWriter, rowWriter } from '../../support/rows.js';

const ada = { owner: 'ada', tenant: '' };
let api: TestSchema;
let write: RowWriter;

beforeAll(async () => {
  api = await startTestSchema();
  write = rowWriter(api.database.prisma);
});
afterAll(() => api.close());

const readSession = async (session: string, fields: string) => {
  const { data, errors } = await api.run(ada, `query ($id: ID!) { chatSession(id: $id) { ${fields} } }`, {
    id: globalId('ChatSession', session),
  });
  expect(errors).toBeUndefined();
  return data.chatSession;
};

describe('a message', () => {
  it('shows images in their order, a URL as it was sent and stored bytes as a data URI', async () => {
    const session = await write.session(ada);
    const [message] = await write.messages(session, [{}]);
    const digest = 'b'.repeat(64);
    const { prisma } = api.database;
    await prisma.imageBlob.create({
      data: { sessionId: session, digest, mimeType: 'image/gif', byteSize: 6, data: Buffer.from('GIF89a') },
    });
    const image = { sessionId: session, messageId: String(message) };
    await prisma.messageImage.createMany({
      data: [
        { ...image, id: newId(), position: 1, url: 'https://example.com/cat.png?size=1' },
        { ...image, id: newId(), position: 0, digest },
        { ...image, id: newId(), position: 2, digest },
      ],
    });
    const gif = { url: 'data:image/gif;base64,R0lGODlh', mimeType: 'image/gif', bytes: 6 };
    expect(await readSession(session, 'history { images { url mimeType bytes } }')).toEqual({
      history: [{ images: [gif, { url: 'https://example.com/cat.png?size=1', mimeType: null, bytes: null }, gif] }],
    });
    expect(await readSession(session, 'history { images { url } }')).toMatchObject({
      history: [{ images: [{ url: gif.url }, {}, { url: gif.url }] }],
    });
  });

  it('refuses to put more than 128 MiB of images into one answer, and reads none of them then', async () => {
    const session = await write.session(ada);
    const [message] = await write.messages(session, [{}]);
    const digest = 'c'.repeat(64);
    await api.database.pool.query(
      `INSERT INTO image_blobs (session_id, digest, mime_type, byte_size, data)
       SELECT $1, $2, 'image/png', octet_length(data), data FROM convert_to(repeat('x', 34000000), 'UTF8') AS data`,
      [session, digest],
    );
    await api.database.prisma.messageImage.createMany({
      data: [0, 1, 2, 3].map((position) => ({
        id: newId(),
        sessionId: session,
        messageId: String(message),
        position,
        digest,
      })),
    });
    const ask = (fields: string) =>
      api.run(ada, `query ($id: ID!) { chatSession(id: $id) { history { images { ${fields} } } } }`, {
        id: globalId('ChatSession', session),
      });
    const statements = await statementsOf(async () => {
      const result = await ask('url');
      expect(codesOf(result)[0]?.code).toBe('BAD_USER_INPUT');
      expect(result.errors?.[0]?.message).toMatch(/ask for fewer messages at once/);
    });
    expect(statements.filter((text) => text.includes('b.data'))).toEqual([]);
    expect((await ask('mimeType bytes')).errors).toBeUndefined();
  });

  it('shows the tool calls it made, under the ids that tool messages answer', async () => {
    const session = await write.session(ada);
    const [, assistant] = await write.messages(session, [
      {},
      { role: 'ASSISTANT', content: '', seeded: true },
      { role: 'TOOL', content: '4', toolCallId: 'call-2' },
      { role: 'TOOL', content: '2', toolCallId: 'call-1' },
    ]);
    const call = { sessionId: session, messageId: String(assistant), status: 'SUCCEEDED' as const };
    await api.database.prisma.toolCall.createMany({
      data: [
        { ...call, id: newId(), position: 1, callId: 'call-2', name: 'sum', arguments: { a: [1, 3] }, result: '4' },
        { ...call, id: newId(), position: 0, callId: 'call-1', name: 'half', arguments: { a: 4 }, result: '2' },
      ],
    });
    const fields = 'toolCalls { id name arguments status result errorCode durationMs }';
    const { messages } = await readSession(session, `messages { nodes { role seeded toolCallId ${fields} } }`);
    expect(messages.nodes).toEqual([
      { role: 'USER', seeded: false, toolCallId: null, toolCalls: [] },
      {
        role: 'ASSISTANT',
        seeded: true,
        toolCallId: null,
        toolCalls: [
          {
            id: 'call-1',
            name: 'half',
            arguments: { a: 4 },
            status: 'SUCCEEDED',
            result: '2',
            errorCode: null,
            durationMs: null,
          },
          {
            id: 'call-2',
            name: 'sum',
            arguments: { a: [1, 3] },
            status: 'SUCCEEDED',
            result: '4',
            errorCode: null,
            durationMs: null,
          },
        ],
      },
      { role: 'TOOL', seeded: false, toolCallId: 'call-2', toolCalls: [] },
      { role: 'TOOL', seeded: false, toolCallId: 'call-1', toolCalls: [] },
    ]);
  });
});
