import type { TokenUsage } from '../../src/model/port.js';
import { chunk, finish, type Script, type Step } from './script.js';

/** A way in which providers report what an answer has used, and what is booked of it. */
export interface UsageShape {
  readonly name: string;
  /** Null: nothing usable, so an estimate is booked. */
  readonly booked: TokenUsage | null;
  /** An answer around this text or these calls, with its finish reason. */
  around(body: Script, finishReason?: string): Script;
}

const good = { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 };
const goodIsBooked = { inputTokens: 9, cachedInputTokens: 0, outputTokens: 4, reasoningTokens: 0 };

const report = (usage: unknown): Step => chunk({ choices: [], usage });

const shape = (
  name: string,
  booked: TokenUsage | null,
  reports: { readonly before?: Script; readonly after?: Script },
): UsageShape => ({
  name,
  booked,
  around: (body, finishReason = 'stop') => [reports.before ?? [], body, finish(finishReason), reports.after ?? []],
});

export const usageShapes: readonly UsageShape[] = [
  shape('last, with empty choices', goodIsBooked, { after: [report(good)] }),
  shape('first, with empty choices', goodIsBooked, { before: [report(good)] }),
  {
    name: 'in the chunk of the finish reason',
    booked: goodIsBooked,
    around: (body, finishReason = 'stop') => [
      body,
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }], usage: good }),
    ],
  },
  shape('cumulative: the last one counts', goodIsBooked, {
    before: [report({ ...good, completion_tokens: 1 })],
    after: [report(good)],
  }),
  shape('repeated', goodIsBooked, { after: [report(good), report(good)] }),
  shape('followed by null', goodIsBooked, { after: [report(good), report(null)] }),
  shape('followed by nonsense', goodIsBooked, {
    after: [report(good), report({ prompt_tokens: -1, completion_tokens: 2 })],
  }),
  shape('absent', null, {}),
  shape('null', null, { after: [report(null)] }),
  shape('negative', null, { after: [report({ ...good, completion_tokens: -4 })] }),
  shape('a fraction', null, { after: [report({ ...good, completion_tokens: 1.5 })] }),
  shape('beyond 2^31', null, { after: [report({ ...good, completion_tokens: 2 ** 31 })] }),
  shape('beyond 2^53', null, { after: [report({ ...good, prompt_tokens: 1e300 })] }),
  shape('nothing at all', null, { after: [report({ prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 })] }),
  shape('text', null, { after: [report('9 and 4')] }),
];
