import { median } from '../workloads/statistics.mjs';

/** The figures of all rounds, by peer, workload and key. */
export const valuesOf = (records, { peer, workload, key }) =>
  records
    .filter((record) => record.peer === peer && record.workload === workload)
    .map(({ figures }) => figures[key])
    .filter((value) => Number.isFinite(value));

/** A median over that of the hand-written peer; NaN without both. */
export const ratioOf = (records, { peer, workload, key }) =>
  median(valuesOf(records, { peer, workload, key })) / median(valuesOf(records, { peer: 'hand', workload, key }));

/** Three significant digits. */
export function format(value) {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return value.toPrecision(3);
}
