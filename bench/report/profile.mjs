/** What a function belongs to: a package, a part of Node or a folder of the product. */
function ownerOf({ url, functionName }) {
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  const own = /\/dist\/([^/]+)/.exec(url)?.[1];
  return (
    inPackage ??
    (own ? `dist/${own}` : url.startsWith('node:') ? url.split('/').slice(0, 2).join('/') : url || functionName)
  );
}

const placeOf = ({ url, functionName, lineNumber }) =>
  `${functionName || '(anonymous)'} ${url.split('/').slice(-3).join('/')}:${lineNumber + 1}`;

function add(sums, key, time) {
  sums.set(key, (sums.get(key) ?? 0) + time);
}

function list(sums, total, count) {
  const largest = [...sums].sort(([, a], [, b]) => b - a).slice(0, count);
  return largest.map(([key, time]) => `  ${((time / total) * 100).toFixed(1).padStart(5)} %  ${key}`).join('\n');
}

/** Self time by owner and by function, of the time in which the thread was busy. */
export function describeProfile({ nodes, samples, timeDeltas }) {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byOwner = new Map();
  const byFunction = new Map();
  let total = 0;
  samples.forEach((id, index) => {
    const frame = frames.get(id);
    if (frame.functionName === '(idle)') return;
    total += timeDeltas[index];
    add(byOwner, ownerOf(frame), timeDeltas[index]);
    add(byFunction, placeOf(frame), timeDeltas[index]);
  });
  return [`busy ${Math.round(total / 1_000)} ms`, list(byOwner, total, 25), list(byFunction, total, 60)].join('\n\n');
}
