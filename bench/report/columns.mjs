/**
 * How the figures are shown. `ratio` compares with the hand-written peer.
 *
 * @typedef {{ key: string, title: string, ratio?: boolean, unit?: number }} Column unit: what one shown unit is of the raw one
 */

const ms = 1_000;
const cpuPerToken = { key: 'cpuUsPerToken', title: 'server CPU, µs a token', ratio: true };
const memory = [
  { key: 'rssKib', title: 'RSS, KiB each', ratio: true },
  { key: 'heapKib', title: 'heap, KiB each', ratio: true },
];

export const tables = [
  {
    workload: 'w1a',
    title: 'W1a: one turn of 5,000 tokens at a time',
    columns: [cpuPerToken, { key: 'tokensPerSecond', title: 'tokens a second', ratio: true }],
  },
  {
    workload: 'w1b',
    title: 'W1b: 50 turns of 500 tokens at once',
    columns: [cpuPerToken, { key: 'tokensPerSecond', title: 'tokens a second', ratio: true }],
  },
  {
    workload: 'w2b',
    title: 'W2b: tokens that come alone, 25 turns at 50 tokens a second',
    columns: [
      cpuPerToken,
      { key: 'ageP50Us', title: 'token age p50, ms', ratio: true, unit: ms },
      { key: 'ageP99Us', title: 'token age p99, ms', ratio: true, unit: ms },
    ],
  },
  {
    workload: 'w3',
    title: 'W3: 32 sessions, 50 short turns each, instant provider',
    columns: [
      { key: 'turnsPerSecond', title: 'turns a second', ratio: true },
      { key: 'cpuUsPerTurn', title: 'server CPU, ms a turn', ratio: true, unit: ms },
      { key: 'statementsPerTurn', title: 'SQL statements a turn' },
      { key: 'turnP50Us', title: 'turn p50, ms', unit: ms },
      { key: 'turnP99Us', title: 'turn p99, ms', unit: ms },
    ],
  },
  {
    workload: 'w4',
    title: 'W4: the 10th and the 10,000th turn of a session',
    columns: [
      { key: 'turn10Us', title: 'turn 10, ms', ratio: true, unit: ms },
      { key: 'turn10000Us', title: 'turn 10,000, ms', ratio: true, unit: ms },
      { key: 'growth', title: 'growth' },
      { key: 'cpu10Us', title: 'server CPU of turn 10, ms', unit: ms },
      { key: 'cpu10000Us', title: 'of turn 10,000, ms', unit: ms },
    ],
  },
  { workload: 'w5idle', title: 'W5: 10,000 idle subscriptions, ten on a WebSocket', columns: memory },
  { workload: 'w5socket', title: 'W5: 4,000 idle subscriptions, one on a WebSocket', columns: memory },
  { workload: 'w5held', title: 'W5: 1,000 turns whose provider is silent', columns: memory },
];
