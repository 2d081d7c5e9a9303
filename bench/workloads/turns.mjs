import { microseconds } from '../stage/clock.mjs';
import { script } from '../stage/script.mjs';
import { measure } from './measure.mjs';
import { quantile } from './statistics.mjs';
import { ignoreToken, openMany, withClient } from './with-client.mjs';

const sessions = 32;
const turnsEach = 50;
const text = `a short question ${script({ tokens: 1 })}`;

/** Short turns of a provider that answers at once: 32 sessions, 50 turns each, one after another. */
export const turns = (stage) =>
  withClient(stage, async (client) => {
    const conversations = await openMany(client, sessions);
    const times = [];
    const taken = await measure(stage, () =>
      Promise.all(
        conversations.map(async ({ ask }) => {
          for (let turn = 0; turn < turnsEach; turn += 1) {
            const start = microseconds();
            await ask(text, ignoreToken);
            times.push(microseconds() - start);
          }
        }),
      ),
    );
    const all = sessions * turnsEach;
    return {
      w3: {
        turnsPerSecond: (all / taken.wallUs) * 1e6,
        cpuUsPerTurn: taken.cpuUs / all,
        statementsPerTurn: taken.statements / all,
        turnP50Us: quantile(times, 0.5),
        turnP99Us: quantile(times, 0.99),
      },
    };
  });
