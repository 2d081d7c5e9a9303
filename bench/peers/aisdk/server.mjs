// The Vercel AI SDK as its guide to stored chats has it: the last message comes in, the UI message stream goes out.
import http from 'node:http';
import { createOpenAI } from '@ai-sdk/openai';
import { convertToModelMessages, createIdGenerator, streamText, validateUIMessages } from 'ai';
import { answerJson, readJson } from '../http-answers.mjs';
import { createChat, loadMessages, saveMessage } from './store.mjs';

const openai = createOpenAI({ baseURL: process.env.PROVIDER_URL, apiKey: 'none' });
const generateMessageId = createIdGenerator({ prefix: 'msg', size: 16 });

async function reply(request, response, chatId) {
  const { message } = await readJson(request);
  await saveMessage(chatId, message);
  const messages = await validateUIMessages({ messages: await loadMessages(chatId) });
  const result = streamText({ model: openai.chat('gpt-4o-mini'), messages: await convertToModelMessages(messages) });
  await result.pipeUIMessageStreamToResponse(response, {
    originalMessages: messages,
    generateMessageId,
    onFinish: ({ responseMessage }) => saveMessage(chatId, responseMessage),
    onError(error) {
      console.error(error);
      return 'error';
    },
  });
}

async function handle(request, response) {
  const [, , id] = request.url.split('/');
  if (id === undefined) answerJson(response, 201, { id: await createChat() });
  else await reply(request, response, id);
}

http
  .createServer((request, response) => {
    handle(request, response).catch((error) => {
      console.error(error);
      response.destroy();
    });
  })
  .listen({ port: Number(process.env.PORT), host: '127.0.0.1', backlog: 4_096 }, () => console.log('ready'));
