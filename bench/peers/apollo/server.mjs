// Apollo Server with subscriptions as its documentation sets them up: express, graphql-ws, an in-memory PubSub.
import http from 'node:http';
import { ApolloServer } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import cors from 'cors';
import express from 'express';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { schema } from './schema.mjs';

const app = express();
const httpServer = http.createServer(app);
useServer({ schema }, new WebSocketServer({ server: httpServer, path: '/graphql' }));
const server = new ApolloServer({ schema });
await server.start();
app.use('/graphql', cors(), express.json(), expressMiddleware(server));
httpServer.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'));
