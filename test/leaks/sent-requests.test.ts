import { afterAll, beforeAll, expect, it } from 'vitest';
import { countObjects } from '../support/memory.js';
import { createTestModel, userRequest } from '../support/model-call.js';
import { type ScriptedProvider, startProvider } from '../support/provider.js';
import { gate, pause, reply, text } from '../support/script.js';

let provider: ScriptedProvider;
beforeAll(async () => {
  provider = await startProvider();
});
afterAll(() => provider.close());

const calls = 20;

it('keeps neither headers nor body of a request while its reply comes in', async () => {
  const model = createTestModel(provider.url);
  const rest = gate();
  const begun = async () => {
    provider.enqueue([text('a'), pause(rest), reply('b')]);
    const events = model.stream(userRequest(), new AbortController().signal)[Symbol.asyncIterator]();
    expect(await events.next()).toMatchObject({ value: { text: 'a' } });
    return events;
  };
  const first = await begun();
  const before = countObjects(Headers);
  const more = await Promise.all(Array.from({ length: calls }, begun));
  // The body of a request was in the same hands as its headers.
  expect(countObjects(Headers)).toBe(before);

  rest.open();
  for (const events of [first, ...more]) {
    let whole = '';
    for (let step = await events.next(); !step.done; step = await events.next()) {
      if (step.value.type === 'text') whole += step.value.text;
    }
    expect(whole).toBe('b');
  }
});
