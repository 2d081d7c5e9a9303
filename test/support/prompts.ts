import { countTokens, tokensPerImage, tokensPerMessage, tokensPerReply } from '../../src/model/tokens.js';
import type { WireMessage } from './provider.js';

/** The texts of a message as it came over the wire. */
export const textsOf = ({ content }: WireMessage): string[] =>
  Array.isArray(content)
    ? (content as { text?: string }[]).flatMap(({ text }) => (text === undefined ? [] : [text]))
    : typeof content === 'string'
      ? [content]
      : [];

/** The images of a message as it came over the wire, each as its URL. */
export const imagesOf = ({ content }: WireMessage): string[] =>
  Array.isArray(content)
    ? (content as { image_url?: { url: string } }[]).flatMap(({ image_url: image }) => (image ? [image.url] : []))
    : [];

/** Tokens of the messages of a request. */
export const promptTokensOf = (messages: readonly WireMessage[]): number =>
  messages.reduce((sum, message) => {
    const calls = (message.tool_calls ?? []).reduce(
      (all, { function: called }) => all + tokensPerMessage + countTokens(called.name) + countTokens(called.arguments),
      0,
    );
    const texts = textsOf(message).reduce((all, text) => all + countTokens(text), 0);
    return sum + tokensPerMessage + texts + calls + imagesOf(message).length * tokensPerImage;
  }, tokensPerReply);
