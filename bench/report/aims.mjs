import { median } from '../workloads/statistics.mjs';
import { format, ratioOf, valuesOf } from './figures.mjs';

const ratio = (workload, key) => (records) => ratioOf(records, { peer: 'ours', workload, key });
const value =
  (workload, key, peer = 'ours') =>
  (records) =>
    median(valuesOf(records, { peer, workload, key }));

const aims = [
  { title: 'CPU of a token at saturation (W1b), × hand-written', most: 0.8, of: ratio('w1b', 'cpuUsPerToken') },
  { title: 'CPU of a token that comes alone (W2b), × hand-written', most: 1.4, of: ratio('w2b', 'cpuUsPerToken') },
  { title: 'age of such a token at p50, × hand-written', most: 1.5, of: ratio('w2b', 'ageP50Us') },
  { title: 'age of such a token at p99, × hand-written', most: 1.5, of: ratio('w2b', 'ageP99Us') },
  { title: 'turns a second (W3), × hand-written', least: 1, of: ratio('w3', 'turnsPerSecond') },
  { title: 'SQL statements of a turn (W3)', most: 4, of: value('w3', 'statementsPerTurn') },
  { title: 'turn 10,000 over turn 10, maxHistory 20 (W4)', most: 1.2, of: value('w4', 'growth', 'ours20') },
  { title: 'KiB of RSS of an idle subscription (W5)', most: 15, of: value('w5idle', 'rssKib') },
  { title: 'KiB of RSS of a silent running turn (W5)', most: 71, of: value('w5held', 'rssKib') },
];

/** What this product set out to reach, and what it did. */
export function aimsOf(records) {
  const rows = aims.map(({ title, most, least, of }) => {
    const reached = of(records);
    const isMet = most === undefined ? reached >= least : reached <= most;
    const verdict = Number.isFinite(reached) ? (isMet ? 'yes' : 'no') : 'not measured';
    return `| ${title} | ${most === undefined ? `≥ ${least}` : `≤ ${most}`} | ${format(reached)} | ${verdict} |`;
  });
  return ['| What | Aim | Reached | Met |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');
}
