import { generateId } from 'ai';
import { asc, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { jsonb, pgTable, serial, text, timestamp } from 'drizzle-orm/pg-core';
import pg from 'pg';

const chats = pgTable('chats', { id: text().primaryKey(), createdAt: timestamp('created_at').defaultNow().notNull() });
const messages = pgTable('messages', {
  seq: serial(),
  id: text().primaryKey(),
  chatId: text('chat_id')
    .references(() => chats.id)
    .notNull(),
  role: text().notNull(),
  parts: jsonb().notNull(),
});
const db = drizzle(new pg.Pool({ connectionString: process.env.DATABASE_URL }));

export async function createChat() {
  const id = generateId();
  await db.insert(chats).values({ id });
  return id;
}

export const loadMessages = (chatId) =>
  db
    .select({ id: messages.id, role: messages.role, parts: messages.parts })
    .from(messages)
    .where(eq(messages.chatId, chatId))
    .orderBy(asc(messages.seq));

export const saveMessage = (chatId, { id, role, parts }) =>
  db
    .insert(messages)
    .values({ chatId, id, role, parts })
    .onConflictDoUpdate({ target: messages.id, set: { parts: sql`excluded.parts` } });
