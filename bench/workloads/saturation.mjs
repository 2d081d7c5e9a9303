import { script } from '../stage/script.mjs';
import { measure } from './measure.mjs';
import { openMany, withClient } from './with-client.mjs';

const figures = ({ cpuUs, wallUs }, tokens) => ({
  cpuUsPerToken: cpuUs / tokens,
  tokensPerSecond: (tokens / wallUs) * 1e6,
});

/** A provider as fast as it can: three turns of 5,000 tokens one after another, then 50 turns of 500 at once. */
export const saturation = (stage) =>
  withClient(stage, async (client) => {
    let tokens = 0;
    const count = () => {
      tokens += 1;
    };
    const three = await openMany(client, 3);
    const alone = await measure(stage, async () => {
      for (const { ask } of three) await ask(script({ tokens: 5_000 }), count);
    });
    const one = figures(alone, tokens);
    tokens = 0;
    const fifty = await openMany(client, 50);
    const together = await measure(stage, () =>
      Promise.all(fifty.map(({ ask }) => ask(script({ tokens: 500 }), count))),
    );
    return { w1a: one, w1b: figures(together, tokens) };
  });
