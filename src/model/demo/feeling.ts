import type { Conversation, DemoReply } from './conversation.js';

const degree = `(?:(?:very|quite|pretty|really|all|so|doing|feeling|a bit|too|also) ){0,3}`;
const bad = /\b(?:not (?:so |too |very )?(?:good|well|great)|bad|tired|sad|ill|sick|terrible|awful|stressed)\b/i;
const answer = new RegExp(
  String.raw`^(?:oh,? )?(?:i am|i'm|im|i feel|it is|it's)?\s*${degree}(?:not|good(?! (?:morning|afternoon|evening|bye))|fine|well|great|ok(?:ay)?|alright|right|bad|tired|sad|ill|sick|terrible|awful|stressed|happy|excellent|wonderful|same|so-so|thanks|thank you)\b.{0,80}$`,
  'i',
);
const asksBack = /\b(?:you|yourself)\s*\?\s*$/i;

/** Understands how somebody is who has just been asked for it. The voice of a pirate asks "And ye?". */
export function feeling({ message, answered }: Conversation): DemoReply | null {
  if (!/\band (?:you|ye)\?$/i.test(answered.at(-1) ?? '')) return null;
  const isQuestionOnly = /^(?:and )?(?:how about |what about )?you(?:rself)?\s*\?$/i.test(message);
  if (!isQuestionOnly && !answer.test(message)) return null;
  const reaction = isQuestionOnly
    ? ''
    : bad.test(message) && !/\bnot (?:too |so )?bad\b/i.test(message)
      ? 'I am sorry to hear that. '
      : 'Glad to hear it! ';
  const own = isQuestionOnly || asksBack.test(message) ? 'I am still fine: no rule of mine has a bad day. ' : '';
  return { text: `${reaction}${own}What shall we try?` };
}
