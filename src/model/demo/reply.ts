import type { Conversation, DemoReply } from './conversation.js';
import { order, tellTime } from './errands.js';
import { feeling } from './feeling.js';
import { acknowledge, recall, repeatAnswer } from './recall.js';
import { shrug, smallTalk } from './small-talk.js';
import { askBack, calculate, reportTool, takeAnswer } from './tool-use.js';
import { inVoice } from './voice.js';

/**
 * In this order: what a tool has brought comes before anything else that the message could mean, and a command before the
 * answer to a question.
 */
const rules: readonly ((conversation: Conversation) => DemoReply | null)[] = [
  calculate,
  askBack,
  tellTime,
  order,
  reportTool,
  feeling,
  recall,
  smallTalk,
  takeAnswer,
  acknowledge,
];

/** The demo model's whole mind: the same conversation always gets the same reply. */
export function replyTo(conversation: Conversation): DemoReply {
  // Has been said in the right voice already.
  const repeated = repeatAnswer(conversation);
  if (repeated) return repeated;
  for (const rule of rules) {
    const reply = rule(conversation);
    if (reply) return voiced(reply, conversation);
  }
  return voiced(shrug(conversation), conversation);
}

const voiced = (reply: DemoReply, { system }: Conversation): DemoReply =>
  reply.text === undefined ? reply : { ...reply, text: inVoice(reply.text, system) };
