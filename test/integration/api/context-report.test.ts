import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp, type TestApp } from '../../support/app.js';
import { chatClient, openEvents, type Transport } from '../../support/client.js';
import { prose } from '../../support/histories.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const fields = `strategy windowTokens usedTokens utilization systemTokens toolTokens historyTokens messagesTotal messagesKept
  messagesCompressed messagesDropped tokensSaved fidelity { l0 l1 l2 l3 } toolsLoaded toolsAvailable`;
const stream = `subscription ($input: StreamInput!) { stream(input: $input) {
  __typename ... on TurnEvent { turnId }
  ... on ContextReported { step report { ${fields} } }
  ... on TurnCompleted { response { contextReport { ${fields} } } }
} }`;

describe.each<Transport>(['ws', 'sse'])('the report of a prompt, over %s,', (transport) => {
  it('comes before the reply, with its answer, and when the turn is read later', async () => {
    const client = chatClient(app.url);
    const sessionId = await client.createSession();
    await client.seed(
      sessionId,
      Array.from({ length: 200 }, (_, at) => [
        { role: 'USER', content: `${at}: ${prose(120, at + 1)}` },
        { role: 'ASSISTANT', content: prose(120, at + 9) },
      ]).flat(),
    );
    const events = await openEvents(app.url, transport, stream, { input: { sessionId, message: 'go on' } }).rest();
    const kinds = events.map(({ __typename }) => __typename);
    expect(kinds.indexOf('ContextReported')).toBe(1);
    const { step, report } = events[1];
    expect(step).toBe(1);
    expect(report).toMatchObject({ windowTokens: 32_768, messagesTotal: 401, toolsLoaded: 3, toolsAvailable: 3 });
    expect(report.strategy).not.toBe('PASSTHROUGH');
    expect(report.usedTokens).toBe(report.systemTokens + report.toolTokens + report.historyTokens);
    expect(report.usedTokens).toBeLessThanOrEqual(32_768 - 4_096);
    expect(report.utilization).toBeCloseTo(report.usedTokens / 32_768, 10);
    expect(report.messagesKept + report.messagesCompressed + report.messagesDropped).toBe(401);
    expect(events.at(-1).response.contextReport).toEqual(report);
    const { data } = await client.run(
      `query ($id: ID!) { node(id: $id) { ... on Turn { response { contextReport { ${fields} } } } } }`,
      { id: events[0].turnId },
    );
    expect(data.node.response.contextReport).toEqual(report);
  });
});
