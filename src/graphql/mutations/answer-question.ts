import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadTurn } from '../load-turn.js';
import { Turn } from '../types/turn.js';

const AnswerQuestionInput = builder.inputType('AnswerQuestionInput', {
  description: 'An answer to a question of the model.',
  fields: (t) => ({
    requestId: t.id({ required: true, description: 'Id of the Question.' }),
    answer: t.string({
      required: true,
      description: 'The answer in words, one of the choices or any other; up to the size of a message, not blank.',
    }),
  }),
});

builder.mutationField('answerQuestion', (t) =>
  t.prismaField({
    type: Turn,
    description:
      'Answers a question of the model and lets its turn go on; it answers as soon as that is stored, and the rest comes by turnEvents. Exactly one answer counts: INPUT_ALREADY_RESOLVED for every other one and for a question that a stop has closed, INPUT_EXPIRED after expiresAt, NOT_FOUND when the question is not yours, BAD_USER_INPUT for a blank, too long or unstorable answer.',
    args: { input: t.arg({ type: AnswerQuestionInput, required: true, description: 'The answer.' }) },
    resolve: async (query, _root, { input }, context) => {
      const requestId = idOf('InputRequest', input.requestId, 'requestId');
      const { turnId } = await context.chat.answerQuestion(context.principal, { ...input, requestId });
      return loadTurn(context, query, turnId);
    },
  }),
);
