import { z } from 'zod';
import type { Queryable } from '../../../db/queries/queryable.js';
import { addPin, listPins, removePin } from '../../../db/queries/session-pins.js';
import { sha256 } from '../../../digest.js';
import { defineTool } from '../define-tool.js';
import type { ServerTool } from '../tool.js';
import { ToolFailure } from '../tool-failure.js';

/** Of all pins of a session. A quarter as many tokens, about, stand in front of every prompt. */
const limits = { count: 10, characters: 4_000 };

const parameters = z.object({
  text: z.string().trim().min(1).max(1_000).optional().describe('What to keep in view.'),
  remove: z.string().max(20).optional().describe('Instead: id of a pin that is needed no more.'),
});

const invalid = (message: string) => new ToolFailure('INVALID_ARGUMENTS', 'validation', message);

/** Lets the model keep something in view for the rest of the session, however long that becomes. */
export const pin = (db: Queryable): ServerTool =>
  defineTool({
    name: 'pin',
    description: `Keeps a short text in view for the rest of this conversation, or removes one. Up to ${limits.count} texts of ${limits.characters} characters together; when they are full, remove one first.`,
    parameters,
    origin: 'built_in',
    // The same text twice is one pin.
    sideEffect: 'write',
    idempotent: true,
    isOptIn: true,
    async run({ text, remove }, { sessionId }) {
      if ((text === undefined) === (remove === undefined)) throw invalid('Give either text or remove.');
      if (remove !== undefined) {
        const isRemoved = await removePin(db, sessionId, remove);
        return { removed: isRemoved, ...(!isRemoved && { note: 'There is no such pin.' }) };
      }
      const content = text ?? '';
      const key = `p_${sha256(content).slice(0, 8)}`;
      await addPin(db, sessionId, { key, content }, limits);
      const pins = await listPins(db, sessionId);
      const characters = pins.reduce((sum, one) => sum + [...one.content].length, 0);
      if (pins.some((one) => one.key === key)) return { pinned: key, pins: pins.length, characters };
      throw new ToolFailure(
        'PINS_FULL',
        'validation',
        `Not pinned: there are ${pins.length} of ${limits.count} pins with ${characters} of ${limits.characters} characters. Remove one first, or shorten the text.`,
      );
    },
  });
