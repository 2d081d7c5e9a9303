import { type ContextReport as ContextReportValue, usedTokens } from '../../events/context-report.js';
import { builder } from '../builder.js';

export const ContextStrategy = builder.enumType('ContextStrategy', {
  description: 'How far a conversation had to be shortened to fit into the context window of its model.',
  values: {
    PASSTHROUGH: { description: 'Not at all: every message is in the prompt as it was written.' },
    FIDELITY: { description: 'Results of tools and older messages are in it in a shorter form.' },
    SUMMARY: { description: 'A summary stands for the oldest messages.' },
    AGGRESSIVE: {
      description: 'Messages are left out without a summary: the first request and the last messages stay.',
    },
  } as const,
});

const FidelityDistribution = builder.objectRef<ContextReportValue['fidelity']>('FidelityDistribution').implement({
  description: 'How many messages of the history are in the prompt, by how much is left of them.',
  fields: (t) => ({
    l0: t.exposeInt('l0', { description: 'As they were written.' }),
    l1: t.exposeInt('l1', { description: 'Cut to about 300 characters.' }),
    l2: t.exposeInt('l2', { description: 'Cut to about 80 characters.' }),
    l3: t.exposeInt('l3', { description: 'A trace: that there was a message, from whom, and how long it was.' }),
  }),
});

const tokens = 'Counted by this server, so an estimate of what the provider counts.';

export const ContextReport = builder.objectRef<ContextReportValue>('ContextReport').implement({
  description: 'How the prompt of a model call was made up. Token figures are estimates.',
  fields: (t) => ({
    strategy: t.expose('strategy', { type: ContextStrategy, description: 'How far the history had to be shortened.' }),
    windowTokens: t.exposeInt('windowTokens', {
      description: 'Context window of the model in tokens, for prompt and reply together.',
    }),
    usedTokens: t.int({ description: `Tokens of the whole prompt. ${tokens}`, resolve: usedTokens }),
    utilization: t.float({
      description:
        'usedTokens as a part of windowTokens, from 0 to 1. The reply needs room as well: maxOutputTokens of the session or the model, else 4,096, and at most half of the window is kept free for it.',
      resolve: (report) => usedTokens(report) / report.windowTokens,
    }),
    systemTokens: t.exposeInt('systemTokens', { description: 'Tokens of the system prompt.' }),
    toolTokens: t.exposeInt('toolTokens', { description: 'Tokens of the descriptions of the tools.' }),
    historyTokens: t.exposeInt('historyTokens', {
      description: 'Tokens of all messages of the conversation, images included.',
    }),
    messagesTotal: t.exposeInt('messagesTotal', {
      description: 'Messages of the history: kept, compressed and dropped ones together.',
    }),
    messagesKept: t.exposeInt('messagesKept', { description: 'Messages that are in the prompt as they were written.' }),
    messagesCompressed: t.exposeInt('messagesCompressed', {
      description: 'Messages that are in it in a shorter form, those that the summary stands for included.',
    }),
    messagesDropped: t.exposeInt('messagesDropped', { description: 'Messages of which nothing is in the prompt.' }),
    tokensSaved: t.exposeInt('tokensSaved', {
      description:
        'What the shortened messages would have taken besides, in tokens. Messages that were dropped without being looked at do not count.',
    }),
    fidelity: t.expose('fidelity', {
      type: FidelityDistribution,
      description: 'Messages of the prompt by how much is left of them.',
    }),
    toolsLoaded: t.exposeInt('toolsLoaded', { description: 'Tools that the model was shown.' }),
    toolsAvailable: t.exposeInt('toolsAvailable', { description: 'Tools that the session may use.' }),
  }),
});
