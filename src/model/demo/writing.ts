export const poem = [
  'A token falls, and then one more,',
  'like rain that finds an open door.',
  'I do not think, I only rhyme:',
  'one little word, one at a time.',
].join('\n');

export const jokes = [
  'Why did the cursor never get lost? It always knew where it had left off.',
  'A SELECT walks into a bar, sees two tables and asks: may I JOIN you?',
  'There are two hard things about streaming: ordering, and at-most-once delivery. And ordering.',
];

/** Something for the page to render: headings, a list, a table, code. */
export const markdownSample = [
  '## What a page can render',
  '',
  'A list:',
  '',
  '- **bold**, *italic* and `code`',
  '- a [link](https://example.com)',
  '',
  'A table:',
  '',
  '| step | event |',
  '| --- | --- |',
  '| 1 | TurnStarted |',
  '| 2 | TextDelta |',
  '| 3 | TurnCompleted |',
  '',
  'And some code:',
  '',
  '```ts',
  "const greeting: string = 'Hello from the demo model';",
  'console.log(greeting);',
  '```',
].join('\n');
