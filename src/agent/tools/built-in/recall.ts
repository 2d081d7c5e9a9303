import { z } from 'zod';
import type { Queryable } from '../../../db/queries/queryable.js';
import { type RecalledMessage, recallTurn, recallWords } from '../../../db/queries/recall-messages.js';
import { defineTool } from '../define-tool.js';
import type { ServerTool } from '../tool.js';
import { ToolFailure } from '../tool-failure.js';

/** In characters. */
const longestMessage = 4_000;
const longestExcerpt = 500;
const mostMatches = 8;

const parameters = z.object({
  turn: z.int().min(1).optional().describe('Number of an earlier turn, from 1: all that was said in it.'),
  words: z.string().trim().min(1).max(200).optional().describe('Instead: words to look for in earlier messages.'),
});

const shown = ({ turn, role, content }: RecalledMessage) => ({
  ...(turn !== null && { turn }),
  role: role.toLowerCase(),
  content,
});

/** Lets the model look up what was said earlier, also where its prompt has no room for it any more. */
export const recall = (db: Queryable): ServerTool =>
  defineTool({
    name: 'recall',
    description:
      'Looks up earlier messages of this conversation that may not be in view any more: a whole turn by its number, or messages by words that they hold.',
    parameters,
    origin: 'built_in',
    sideEffect: 'read',
    isOptIn: true,
    async run({ turn, words }, { sessionId, turnId }) {
      const session = { sessionId, currentTurnId: turnId };
      if (turn !== undefined && words === undefined) {
        const messages = await recallTurn(db, session, turn, longestMessage);
        return messages.length > 0
          ? { messages: messages.map(shown) }
          : { messages: [], note: `Nothing is known of a turn ${turn}.` };
      }
      if (words !== undefined && turn === undefined) {
        const messages = await recallWords(db, session, words, { longest: longestExcerpt, limit: mostMatches });
        return messages.length > 0
          ? { messages: messages.map(shown), note: `The newest matches, up to ${longestExcerpt} characters of each.` }
          : { messages: [], note: 'No earlier message holds all of these words.' };
      }
      throw new ToolFailure('INVALID_ARGUMENTS', 'validation', 'Give either turn or words.');
    },
  });
