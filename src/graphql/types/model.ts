import type { ModelInfo } from '../../model/catalog.js';
import { builder } from '../builder.js';

export const ModelType = builder.objectRef<ModelInfo>('Model').implement({
  description: 'A model that a session may use. Prices are in USD per million tokens.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Name of the model, as createChatSession takes it. Not an id for node(id:).' }),
    contextWindow: t.exposeInt('contextWindow', { description: 'Tokens that prompt and reply may have together.' }),
    maxOutputTokens: t.exposeInt('maxOutputTokens', {
      nullable: true,
      description: 'Most tokens of one reply; null when unknown.',
    }),
    inputPrice: t.float({
      nullable: true,
      description:
        'Price of a million input tokens in USD; 0 for a free model, null when unknown. A session with a cost limit cannot use a model without prices.',
      resolve: ({ prices }) => prices?.input.toNumber(),
    }),
    cachedInputPrice: t.float({
      nullable: true,
      description:
        'Price of a million input tokens from the provider’s cache in USD; the same as inputPrice without a discount, null when unknown.',
      resolve: ({ prices }) => prices?.cachedInput.toNumber(),
    }),
    outputPrice: t.float({
      nullable: true,
      description: 'Price of a million output tokens in USD; 0 for a free model, null when unknown.',
      resolve: ({ prices }) => prices?.output.toNumber(),
    }),
    isDefault: t.boolean({
      description: 'True for the model of sessions that name none.',
      resolve: ({ id }, _args, { catalog }) => id === catalog.default.id,
    }),
  }),
});

builder.queryField('models', (t) =>
  t.field({
    type: [ModelType],
    description: 'The models that a session may use, with windows and prices.',
    resolve: (_root, _args, { catalog }) => [...catalog.list()],
  }),
);
