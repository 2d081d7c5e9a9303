import type { Queryable } from './queryable.js';

/** A retained message with what a prompt needs of it. */
export interface HistoryMessage {
  readonly id: string;
  readonly sequence: number;
  readonly role: 'USER' | 'ASSISTANT' | 'TOOL';
  readonly content: string;
  readonly toolCallId: string | null;
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: unknown }[];
  /** https URLs and data URIs, in order. */
  readonly images: readonly string[];
}

const text = `
SELECT m.id, m.sequence, m.role, m.content, m.tool_call_id,
       CASE WHEN m.role = 'ASSISTANT' THEN (
         SELECT json_agg(json_build_object('id', c.call_id, 'name', c.name, 'arguments', c.arguments) ORDER BY c.position)
         FROM tool_calls c WHERE c.message_id = m.id) END AS tool_calls,
       CASE WHEN m.role = 'USER' THEN (
         SELECT json_agg(coalesce(i.url, 'data:' || b.mime_type || ';base64,' || translate(encode(b.data, 'base64'), E'\\n', '')) ORDER BY i.position)
         FROM message_images i LEFT JOIN image_blobs b ON b.session_id = i.session_id AND b.digest = i.digest
         WHERE i.message_id = m.id) END AS images
FROM messages m
WHERE m.session_id = $1 AND m.trimmed_at IS NULL AND m.status <> 'STREAMING' AND m.sequence < $2
ORDER BY m.sequence DESC
LIMIT $3`;

interface Row {
  id: string;
  sequence: number;
  role: HistoryMessage['role'];
  content: string;
  tool_call_id: string | null;
  tool_calls: HistoryMessage['toolCalls'] | null;
  images: string[] | null;
}

/** The newest retained messages before a sequence, newest first. */
export async function loadHistory(
  db: Queryable,
  sessionId: string,
  before: number,
  limit: number,
): Promise<HistoryMessage[]> {
  const { rows } = await db.query<Row>({ name: 'load-history', text, values: [sessionId, before, limit] });
  return rows.map((row) => ({
    id: row.id,
    sequence: row.sequence,
    role: row.role,
    content: row.content,
    toolCallId: row.tool_call_id,
    toolCalls: row.tool_calls ?? [],
    images: row.images ?? [],
  }));
}
