/** Sentences of the tale of the lighthouse, which can be told at any length. */
const opening = [
  'At the edge of a grey sea stood a lighthouse that had never once gone dark.',
  'Its keeper was an old woman called Marta, and she kept two books.',
  'In the first she wrote down every ship that passed, and in the second everything that the first had missed.',
  'People said that the second book was the more interesting one, though nobody had ever read it.',
];
const middle = [
  'One evening a small boat came in without a sail, and nobody sat in it.',
  'Marta tied it to the pier, wrote a line into each of her books, and put the kettle on.',
  'The next morning the boat was gone, and so was the last line of the second book.',
  'She did not mind much, since she remembered it well, and wrote it down again with a different pen.',
  'By noon the wind had turned, and the gulls argued about it the way gulls do.',
  'A letter arrived that had been posted eleven years before, and it asked a question which she had answered yesterday.',
  'She read it twice, laughed once, and pinned it to the wall above the stove.',
  'That night the light swept over the water as it always did, and for a moment something out there answered it.',
  'Marta counted slowly to ten, because that is how far away a thing is when you can count to ten before you are afraid.',
  'There was no second answer, only the sea, turning its pages one after the other.',
  'In the village they began to say that the lighthouse had learned to read.',
  'A child climbed all the two hundred and six steps to ask whether that was true.',
  'Marta gave her the second book and a pencil, and said that it was a good thing to check for oneself.',
  'The child read until the lamp was lit, and then she wrote one sentence of her own.',
  'When the fog came, it came politely, and stood outside of the door for an hour before it went in.',
  'The horn spoke, and was silent, and spoke again, like somebody who is sure of being understood in the end.',
];
const ending = [
  'Years later a ship passed that was in neither of the books, and the keeper, who was no longer a child, began a third.',
  'The light went round. The sea went on. And on the pier, neatly tied, lay a small boat without a sail.',
];

const wordsIn = (text: string) => text.split(/\s+/).length;

/** The tale with about so many words, in paragraphs. The longer ones go round in circles, as tales of the sea do. */
export function tellStory(words: number): string {
  const sentences = [...opening];
  let count = wordsIn([...opening, ...ending].join(' '));
  for (let at = 0; count < words; at += 1) {
    const round = Math.floor(at / middle.length);
    const sentence = middle[at % middle.length] ?? '';
    const told = round > 0 && at % middle.length === 0 ? `Then winter number ${round + 1} came. ${sentence}` : sentence;
    sentences.push(told);
    count += wordsIn(told);
  }
  sentences.push(...ending);
  const paragraphs: string[] = [];
  for (let at = 0; at < sentences.length; at += 4) paragraphs.push(sentences.slice(at, at + 4).join(' '));
  return paragraphs.join('\n\n');
}

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
