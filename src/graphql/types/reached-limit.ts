import type { LayoutEntry } from '../../events/layout.js';
import type { ReachedLimit as ReachedLimitShape } from '../../events/reached-limit.js';
import { builder } from '../builder.js';
import { BudgetScope } from './budget-scope.js';

const LimitKind = builder.enumType('LimitKind', {
  description: 'What a limit is on.',
  values: {
    COST: { description: 'Money, in USD.' },
    TOKENS: { description: 'Tokens, input and output together.' },
  } as const,
});

export const ReachedLimit = builder.objectRef<ReachedLimitShape>('ReachedLimit').implement({
  description:
    'A limit that allowed no further model call, or only a part of a reply, with its figures when that call was to begin: USD for a limit on cost, else tokens. A reply under way is cut at what was reserved for it, also when the limit is raised meanwhile.',
  fields: (t) => ({
    scope: t.field({
      type: BudgetScope,
      description: 'Whose spending it limits: OWNER and TENANT are limits that only the operator can raise.',
      resolve: ({ scope }) => scope,
    }),
    kind: t.field({
      type: LimitKind,
      description: 'Whether it is on money or on tokens, which is the unit of the figures here.',
      resolve: ({ kind }) => kind,
    }),
    limit: t.exposeFloat('limit', { description: 'What may be spent in all.' }),
    spent: t.exposeFloat('spent', { description: 'What calls that have ended had spent of it.' }),
    held: t.exposeFloat('held', { description: 'What other calls that were under way had reserved of it.' }),
    needed: t.exposeFloat('needed', {
      nullable: true,
      description:
        'What the call needed at least: its prompt, counted with a margin, and a few tokens of output. Null when its price is unknown.',
    }),
  }),
});

/** The limit that stands in what is stored of a turn's events, when one has ended it. */
export function reachedLimitOf(layout: unknown): ReachedLimitShape | null {
  const end = (layout as readonly LayoutEntry[]).at(-1);
  return (end?.type === 'end' && end.reached) || null;
}
