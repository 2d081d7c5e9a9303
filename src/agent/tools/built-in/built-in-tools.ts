import type { Queryable } from '../../../db/queries/queryable.js';
import { askUser } from '../ask-user.js';
import type { Tool } from '../tool.js';
import { calculator } from './calculator.js';
import { currentTime } from './current-time.js';
import { pin } from './pin.js';
import { recall } from './recall.js';

/** The tools that every server has. */
export const builtInTools = ({ now, db }: { readonly now: () => Date; readonly db: Queryable }): readonly Tool[] => [
  askUser,
  currentTime(now),
  calculator,
  recall(db),
  pin(db),
];
