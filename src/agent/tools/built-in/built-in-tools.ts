import { askUser } from '../ask-user.js';
import type { Tool } from '../tool.js';
import { calculator } from './calculator.js';
import { currentTime } from './current-time.js';

/** The tools that every server has. */
export const builtInTools = ({ now }: { readonly now: () => Date }): readonly Tool[] => [
  askUser,
  currentTime(now),
  calculator,
];
