import { builder } from '../builder.js';

export const FinishReason = builder.enumType('FinishReason', {
  description: 'How a turn came to its end.',
  values: {
    STOP: { description: 'The model finished its reply.' },
    MAX_STEPS: { description: 'maxStepsPerTurn was reached; the reply is what there was by then.' },
    LENGTH: { description: 'The reply reached the output limit and is cut.' },
    CONTENT_FILTER: { description: 'The model provider’s filter cut the reply.' },
    BUDGET: { description: 'The budget ran out before the reply was finished.' },
    STOPPED: { description: 'The user stopped it.' },
    ERROR: { description: 'It failed; Turn.error says why.' },
    INPUT_REQUIRED: { description: 'It waits for an answer of the user and will go on.' },
  } as const,
});
