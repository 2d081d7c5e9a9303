import { evaluate, findExpression, inPlainSymbols } from './arithmetic.js';
import type { Conversation, DemoReply, OfferedTool, ToolResult } from './conversation.js';

/** What the tools may be called that this model knows how to use. */
const calculators = /^(calculator|calculate|calc)$/i;
export const hasCalculator = (tools: readonly OfferedTool[]) => tools.some(({ name }) => calculators.test(name));

const asking = 'ask_user';

/** The parameter that takes the text: the one with the likely name, else the first. */
const parameterOf = (tool: OfferedTool, likely: string) =>
  tool.parameters.includes(likely) ? likely : (tool.parameters[0] ?? likely);

/** The number in the answer of a calculator, be it plain or in JSON. */
const numberIn = (content: string) => /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/i.exec(content)?.[0] ?? null;

/** Sums: through the calculator where the request offers one, else by this model's own small parser. */
export function calculate({ message, tools, results }: Conversation): DemoReply | null {
  const result = results.findLast(({ name }) => calculators.test(name));
  const expression = findExpression(message);
  if (result) return { text: sumFromTool(result, expression) };
  if (expression === null) return null;
  const calculator = tools.find(({ name }) => calculators.test(name));
  if (calculator) {
    return {
      thinking: `${expression} is a sum, and there is a calculator for that.`,
      call: {
        name: calculator.name,
        arguments: { [parameterOf(calculator, 'expression')]: inPlainSymbols(expression) },
      },
    };
  }
  const evaluated = evaluate(expression);
  return { text: 'value' in evaluated ? `${expression} = ${evaluated.value}` : evaluated.problem };
}

/** `written` is the sum in the words of the user, if that is where it came from. */
function sumFromTool({ arguments: given, content }: ToolResult, written: string | null): string {
  const expression = written ?? Object.values(given).find((value) => typeof value === 'string') ?? 'That';
  const number = /error|fail|denied|interrupted|^not /i.test(content) ? null : numberIn(content);
  if (number !== null) return `The calculator says: ${expression} = ${number}.`;
  const own = evaluate(String(expression));
  const help = 'value' in own ? ` In my head I get ${own.value}.` : '';
  return `The calculator could not help with ${expression}.${help}`;
}

/** Wishes that need a question back before they can be answered. */
const wishes: readonly { readonly pattern: RegExp; readonly question: string; readonly choices: readonly string[] }[] =
  [
    {
      pattern: /\b(?:plan|organi[sz]e)\b.*\b(?:trip|holiday|vacation|weekend|journey)\b/i,
      question: 'Where would you like to go?',
      choices: ['to the mountains', 'to the sea', 'to a big city'],
    },
    {
      pattern: /\b(?:recommend|suggest|choose|pick)\b.*\b(?:film|movie|book|game|recipe|dinner|dish|meal)\b/i,
      question: 'What are you in the mood for?',
      choices: ['something light', 'something exciting', 'something new'],
    },
    {
      pattern: /\bask me (?:something|anything|a question)\b/i,
      question: 'Which season do you like best?',
      choices: ['spring', 'summer', 'autumn', 'winter'],
    },
  ];

/** Asks the user back: with the tool for it where there is one, else in the text. */
export function askBack({ message, tools, results }: Conversation): DemoReply | null {
  const answer = results.findLast(({ name }) => name === asking);
  if (answer) return { text: answerUsed(answer.content) };
  const wish = wishes.find(({ pattern }) => pattern.test(message));
  if (!wish) return null;
  const tool = tools.find(({ name }) => name === asking);
  if (!tool) return { text: `Gladly. ${wish.question} For example ${wish.choices.join(', or ')}?` };
  const withChoices = tool.parameters.includes('choices') ? { choices: wish.choices } : {};
  return {
    thinking: 'I cannot know that, so I had better ask.',
    call: { name: tool.name, arguments: { [parameterOf(tool, 'question')]: wish.question, ...withChoices } },
  };
}

/** Takes what no other rule understands for the answer to what was asked in the text before. */
export function takeAnswer({ message, answered }: Conversation): DemoReply | null {
  const last = answered.at(-1)?.toLowerCase();
  // Only the end of the question is the same in every voice.
  const isAsked = wishes.some(({ choices }) => last?.endsWith(`for example ${choices.join(', or ')}?`.toLowerCase()));
  return isAsked && message !== '' ? { text: answerUsed(message) } : null;
}

function answerUsed(content: string): string {
  const answer = content.trim().replace(/[.!\s]+$/, '');
  if (/^The user did not answer in time/.test(content))
    return 'No answer is an answer too. Ask me again whenever you like.';
  if (answer === '' || answer.length > 200) return 'Thank you, I will keep that in mind.';
  return `“${answer}” it is, then: a good choice. A real model would now make something of it; I only wanted to show you how a model asks back.`;
}

/** What to say after a tool that this model has no idea of. */
export function reportTool({ results }: Conversation): DemoReply | null {
  const last = results.at(-1);
  if (!last) return null;
  const content = last.content.length > 500 ? `${last.content.slice(0, 500)} …` : last.content;
  return { text: `${last.name || 'The tool'} answered: ${content === '' ? 'nothing' : content}` };
}
