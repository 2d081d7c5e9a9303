import { script } from '../stage/script.mjs';
import { ignoreToken, openMany, withClient } from './with-client.mjs';

async function repeat(times, conversations, text) {
  for (let turn = 0; turn < times; turn += 1) {
    await Promise.all(conversations.map(({ ask }) => ask(text, ignoreToken)));
  }
}

/** 12,000 tokens and 60 short turns, so that what is measured has been compiled. */
export const warmUp = (stage) =>
  withClient(stage, async (client) => {
    const conversations = await openMany(client, 4);
    await repeat(6, conversations, script({ tokens: 500 }));
    await repeat(15, conversations, script({ tokens: 1 }));
  });
