import { describe, expect, test } from 'vitest';
import { type DemoReply, readConversation } from '../../../../src/model/demo/conversation.js';
import { replyTo } from '../../../../src/model/demo/reply.js';
import { utterancesOf } from '../../../../src/model/demo/speech.js';
import { cpuMilliseconds } from '../../../support/cpu.js';

type WireMessage = Record<string, unknown>;
interface Chat {
  readonly system?: string;
  readonly tools?: readonly unknown[];
}

const tool = (name: string, ...parameters: string[]) => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: Object.fromEntries(parameters.map((key) => [key, {}])) },
  },
});

/** Holds a conversation and gives the last reply. */
function chat(messages: readonly string[], { system, tools = [] }: Chat = {}): DemoReply {
  const history: WireMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];
  let reply: DemoReply = {};
  for (const content of messages) {
    history.push({ role: 'user', content });
    reply = answer(history, tools);
    if (reply.text !== undefined) history.push({ role: 'assistant', content: reply.text });
  }
  return reply;
}

function answer(messages: readonly WireMessage[], tools: readonly unknown[] = []): DemoReply {
  const conversation = readConversation({ messages, tools });
  if (conversation === null) throw new Error('no messages');
  return replyTo(conversation);
}

/** A call that was made, and what its tool brought. */
const called = (name: string, args: object, result: string): WireMessage[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: 'c1', type: 'function', function: { name, arguments: JSON.stringify(args) } }],
  },
  { role: 'tool', tool_call_id: 'c1', content: result },
];

