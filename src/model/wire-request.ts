import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions';
import type { ModelRequest, PromptMessage, PromptTool } from './port.js';

/**
 * The body of a request. The output limit has two names: OpenAI's newer models refuse `max_tokens`, while Ollama, LM
 * Studio, Mistral and older servers ignore or refuse `max_completion_tokens`. So the new name goes to OpenAI itself and to
 * its newer models behind a gateway such as LiteLLM, the old one to everything else.
 *
 * @param isOpenAi whether the request goes to OpenAI's own servers
 */
export function toWireRequest(request: ModelRequest, isOpenAi: boolean): ChatCompletionCreateParamsStreaming {
  const limit = request.maxOutputTokens;
  return {
    model: request.model,
    messages: request.messages.map(toWireMessage),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.temperature === null ? {} : { temperature: request.temperature }),
    ...(limit === null
      ? {}
      : isOpenAi || isNewerOpenAiModel(request.model)
        ? { max_completion_tokens: limit }
        : { max_tokens: limit }),
    ...(request.tools && request.tools.length > 0 ? { tools: request.tools.map(toWireTool) } : {}),
  };
}

/** The o series and everything from gpt-5 on, also with a gateway's prefix: `openai/gpt-5-mini`. Not `gpt-oss`. */
const isNewerOpenAiModel = (model: string) => /(^|\/)(o\d|gpt-([5-9]|\d\d))/.test(model);

const toWireTool = ({ name, description, parameters }: PromptTool): ChatCompletionFunctionTool => ({
  type: 'function',
  function: { name, description, parameters },
});

function toWireMessage(message: PromptMessage): ChatCompletionMessageParam {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content };
    case 'user':
      if (message.images.length === 0) return { role: 'user', content: message.content };
      return {
        role: 'user',
        content: [
          ...(message.content.trim() === '' ? [] : [{ type: 'text' as const, text: message.content }]),
          ...message.images.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
        ],
      };
    case 'assistant':
      if (message.toolCalls.length === 0) return { role: 'assistant', content: message.content };
      return {
        role: 'assistant',
        // Strict servers refuse an empty text beside tool calls.
        content: message.content.trim() === '' ? null : message.content,
        tool_calls: message.toolCalls.map((call) => ({
          id: call.id,
          type: 'function' as const,
          function: { name: call.name, arguments: call.arguments },
        })),
      };
    case 'tool':
      return { role: 'tool', content: message.content, tool_call_id: message.toolCallId };
  }
}
