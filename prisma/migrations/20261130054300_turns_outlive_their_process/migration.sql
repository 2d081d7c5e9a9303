-- A turn may wait in a queue, pass from process to process, and number its events after those of the turn before it. The
-- first part is what Prisma derives from schema.prisma, the second is written by hand. All of it takes effect without a
-- rewrite of a table: a default that is a constant is stored in the catalog.

-- AlterTable
ALTER TABLE "chat_sessions" ADD COLUMN     "last_event_sequence" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "queued_turns" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "turns" ADD COLUMN     "event_base" INTEGER NOT NULL DEFAULT 0;

--------------------------------------------------------------------------------------------------------------------
-- Written by hand. Every name below is listed in test/integration/db/schema-drift.test.ts.
--------------------------------------------------------------------------------------------------------------------

-- The queue of a session, in its order, without looking at the turns that have run.
CREATE INDEX "turns_queue_idx" ON "turns"("session_id", "number") WHERE "status" = 'QUEUED';

-- The message of a queued turn has no place in the conversation yet: its sequence is negative, and it stays out of the
-- history until its turn starts.
ALTER TABLE "messages" DROP CONSTRAINT "messages_sequence_check";
ALTER TABLE "messages"
  ADD CONSTRAINT "messages_sequence_check" CHECK (("sequence" >= 1 OR "sequence" < 0 AND "trimmed_at" IS NOT NULL) AND "step" >= 1) NOT VALID;
ALTER TABLE "messages" VALIDATE CONSTRAINT "messages_sequence_check";

ALTER TABLE "chat_sessions"
  ADD CONSTRAINT "chat_sessions_events_check" CHECK ("last_event_sequence" >= 0 AND "queued_turns" >= 0);

ALTER TABLE "turns"
  ADD CONSTRAINT "turns_event_base_check" CHECK ("event_base" >= 0);