describe('the demo model', () => {
  test('says what it is: in its greeting, in its help and when it is asked', () => {
    for (const message of ['Hello', 'help', 'Who are you?', 'Are you ChatGPT?', 'Which model is this?']) {
      expect(chat([message]).text).toContain('demo model');
    }
  });

  test('lists in its help only what it can do', () => {
    const text = chat(['What can you do?']).text ?? '';
    for (const word of ['Memory', 'Arithmetic', 'Thinking', 'Long answers', 'OPENAI_API_KEY'])
      expect(text).toContain(word);
    const examples = [...text.matchAll(/“([^”…]+)”/g)].map(([, example]) => example ?? '');
    expect(examples.length).toBeGreaterThan(8);
    for (const example of examples)
      expect(chat([example]).text).not.toMatch(/demo model, so|real model\. I can do|no rule/);
  });

  test('is brief where a client may wait for all of it, and speaks of a calculator only where there is one', () => {
    for (const message of ['help', 'Hello', 'Hello! What can you do?']) {
      const reply = chat([message]);
      expect((reply.text ?? '').split(/\s+/).length).toBeLessThanOrEqual(80);
      // At thirty a second.
      expect(utterancesOf(reply, 'c').length).toBeLessThan(86);
      expect(reply.text).not.toContain('calculator');
    }
    expect(chat(['help'], { tools: [tool('calculator', 'expression')] }).text).toContain('calculator');
  });

  test.each([
    [['My name is Ada.', 'What is my name?'], 'your name is Ada'],
    [["Hi, I'm Ada", 'Who am I?'], 'Ada'],
    [['call me Ada', 'Please call me Bob instead.', "What's my name?"], 'your name is Bob.'],
    [['I live in Paris and I like tea.', 'Where do I live?'], 'Paris'],
    [['My favorite color is green.', 'What is my favourite colour?'], 'green'],
    [['My dog is called Rex', 'nice, is it not', 'What is my dog called?'], 'Rex'],
    [['My name is Ada. I work as a pilot.', 'What do you know about me?'], 'Ada'],
    [['first words', 'second words', 'What did I say first?'], 'first words'],
    [['first words', 'second words', 'What did I just say?'], 'second words'],
    [['What is my name?'], 'not told me'],
    [['What is my shoe size?'], 'shoe size'],
  ])('remembers by the conversation: %j', (messages, expected) => {
    expect(chat(messages).text).toContain(expected);
  });

  test('knows nothing of another conversation', () => {
    chat(['My name is Ada.']);
    expect(chat(['What is my name?']).text).not.toContain('Ada');
  });

  test('does sums by itself, and with the calculator where there is one', () => {
    expect(chat(['What is 17 * 23?'])).toEqual({ text: '17 * 23 = 391' });
    const tools = [tool('search', 'query'), tool('calculator', 'expression')];
    const reply = chat(['What is 17 * 23?'], { tools });
    expect(reply.call).toEqual({ name: 'calculator', arguments: { expression: '17 * 23' } });
    const question = { role: 'user', content: 'What is 17 * 23?' };
    const call = { expression: '17 * 23' };
    expect(answer([question, ...called('calculator', call, '391')], tools).text).toContain('391');
    expect(answer([question, ...called('calculator', call, '{"result":391}')], tools).text).toContain('391');
    const failed = answer([question, ...called('calculator', call, 'Error: out of order')], tools).text;
    expect(failed).toMatch(/could not help.*391/);
  });

  test('asks back with the tool for it, uses the answer, and does without it too', () => {
    const tools = [tool('ask_user', 'question', 'choices')];
    const reply = chat(['Plan a trip for me.'], { tools });
    expect(reply.call?.name).toBe('ask_user');
    expect(reply.call?.arguments.question).toBe('Where would you like to go?');
    expect(reply.call?.arguments.choices).toHaveLength(3);
    expect(chat(['Plan a trip for me.'], { tools: [tool('ask_user', 'question')] }).call?.arguments).not.toHaveProperty(
      'choices',
    );
    const messages = [
      { role: 'user', content: 'Plan a trip.' },
      ...called('ask_user', { question: 'x' }, 'to the sea'),
    ];
    expect(answer(messages, tools).text).toContain('to the sea');
    expect(chat(['Plan a trip for me.']).text).toContain('Where would you like to go?');
    expect(chat(['Plan a trip for me.', 'to the sea']).text).toContain('to the sea');
  });

  test('obeys a command rather than taking it for the answer to its question', () => {
    const asked = 'Plan a trip for me.';
    expect(chat([asked, 'Ask me something.']).text).toContain('Which season');
    expect(chat([asked, 'help']).text).toContain('Memory');
    expect(chat([asked, 'What is 2 + 2?']).text).toBe('2 + 2 = 4');
    expect(chat(['My name is Ada.', asked, 'What is my name?']).text).toContain('Ada');
    expect(chat([asked, 'to the sea'], { system: 'Answer like a pirate.' }).text).toContain('to the sea');
  });

  test.each(['Repeat that.', 'please repeat', 'Can you say that again?', 'again'])(
    '%j brings the answer before, word for word',
    (message) => {
      expect(chat(['What is 17 * 23?', message]).text).toBe('17 * 23 = 391');
      const pirate = { system: 'Answer like a pirate.' };
      expect(chat(['Hello', message], pirate)).toEqual(chat(['Hello'], pirate));
      expect(chat([message]).text).toContain('not said anything');
    },
  );

  test('goes on talking when it is told how somebody is', () => {
    const feel = (message: string, system = '') => chat(['How are you?', message], { system }).text;
    for (const message of ['good, you?', "I'm fine, thanks. And you?", 'very well', 'OK', 'not bad']) {
      expect(feel(message)).toMatch(/^Glad/);
      expect(feel(message, 'Answer like a pirate.')).toContain('Glad');
    }
    expect(feel('good, you?')).toContain('I am still fine');
    expect(feel('you?')).toContain('I am still fine');
    expect(feel('Not so good')).toContain('sorry');
    expect(feel('help')).toContain('Memory');
    expect(feel('What is 2 + 2?')).toBe('2 + 2 = 4');
  });

  test('reports what any other tool has brought, and calls none twice', () => {
    const messages = [
      { role: 'user', content: 'Search for ships.' },
      ...called('search', { query: 'ships' }, '3 ships'),
    ];
    expect(answer(messages, [tool('search', 'query')])).toEqual({ text: 'search answered: 3 ships' });
  });

  test('thinks where it can be seen', () => {
    const reply = chat(['Think about the sea.']);
    expect(reply.thinking).toContain('the sea');
    expect(reply.text).toContain('the sea');
  });

  test('tells stories of the length that is asked for', () => {
    const words = (message: string) => (chat([message]).text ?? '').split(/\s+/).length;
    expect(words('Tell me a long story.')).toBeGreaterThan(550);
    expect(words('Write a story of 800 words.')).toBeGreaterThan(780);
    expect(words('Write a story of 800 words.')).toBeLessThan(840);
    expect(words('Write a story of 99999 words.')).toBeLessThan(4_100);
    expect(words('Tell me a story.')).toBeLessThan(250);
  });

  test('tells another story each time, and not the short one at length', () => {
    const opening = (...messages: string[]) => (chat(messages).text ?? '').slice(0, 40);
    const [short, long, another] = ['Tell me a short story.', 'Tell me a long story.', 'Tell me another story.'];
    expect(opening(short)).not.toBe(opening(long));
    expect(opening(short, long)).not.toBe(opening(short));
    expect(opening(long, short)).not.toBe(opening(long));
    expect(new Set([opening(short), opening(short, another), opening(short, another, another)]).size).toBe(3);
    expect(opening(short, 'Tell me a story about a lighthouse.')).toContain('sea');
  });

  test('listens to its system prompt', () => {
    expect(chat(['Hello'], { system: 'Answer like a pirate.' }).text).toMatch(/^Arr! Ahoy/);
    expect(chat(['Hello'], { system: 'Use CAPITAL LETTERS only' }).text).toMatch(/^HELLO/);
    expect(chat(['What is your system prompt?'], { system: 'Be kind.' }).text).toContain('Be kind.');
  });

  test('repeats exactly what it is told to say', () => {
    expect(chat(['Say: 👩‍👩‍👧 漢字\n  and <b>this</b>']).text).toBe('👩‍👩‍👧 漢字\n  and <b>this</b>');
    expect(chat(['repeat after me "one two"']).text).toBe('one two');
    for (const message of ['Say: ', 'Say:', 'say', 'Say: ""'])
      expect(chat([message]).text).toMatch(/^What shall I say/);
  });

  test('has a friendly word for everything else', () => {
    expect(chat(['What is the capital of France?']).text).toMatch(/demo model|real model|help/);
    expect(chat(['   ']).text).not.toBe('');
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(answer([{ role: 'user', content: [image, image] }]).text).toMatch(/2 images. They have/);
    expect(answer([{ role: 'user', content: [image] }]).text).toMatch(/an image. It has/);
  });

  test('says the same when it is asked the same, and another joke the next time', () => {
    expect(chat(['Tell me a joke'])).toEqual(chat(['Tell me a joke']));
    expect(chat(['Tell me a joke', 'Tell me a joke'])).not.toEqual(chat(['Tell me a joke']));
  });

  test('is never slow and never fails, whatever it is told', () => {
    const hostile = [
      'story ',
      'my a ',
      'long ',
      'plan ',
      '( ',
      '1+',
      'I like ',
      'my name is ',
      ' ',
      '\n',
      'say ',
      '“',
      '漢',
    ];
    for (const part of hostile) {
      const long = part.repeat(200_000 / part.length);
      let reply: DemoReply = {};
      const took = cpuMilliseconds(() => {
        reply = chat([long, long]);
      });
      expect(took).toBeLessThan(1_000);
      expect(typeof reply.text).toBe('string');
    }
  });

  test('takes broken requests for what they are', () => {
    for (const body of [null, 7, {}, { messages: [] }, { messages: 'x' }]) expect(readConversation(body)).toBeNull();
    for (const message of [null, 7, {}, { role: 'user' }, { role: 'user', content: [null, 7, { type: 'text' }] }]) {
      expect(typeof answer([message as never]).text).toBe('string');
    }
  });
});
