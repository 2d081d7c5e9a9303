import type { Conversation, DemoReply } from './conversation.js';

const clock = 'current_time';
const asksForTime = /\bwhat(?:'s| is) the (?:time|date)\b|\btoday'?s date\b|\bwhat (?:day|time|date) is it\b/i;

/** The fields of a result that is JSON. */
function fieldsIn(content: string): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(content)) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** Looks at the clock of the server, where there is one. */
export function tellTime({ message, tools, results }: Conversation): DemoReply | null {
  const result = results.findLast(({ name }) => name === clock);
  if (result) {
    const { utc, weekday } = fieldsIn(result.content);
    return { text: utc ? `It is ${String(weekday)}, ${String(utc)}.` : 'The clock could not be read.' };
  }
  if (!asksForTime.test(message) || !tools.some(({ name }) => name === clock)) return null;
  return { thinking: 'I have no clock, but the server has one.', call: { name: clock, arguments: {} } };
}

/** The tool that the server offers beside this model, so that an approval can be seen. */
export const orderTool = 'order_pizza';
const wantsPizza = /\border\b.{0,40}?\bpizza\b/i;
const kinds = ['margherita', 'marinara', 'funghi', 'salami', 'hawaii'];

export const canOrder = ({ tools }: Pick<Conversation, 'tools'>) => tools.some(({ name }) => name === orderTool);

/** Orders a pizza that does not exist, for which the user has to agree. */
export function order({ message, tools, results }: Conversation): DemoReply | null {
  const result = results.findLast(({ name }) => name === orderTool);
  if (result) {
    return /^Not run/.test(result.content)
      ? { text: 'Then there will be no pizza. You were asked before anything was done: that is all an approval is.' }
      : { text: `${result.content} You have allowed it, so it was done, and not before.` };
  }
  if (!wantsPizza.test(message) || !canOrder({ tools })) return null;
  const kind = kinds.find((one) => message.toLowerCase().includes(one)) ?? 'margherita';
  return {
    thinking: 'An order cannot be taken back, so the user has to agree first.',
    call: { name: orderTool, arguments: { kind } },
  };
}
