-- CreateTable
CREATE TABLE "context_summaries" (
    "session_id" UUID NOT NULL,
    "content" TEXT,
    "from_sequence" INTEGER,
    "through_sequence" INTEGER,
    "message_count" INTEGER NOT NULL DEFAULT 0,
    "source_tokens" INTEGER NOT NULL DEFAULT 0,
    "attempted_turn" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "context_summaries_pkey" PRIMARY KEY ("session_id")
);

-- AddForeignKey
ALTER TABLE "context_summaries" ADD CONSTRAINT "context_summaries_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

--------------------------------------------------------------------------------------------------------------------
-- Written by hand. Every name below is listed in test/integration/db/schema-drift.test.ts.
--------------------------------------------------------------------------------------------------------------------

ALTER TABLE "context_summaries"
  -- A summary says which messages it tells.
  ADD CONSTRAINT "context_summaries_range_check" CHECK (
    ("content" IS NULL) = ("from_sequence" IS NULL) AND ("content" IS NULL) = ("through_sequence" IS NULL)
    AND "from_sequence" >= 1 AND "through_sequence" >= "from_sequence"),
  ADD CONSTRAINT "context_summaries_counters_check" CHECK ("message_count" >= 0 AND "source_tokens" >= 0 AND "attempted_turn" >= 1);

-- Turns whose request the provider has refused: their images are not sent again. There are few, so that a prompt with
-- images need not look at all turns of its session.
CREATE INDEX "turns_refused_idx" ON "turns"("session_id", "number") WHERE "error_code" = 'PROVIDER_REFUSED';
