import { GraphQLError } from 'graphql';

/** What a scalar throws for a value that it does not take; the path of the argument is added by graphql. */
export const invalidValue = (message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
