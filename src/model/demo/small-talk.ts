import type { Conversation, DemoReply } from './conversation.js';
import { canOrder } from './errands.js';
import { nameOf } from './recall.js';
import { storyFor, storyWish } from './stories.js';
import { hasCalculator } from './tool-use.js';
import { jokes, markdownSample, poem } from './writing.js';

/** Short, since a client that does not stream waits for all of it, at the pace of reading. */
const help = ({ tools }: Conversation) =>
  [
    'I am the demo model: a few rules, no language model. Try:',
    '',
    '- **Memory**: “My name is Ada.”, later “What is my name?”',
    `- **Arithmetic**: “What is 17 * 23?”, “15% of 80”${hasCalculator(tools) ? ', by your calculator' : ''}`,
    '- **Thinking**: “Think about the sea.”',
    '- **Long answers**: “Tell me a long story.”',
    '- **Questions**: “Ask me something.”',
    ...(canOrder({ tools }) ? ['- **Approvals**: “Order a pizza.”'] : []),
    '- **Formats**: “Show me some Markdown.”, “Count to 20.”, “Say: hello”',
    '- **System prompts**: pirate, or capital letters',
    '',
    'For a real model set `OPENAI_API_KEY` or `OPENAI_BASE_URL`.',
  ].join('\n');

/** Picks by the length of the conversation, so that asking again gives another one and a repeated call the same. */
const pick = (choices: readonly string[], { said }: Conversation) => choices[(said.length - 1) % choices.length] ?? '';

interface Topic {
  readonly pattern: RegExp;
  readonly answer: (conversation: Conversation, match: RegExpExecArray) => DemoReply | string;
}

const longest = { count: 500, echo: 100_000 };
const echoed = /^\s*(?:say|repeat(?: after me)?|echo)(?:\s*[:,]?\s+|\s*[:,]?$)/i;

/** In this order; the first that matches answers. */
const topics: readonly Topic[] = [
  {
    pattern:
      /^\/?(?:help|\?+)[.!]?$|\bwhat can (?:you|i) (?:do|ask|try)\b|\bhow (?:do|can) i (?:use|test|try) (?:you|this)\b/i,
    answer: help,
  },
  {
    pattern:
      /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:real|human|ai|bot|demo|chatgpt|gpt)|\b(?:which|what) model\b|\bwhat(?:'s| is) your name\b/i,
    answer: () =>
      'I am `demo`, the built-in demo model of this server: a set of rules that speaks the same protocol as a real model, with streaming, thinking, tool calls and usage. I know nothing about the world. Type “help” to see what I can show.',
  },
  {
    pattern: /\bthink(?:ing)?(?: hard| aloud| out loud| carefully)? about\s+(?<topic>[^.!?\n]{1,120})/i,
    answer: (_conversation, match) => {
      const topic = (match.groups?.topic ?? '').trim();
      return {
        thinking: [
          `The user wants me to think about ${topic}.`,
          `What do I know about ${topic}? Honestly: the words, and nothing behind them.`,
          'I could make something up, but that would not be kind.',
          'What I can do is to think where it can be seen, one piece after the other, and then come to an end.',
        ].join('\n'),
        text: `I have thought about ${topic}. My conclusion: it deserves a real model. But now you have seen how thinking arrives: apart from the answer, and before it.`,
      };
    },
  },
  { pattern: storyWish, answer: storyFor },
  { pattern: /\b(?:poem|haiku|verse|rhyme)\b/i, answer: () => poem },
  { pattern: /\b(?:joke|make me laugh|something funny)\b/i, answer: (conversation) => pick(jokes, conversation) },
  { pattern: /\b(?:markdown|table|code block|formatting)\b/i, answer: () => markdownSample },
  {
    pattern: /\bcount (?:up )?(?:from (?<from>\d{1,6}) )?to (?<to>\d{1,6})\b/i,
    answer: (_conversation, match) => {
      const from = Number(match.groups?.from ?? 1);
      const to = Number(match.groups?.to);
      const length = Math.min(Math.abs(to - from) + 1, longest.count);
      return Array.from({ length }, (_, at) => from + (to < from ? -at : at)).join(', ');
    },
  },
  {
    pattern: /\b(?:weather|news|stock price|today'?s date|what (?:day|time|date) is it)\b/i,
    answer: () => 'A demo model has no window and no clock. A real model with a tool could tell you.',
  },
  {
    pattern: /\bsystem prompt\b/i,
    answer: ({ system }) =>
      system === ''
        ? 'This session has no system prompt. Set one with `updateChatSession`; I listen to “pirate” and “capital letters”.'
        : `My system prompt says: “${system.slice(0, 300)}”`,
  },
  { pattern: /\b(?:thanks|thank you|thx|cheers)\b/i, answer: () => 'You are welcome!' },
  { pattern: /\bhow are you\b|\bhow'?s it going\b/i, answer: () => 'Fine, as far as rules can be. And you?' },
  {
    pattern: /^(?:good ?bye|bye|see you|farewell|ciao)\b/i,
    answer: ({ said }) => `Goodbye${withName(said)}! Everything we said stays in this session.`,
  },
  {
    pattern: /^(?:hi|hello|hey|hallo|moin|servus|good (?:morning|afternoon|evening)|greetings)\b/i,
    answer: ({ said, answered }) =>
      answered.length === 0
        ? `Hello${withName(said)}! I am the demo model of this server. ${nameOf(said) === null ? 'Tell me your name' : 'Ask me for your name later on'}, ask me for a sum, or type “help”.`
        : `Hello again${withName(said)}!`,
  },
];

const withName = (said: readonly string[]) => {
  const name = nameOf(said);
  return name === null ? '' : `, ${name}`;
};

export function smallTalk(conversation: Conversation): DemoReply | null {
  const whole = conversation.said.at(-1) ?? '';
  if (echoed.test(whole)) {
    const text = whole
      .replace(echoed, '')
      .slice(0, longest.echo)
      .replace(/^["“](.*)["”]\s*$/s, '$1');
    return { text: text.trim() === '' ? 'What shall I say? For example: “Say: hello”' : text };
  }
  for (const { pattern, answer } of topics) {
    const match = pattern.exec(conversation.message);
    if (!match) continue;
    const reply = answer(conversation, match);
    return typeof reply === 'string' ? { text: reply } : reply;
  }
  return null;
}

/** When no rule knows an answer. */
export function shrug(conversation: Conversation): DemoReply {
  const { message, imageCount } = conversation;
  if (imageCount > 0) {
    const arrived =
      imageCount === 1 ? 'You sent an image. It has arrived' : `You sent ${imageCount} images. They have arrived`;
    return { text: `${arrived}, but a demo model cannot see: a real one would tell you what is there.` };
  }
  if (message === '') return { text: 'You said nothing, and I agree.' };
  const words = message
    .replace(/\s+/g, ' ')
    .slice(0, 80)
    .replace(/[.!?\s]+$/, '');
  const choices = [
    `I am only a demo model, so “${words}” is beyond me. Type “help” to see what I can do.`,
    `“${words}” would be a good question for a real model. I can do sums, remember what you tell me, and tell stories.`,
    `I have no rule for “${words}”. Perhaps a story instead? Or type “help”.`,
  ];
  return { text: pick(choices, conversation) };
}
