import type { Queryable } from './queryable.js';

/** An image of a message: a URL, or bytes that are stored under their digest. */
export interface HistoryImage {
  readonly url: string | null;
  readonly digest: string | null;
  readonly mimeType: string | null;
  /** Of the stored bytes; 0 for a URL. */
  readonly byteSize: number;
  /** The provider has refused a request that it was in, so it is sent no more. */
  readonly isRefused: boolean;
}

/** A retained message with what a prompt needs of it. */
export interface HistoryMessage {
  readonly id: string;
  readonly sequence: number;
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL';
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  /** In order. */
  readonly images: readonly HistoryImage[];
}

/**
 * Whether an image `i` of `messages m` is to be sent no more. Which one a provider has refused it does not say, so it is
 * taken to be any of those that were in the conversation then. A turn whose step is 0 was refused before anybody was
 * asked.
 */
export const isRefused = `
  (i.was_refused OR EXISTS (SELECT FROM turns t WHERE t.session_id = m.session_id AND t.error_code = 'PROVIDER_REFUSED' AND t.step > 0
            AND t.number >= coalesce((SELECT o.number FROM turns o WHERE o.id = m.turn_id), 0)))`;

/** The columns of a HistoryMessage, of `messages m`. */
export const messageColumns = `m.id, m.sequence, m.role, m.content, m.tool_call_id,
       CASE WHEN m.role = 'ASSISTANT' THEN (
         SELECT json_agg(json_build_object('id', c.call_id, 'name', c.name, 'arguments', c.arguments) ORDER BY c.position)
         FROM tool_calls c WHERE c.message_id = m.id) END AS tool_calls,
       CASE WHEN m.role = 'USER' THEN (
         SELECT json_agg(json_build_object('url', i.url, 'digest', i.digest, 'mimeType', b.mime_type,
                                           'byteSize', coalesce(b.byte_size, 0), 'isRefused', ${isRefused})
                         ORDER BY i.position)
         FROM message_images i LEFT JOIN image_blobs b ON b.session_id = i.session_id AND b.digest = i.digest
         WHERE i.message_id = m.id) END AS images`;

const text = `
SELECT ${messageColumns}
FROM messages m
WHERE m.session_id = $1 AND m.trimmed_at IS NULL AND m.status <> 'STREAMING' AND m.sequence < $2
ORDER BY m.sequence DESC
LIMIT $3`;

export interface MessageRow {
  id: string;
  sequence: number;
  role: HistoryMessage['role'];
  content: string;
  tool_call_id: string | null;
  tool_calls: HistoryMessage['toolCalls'] | null;
  images: HistoryImage[] | null;
}

export const toHistoryMessage = (row: MessageRow): HistoryMessage => ({
  id: row.id,
  sequence: row.sequence,
  role: row.role,
  content: row.content,
  toolCallId: row.tool_call_id,
  toolCalls: row.tool_calls ?? [],
  images: row.images ?? [],
});

/** The newest retained messages before a sequence, newest first. */
export async function loadHistory(
  db: Queryable,
  sessionId: string,
  before: number,
  limit: number,
): Promise<HistoryMessage[]> {
  const { rows } = await db.query<MessageRow>({ name: 'load-history', text, values: [sessionId, before, limit] });
  return rows.map(toHistoryMessage);
}
