import { pause } from '../stage/clock.mjs';
import { script, silence } from '../stage/script.mjs';
import { memoryOf } from './memory.mjs';
import { ignoreToken, openMany, withClient } from './with-client.mjs';

const turns = 1_000;
const atATime = 50;

async function startSilentTurns(client, { provider }, count, fail) {
  const held = await provider.ask('silent');
  for (let started = 0; started < count; started += atATime) {
    const conversations = await openMany(client, atATime);
    for (const { ask } of conversations) ask(silence, ignoreToken).catch(fail);
    while ((await provider.ask('silent')) < held + started + atATime) await pause(10);
  }
}

/** Turns that run, whose provider has sent headers and nothing else. */
export const silentTurns = (stage) =>
  withClient(stage, async (client) => {
    let fail;
    const failed = new Promise((_resolve, reject) => {
      fail = reject;
    });
    const { ask } = await client.open();
    await ask(script({ tokens: 1 }), ignoreToken);
    const figures = async () => {
      await startSilentTurns(client, stage, 50, fail);
      return memoryOf(turns, stage, () => startSilentTurns(client, stage, turns, fail));
    };
    return { w5held: await Promise.race([figures(), failed]) };
  });
