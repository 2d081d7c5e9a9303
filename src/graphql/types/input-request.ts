import { builder } from '../builder.js';
import { globalId } from '../ids.js';

/** What a turn waits with. Every kind of request is the same row, told apart by its kind. */
export const InputRequest = builder.prismaInterface('InputRequest', {
  name: 'InputRequest',
  description: 'Something that a turn asks of its user, and waits for.',
  select: { id: true, kind: true },
  fields: (t) => ({
    id: t.id({
      description: 'Opaque id, the requestId of the mutation that answers.',
      resolve: ({ id }) => globalId('InputRequest', id),
    }),
    turnId: t.id({
      description: 'Id of the turn that waits.',
      select: { turnId: true },
      resolve: ({ turnId }) => globalId('Turn', turnId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Until when an answer is taken; after that the turn goes on without one.',
    }),
  }),
  resolveType: () => 'Question',
});

builder.prismaObject('InputRequest', {
  variant: 'Question',
  interfaces: [InputRequest],
  description: 'The model asks the user. Answer with answerQuestion; the same turn then goes on.',
  select: { id: true, kind: true },
  fields: (t) => ({
    question: t.string({
      description: 'What the model wants to know.',
      select: { question: true },
      resolve: ({ question }) => question ?? '',
    }),
    choices: t.stringList({
      nullable: true,
      description:
        'Answers that the model proposes, for buttons; null when it proposes none. Any other text may be answered as well.',
      select: { choices: true },
      resolve: ({ choices }) => choices as string[] | null,
    }),
  }),
});
