import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestChat, type TestChat } from '../support/chat.js';
import * as script from '../support/script.js';

// Found by a new user: every stop of a queue moved the numbers of a session's events on by four millions. After some
// hundred of them they had run out, and nothing could be stopped, closed or deleted any more.
let test: TestChat;
beforeAll(async () => {
  test = await startTestChat();
});
afterAll(() => test.close());

it('stopping a turn with others behind it takes no numbers from the session but those that were told', async () => {
  const sessionId = await test.createSession();
  const { service } = test.chat;
  const numbers: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const gate = script.gate();
    test.provider.enqueue([script.text('working'), script.pause(gate)]);
    const sending = service.send(test.caller, { sessionId, message: 'long' });
    await gate.reached;
    const queued = await service.stream(test.caller, { sessionId, message: 'next', whenBusy: 'ENQUEUE' });
    await service.stop(test.caller, sessionId);
    const { turnId } = await sending;
    for await (const event of await service.turnEvents(test.caller, turnId)) numbers.push(event.sequence);
    for await (const event of queued) expect(['TurnStarted', 'TurnStopped']).toContain(event.type);
  }
  expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  expect(numbers.at(-1)).toBeLessThan(100);
});
