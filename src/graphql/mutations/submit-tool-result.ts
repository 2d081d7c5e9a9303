import { builder } from '../builder.js';
import { idOf } from '../ids.js';
import { loadTurn } from '../load-turn.js';
import { Turn } from '../types/turn.js';

const SubmitToolResultInput = builder.inputType('SubmitToolResultInput', {
  description: 'What a tool of the client has come to.',
  fields: (t) => ({
    requestId: t.id({ required: true, description: 'Id of the ClientToolCall.' }),
    result: t.string({
      required: true,
      description:
        'What the model is told, up to the size of a message: any text, for example JSON; empty for nothing. What does not fit beside the conversation is cut, with a note.',
    }),
    isError: t.boolean({
      defaultValue: false,
      description: 'True when the tool has failed: the call ends as FAILED, and result says why.',
    }),
  }),
});

builder.mutationField('submitToolResult', (t) =>
  t.prismaField({
    type: Turn,
    description:
      'Gives the result of a tool that the client has run, and lets its turn go on; it answers as soon as that is stored, and the rest comes by turnEvents. Exactly one result counts: INPUT_ALREADY_RESOLVED for every other one and for a request that a stop has closed, INPUT_EXPIRED after expiresAt, NOT_FOUND when the request is not yours, BAD_USER_INPUT for a request of another kind or a result that is too long or cannot be stored.',
    args: { input: t.arg({ type: SubmitToolResultInput, required: true, description: 'The result.' }) },
    resolve: async (query, _root, { input }, context) => {
      const requestId = idOf('InputRequest', input.requestId, 'requestId');
      const { turnId } = await context.chat.submitToolResult(context.principal, { ...input, requestId });
      return loadTurn(context, query, turnId);
    },
  }),
);
