// GraphQL Yoga with subscriptions over graphql-ws as its documentation sets them up, and its own createPubSub.
import http from 'node:http';
import { useServer } from 'graphql-ws/use/ws';
import { createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';
import { schema } from './schema.mjs';

const yoga = createYoga({ schema, graphiql: { subscriptionsProtocol: 'WS' }, logging: 'warn' });
const httpServer = http.createServer(yoga);

async function onSubscribe({ extra, ...context }, _id, params) {
  const { schema, parse, validate, contextFactory, execute, subscribe } = yoga.getEnveloped({
    ...context,
    req: extra.request,
    socket: extra.socket,
    params,
  });
  const document = parse(params.query);
  const errors = validate(schema, document);
  if (errors.length > 0) return errors;
  return {
    schema,
    document,
    operationName: params.operationName,
    variableValues: params.variables,
    contextValue: await contextFactory(),
    rootValue: { execute, subscribe },
  };
}

useServer(
  {
    onSubscribe,
    execute: (args) => args.rootValue.execute(args),
    subscribe: (args) => args.rootValue.subscribe(args),
  },
  new WebSocketServer({ server: httpServer, path: yoga.graphqlEndpoint }),
);
httpServer.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'));
