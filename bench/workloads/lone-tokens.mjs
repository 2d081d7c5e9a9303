import { microseconds, pause } from '../stage/clock.mjs';
import { script } from '../stage/script.mjs';
import { quantile } from './statistics.mjs';
import { openMany, withClient } from './with-client.mjs';

const turns = 25;
const everyMs = 20;
const perSecond = (turns * 1_000) / everyMs;
/** When all turns run: the last has started, the first has not ended. Milliseconds after the beginning. */
const plateau = { from: 1_600, to: 6_600 };
const text = script({ tokens: 350, everyMs });

/** Tokens that come alone: 25 turns of 50 tokens a second each, started 40 ms apart. */
export const loneTokens = (stage) =>
  withClient(stage, async (client) => {
    const conversations = await openMany(client, turns);
    const ages = [];
    const begin = microseconds();
    const onToken = (age) => {
      const writtenMs = (microseconds() - age - begin) / 1_000;
      if (writtenMs > plateau.from && writtenMs < plateau.to) ages.push(age);
    };
    const cpuAt = async (ms) => {
      await pause(ms - (microseconds() - begin) / 1_000);
      return { cpuUs: await stage.server.ask('cpu'), atUs: microseconds() };
    };
    const samples = Promise.all([cpuAt(plateau.from), cpuAt(plateau.to)]);
    await Promise.all(
      conversations.map(async ({ ask }, index) => {
        await pause(index * 40);
        await ask(text, onToken);
      }),
    );
    const [first, last] = await samples;
    const offered = ((last.atUs - first.atUs) / 1e6) * perSecond;
    return {
      w2b: {
        cpuUsPerToken: (last.cpuUs - first.cpuUs) / offered,
        ageP50Us: quantile(ages, 0.5),
        ageP99Us: quantile(ages, 0.99),
      },
    };
  });
