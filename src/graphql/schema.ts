import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { builder } from './builder.js';
import type { Context } from './context.js';
import { checkSubscriptionLimits } from './limits.js';
import './mutations/answer-question.js';
import './mutations/close-chat-session.js';
import './mutations/create-chat-session.js';
import './mutations/decide-approval.js';
import './mutations/delete-chat-session.js';
import './mutations/fork-chat-session.js';
import './mutations/regenerate.js';
import './mutations/seed-history.js';
import './mutations/send.js';
import './mutations/stop.js';
import './mutations/submit-tool-result.js';
import './mutations/update-chat-session.js';
import './scalars/date-time.js';
import './scalars/json.js';
import './scalars/safe-int.js';
import './subscriptions/stream.js';
import './subscriptions/session-events.js';
import './subscriptions/turn-events.js';
import './types/budget.js';
import './types/chat-session.js';
import './types/chat-sessions.js';
import './types/image.js';
import './types/input-request.js';
import './types/model.js';
import './types/node.js';
import './types/tool-call.js';
import './types/tool.js';
import './types/usage-sum.js';
import './types/viewer.js';

/** The executable schema. Its resolvers need a Context of their own for each operation. */
export function buildSchema(): GraphQLSchema {
  const schema = builder.toSchema({ sortSchema: false });
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    field.subscribe = withLimits(field.subscribe as GraphQLFieldResolver<unknown, Context>);
  }
  return schema;
}

const withLimits =
  (subscribe: GraphQLFieldResolver<unknown, Context>): GraphQLFieldResolver<unknown, Context> =>
  (root, args, context, info) => {
    checkSubscriptionLimits(context, info);
    return subscribe(root, args, context, info);
  };
