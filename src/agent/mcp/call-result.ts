import { z } from 'zod';
import { ToolFailure } from '../tools/tool-failure.js';

/** The answer to a call. Contents are read one by one: a kind that is not known here spoils no other. */
export const callResult = z.object({
  content: z.array(z.unknown()).optional().catch(undefined),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().optional().catch(undefined),
});

export type CallResult = z.infer<typeof callResult>;

const textBlock = z.object({ type: z.literal('text'), text: z.string() });
const media = z.object({ type: z.enum(['image', 'audio']), data: z.string(), mimeType: z.string().catch('') });
const embedded = z.object({
  type: z.literal('resource'),
  resource: z.object({
    text: z.string().optional(),
    blob: z.string().optional(),
    mimeType: z.string().catch(''),
  }),
});
const link = z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().catch('') });
const block = z.union([textBlock, media, embedded, link]);

const longestWord = 200;

function sizeOf(base64: string): string {
  const bytes = Math.floor((base64.length * 3) / 4);
  return bytes < 1_024 ? `${bytes} bytes` : `${Math.round(bytes / 1_024)} KiB`;
}

const note = (...words: readonly string[]) =>
  `[${words
    .filter((word) => word !== '')
    .map((word) => word.slice(0, longestWord))
    .join(', ')}]`;

/** A piece of content as text, and whether it is the tool's own text. */
function read(content: unknown): { readonly text: string; readonly isNote: boolean } {
  const parsed = block.safeParse(content);
  if (!parsed.success) return { text: '[content of an unknown kind]', isNote: true };
  const { data } = parsed;
  switch (data.type) {
    case 'text':
      return { text: data.text, isNote: false };
    case 'image':
    case 'audio':
      return { text: note(data.type, data.mimeType, sizeOf(data.data)), isNote: true };
    case 'resource_link':
      return { text: note('link', data.name, data.uri), isNote: true };
    case 'resource': {
      const { text, blob = '', mimeType } = data.resource;
      return text === undefined
        ? { text: note('resource', mimeType, sizeOf(blob)), isNote: true }
        : { text, isNote: false };
    }
  }
}

/**
 * What the model is told of an answer: the texts, notes for what is no text, and the structured content where there is
 * no text.
 *
 * @throws ToolFailure when the server says that the tool has failed.
 */
export function textOf({ content = [], structuredContent, isError }: CallResult): string {
  const pieces = content.map(read);
  const texts = pieces.map(({ text }) => text);
  if (structuredContent !== undefined && pieces.every(({ text, isNote }) => isNote || text.trim() === '')) {
    texts.unshift(JSON.stringify(structuredContent));
  }
  const text = texts.filter((one) => one !== '').join('\n');
  if (isError)
    throw new ToolFailure('TOOL_ERROR', 'logic', text === '' ? 'The tool failed and did not say why.' : text);
  return text;
}
