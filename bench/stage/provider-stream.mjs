import { stampedToken } from './clock.mjs';

let replies = 0;

/** The chunks of one reply, of the size and with the fields that OpenAI sends. Every reply has an id of its own. */
export function createReply(promptBytes) {
  replies += 1;
  const head = `{"id":"chatcmpl-${String(replies).padStart(29, '0')}","object":"chat.completion.chunk","created":1741569952,"model":"gpt-4o-mini","service_tier":"default","system_fingerprint":"fp_44709d6fcb","choices":`;
  const chunk = (delta, finishReason) =>
    `data: ${head}[{"index":0,"delta":${delta},"logprobs":null,"finish_reason":${finishReason}}],"usage":null}\n\n`;
  return {
    first: () => chunk('{"role":"assistant","content":"","refusal":null}', 'null'),
    token: (padding) => chunk(`{"content":"${stampedToken()}${padding}"}`, 'null'),
    end(tokens) {
      const prompt = promptBytes >> 2;
      const usage = `{"prompt_tokens":${prompt},"completion_tokens":${tokens},"total_tokens":${prompt + tokens},"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0}}`;
      return `${chunk('{}', '"stop"')}data: ${head}[],"usage":${usage}}\n\ndata: [DONE]\n\n`;
    },
  };
}
