import { microseconds } from '../stage/clock.mjs';
import { script } from '../stage/script.mjs';
import { median } from './statistics.mjs';
import { ignoreToken, withClient } from './with-client.mjs';

const size = 200;
const text = `a question ${script({ tokens: 1, padding: size - 8 })}`.padEnd(size, '.');
/** The turns around the tenth, and as many around the ten thousandth. */
const measured = 11;
const longSession = 10_000;

/** Median time and mean CPU of turns, one after another. */
async function timeTurns({ server }, { ask }, count) {
  const cpu = await server.ask('cpu');
  const times = [];
  for (let turn = 0; turn < count; turn += 1) {
    const start = microseconds();
    await ask(text, ignoreToken);
    times.push(microseconds() - start);
  }
  return { timeUs: median(times), cpuUs: ((await server.ask('cpu')) - cpu) / count };
}

/** What autovacuum does by and by for rows that come one after another. */
const tidyUp = ({ database }) => database.use((db) => db.query('VACUUM ANALYZE'));

async function growTo(turns, stage, conversation) {
  const { peer, database } = stage;
  await database.use((db) => peer.addTurns(db, { sessionId: conversation.id, turns, text }));
  await tidyUp(stage);
  // A session that keeps its newest messages only has thousands to take out now, which in life went two by two.
  await timeTurns(stage, conversation, 4);
  await tidyUp(stage);
}

/**
 * One session of 200 bytes each way: turns 5 to 15, and turns 9,995 to 10,005 of another that was brought to that length
 * by rows such as the turns would have left.
 */
export const longSessions = (stage) =>
  withClient(stage, async (client) => {
    const young = await client.open();
    await timeTurns(stage, young, 4);
    const at10 = await timeTurns(stage, young, measured);
    const old = await client.open();
    await timeTurns(stage, old, 4);
    await growTo(longSession - 4 - 6 - 4 - 4, stage, old);
    await timeTurns(stage, old, 4);
    const at10000 = await timeTurns(stage, old, measured);
    return {
      w4: {
        turn10Us: at10.timeUs,
        turn10000Us: at10000.timeUs,
        growth: at10000.timeUs / at10.timeUs,
        cpu10Us: at10.cpuUs,
        cpu10000Us: at10000.cpuUs,
      },
    };
  });
