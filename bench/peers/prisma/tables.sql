CREATE TABLE "ChatSession" (
  id text PRIMARY KEY,
  "turnCount" int NOT NULL DEFAULT 0,
  "totalTokens" int NOT NULL DEFAULT 0,
  "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updatedAt" timestamp(3) NOT NULL
);
CREATE TABLE "Message" (
  id serial PRIMARY KEY,
  "sessionId" text NOT NULL REFERENCES "ChatSession" (id) ON DELETE CASCADE,
  role text NOT NULL,
  content text NOT NULL,
  "createdAt" timestamp(3) NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX "Message_sessionId_id_idx" ON "Message" ("sessionId", id);
