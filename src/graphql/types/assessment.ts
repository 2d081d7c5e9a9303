import type { StepAssessment } from '../../events/event.js';
import { builder } from '../builder.js';

export const Assessment = builder.objectRef<StepAssessment>('Assessment').implement({
  description:
    'How the server judged what a model call gave: by its finish reason, its text and how its thinking ended. The facts stand in the trace as MODEL_CALL, this as ASSESSMENT.',
  fields: (t) => ({
    completed: t.exposeBoolean('completed', {
      description:
        'Whether the turn could end with it. False while tools are called, or when the answer was cut or blocked.',
    }),
    confidence: t.exposeFloat('confidence', {
      nullable: true,
      description:
        'How sure the model seems of its answer, from 0 to 1: 0.9, less when its thinking ends in doubt or lacks something. Null when there is no answer to judge.',
    }),
    needsClarification: t.exposeBoolean('needsClarification', {
      description: 'Whether its thinking says that it lacks something which only the user can tell.',
    }),
    reasons: t.exposeStringList('reasons', {
      description:
        'What it was judged by: answered, tool_calls, length, content_filter, empty_reply, no_finish_reason, or what its thinking gave away: uncertain, wants_to_verify, missing_information. More may follow.',
    }),
  }),
});
