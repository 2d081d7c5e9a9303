CREATE TABLE chats (
  id text PRIMARY KEY,
  created_at timestamp NOT NULL DEFAULT now()
);
CREATE TABLE messages (
  seq serial,
  id text PRIMARY KEY,
  chat_id text NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  role text NOT NULL,
  parts jsonb NOT NULL,
  created_at timestamp NOT NULL DEFAULT now()
);
CREATE INDEX messages_chat ON messages (chat_id, seq);
