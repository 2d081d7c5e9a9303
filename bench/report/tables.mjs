import { median } from '../workloads/statistics.mjs';
import { tables } from './columns.mjs';
import { format, ratioOf, valuesOf } from './figures.mjs';

const row = (cells) => `| ${cells.join(' | ')} |`;

/** Median, range and ratio. */
function cell(records, peer, workload, { key, ratio = false, unit = 1 }) {
  const values = valuesOf(records, { peer, workload, key });
  if (values.length === 0) return '–';
  const show = (value) => format(value / unit);
  const range = values.length > 1 ? ` (${show(Math.min(...values))}–${show(Math.max(...values))})` : '';
  const against = ratioOf(records, { peer, workload, key });
  return `${show(median(values))}${range}${ratio && Number.isFinite(against) ? ` ×${against.toFixed(2)}` : ''}`;
}

function table(records, peers, { workload, title, columns }) {
  const present = peers.filter(
    ({ name }) => valuesOf(records, { peer: name, workload, key: columns[0].key }).length > 0,
  );
  if (present.length === 0) return [];
  return [
    `### ${title}`,
    '',
    row(['Peer', ...columns.map((column) => column.title)]),
    row(['---', ...columns.map(() => '---')]),
    ...present.map((peer) => row([peer.title, ...columns.map((column) => cell(records, peer.name, workload, column))])),
    '',
  ];
}

/** All tables as Markdown: medians, with the range over the rounds, and × the hand-written peer. */
export const tablesOf = (records, peers) => tables.flatMap((spec) => table(records, peers, spec)).join('\n');
