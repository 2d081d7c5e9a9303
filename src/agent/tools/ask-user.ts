import { z } from 'zod';
import { readArguments, toParameters } from './schema.js';
import type { QuestionTool } from './tool.js';

const parameters = z.object({
  question: z.string().trim().min(1).max(4_000),
  choices: z.array(z.string().trim().min(1).max(500)).max(20).optional(),
});

/** Asks the user; the turn waits for the answer, which is the result. */
export const askUser: QuestionTool = {
  kind: 'question',
  name: 'ask_user',
  description: 'Ask the user when you cannot go on without their answer. choices: short answers to pick from.',
  parameters: toParameters(parameters),
  origin: 'built_in',
  sideEffect: 'none',
  requiresApproval: false,
  idempotent: true,
  read(given) {
    const read = readArguments(parameters, given);
    if ('problem' in read) return read;
    const { question, choices } = read.value;
    return { value: { question, choices: choices && choices.length > 0 ? choices : null } };
  },
};
