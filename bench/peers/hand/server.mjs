// What a careful team writes in an afternoon: node:http, the openai SDK, server-sent events, pg.
import { once } from 'node:events';
import http from 'node:http';
import OpenAI from 'openai';
import { answerJson, openEventStream, readJson } from '../http-answers.mjs';
import { addReply, addUserMessage, createSession } from './store.mjs';

const openai = new OpenAI({ baseURL: process.env.PROVIDER_URL, apiKey: 'none' });
const watchers = new Map();

async function write(response, event) {
  if (response.write(`data: ${JSON.stringify(event)}\n\n`)) return;
  await Promise.race([once(response, 'drain'), once(response, 'close')]);
}

async function reply(request, response, sessionId) {
  const { content } = await readJson(request);
  const messages = await addUserMessage(sessionId, content);
  const left = new AbortController();
  response.on('close', () => !response.writableEnded && left.abort());
  openEventStream(response);
  const chunks = await openai.chat.completions.create(
    { model: 'gpt-4o-mini', messages, stream: true, stream_options: { include_usage: true } },
    { signal: left.signal },
  );
  let text = '';
  let usage = null;
  for await (const chunk of chunks) {
    const delta = chunk.choices[0]?.delta.content;
    if (delta) {
      text += delta;
      await write(response, { type: 'text-delta', delta });
    }
    usage = chunk.usage ?? usage;
  }
  await addReply(sessionId, text, usage?.total_tokens ?? 0);
  response.end(`data: ${JSON.stringify({ type: 'finish', usage })}\n\n`);
}

function watch(response, sessionId) {
  const listening = watchers.get(sessionId) ?? new Set();
  watchers.set(sessionId, listening.add(response));
  response.on('close', () => listening.delete(response));
  openEventStream(response);
}

async function handle(request, response) {
  const [, , id, what] = request.url.split('/');
  if (request.method === 'GET') watch(response, id);
  else if (what === 'messages') await reply(request, response, id);
  else answerJson(response, 201, await createSession());
}

http
  .createServer((request, response) => {
    handle(request, response).catch((error) => {
      console.error(error);
      if (response.headersSent) response.end('data: {"type":"error"}\n\n');
      else answerJson(response, 500, { error: 'internal' });
    });
  })
  .listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'));
