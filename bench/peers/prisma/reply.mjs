import OpenAI from 'openai';
import { addReply, loadHistory } from './store.mjs';

const openai = new OpenAI({ baseURL: process.env.PROVIDER_URL, apiKey: 'none' });

/** Asks the model, publishes every piece of the reply and, once that is stored, its end. */
export async function reply(sessionId, publish) {
  const chunks = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: await loadHistory(sessionId),
    stream: true,
    stream_options: { include_usage: true },
  });
  let content = '';
  let tokens = 0;
  for await (const chunk of chunks) {
    const delta = chunk.choices[0]?.delta.content;
    if (delta) {
      content += delta;
      await publish({ type: 'delta', delta });
    }
    tokens = chunk.usage?.total_tokens ?? tokens;
  }
  await publish({ type: 'done', message: await addReply(sessionId, content, tokens) });
}
