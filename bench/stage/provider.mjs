// A process that plays the model provider: chat completions, streamed as the last user message says (script.mjs).
import { once } from 'node:events';
import http from 'node:http';
import { answerQuestions } from './answer-questions.mjs';
import { createReply } from './provider-stream.mjs';
import { findScript } from './script.mjs';

/** Tokens of one write where the provider is as fast as it can. */
const burst = 32;
const silent = new Set();

async function writeAtOnce(response, reply, { tokens, padding }) {
  let text = reply.first();
  for (let written = 1; written <= tokens && !response.destroyed; written += 1) {
    text += reply.token(padding);
    if (written % burst !== 0) continue;
    const hasRoom = response.write(text);
    text = '';
    if (!hasRoom) await Promise.race([once(response, 'drain'), once(response, 'close')]);
  }
  response.end(text + reply.end(tokens));
}

function writePaced(response, reply, { tokens, everyMs, padding }) {
  response.write(reply.first());
  let written = 0;
  const timer = setInterval(() => {
    response.write(reply.token(padding));
    written += 1;
    if (written < tokens) return;
    clearInterval(timer);
    response.end(reply.end(tokens));
  }, everyMs);
  response.once('close', () => clearInterval(timer));
}

function staySilent(response, reply) {
  response.write(reply.first());
  silent.add(response);
  response.once('close', () => silent.delete(response));
}

async function complete(request, response) {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts);
  const asked = findScript(body);
  const reply = createReply(body.length);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  if (asked.everyMs < 0) staySilent(response, reply);
  else if (asked.everyMs === 0) await writeAtOnce(response, reply, asked);
  else writePaced(response, reply, asked);
}

const server = http.createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  complete(request, response).catch((error) => {
    console.error(error);
    response.destroy();
  });
});

answerQuestions({
  /** How many requests wait for a token that never comes. */
  silent: () => silent.size,
});
server.listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'));
