-- The whole data model. The first part is what Prisma derives from schema.prisma (without its CREATE SCHEMA, which asks
-- for a privilege on the database that an application role need not have). The second part, below the line, is written
-- by hand: what Prisma cannot express. It runs on Postgres 14 and later.

-- CreateEnum
CREATE TYPE "chat_session_status" AS ENUM ('OPEN', 'CLOSED');

-- CreateEnum
CREATE TYPE "budget_scope" AS ENUM ('SESSION', 'OWNER', 'TENANT');

-- CreateEnum
CREATE TYPE "message_role" AS ENUM ('USER', 'ASSISTANT', 'TOOL');

-- CreateEnum
CREATE TYPE "message_status" AS ENUM ('COMPLETE', 'STREAMING', 'PARTIAL');

-- CreateEnum
CREATE TYPE "turn_status" AS ENUM ('QUEUED', 'RUNNING', 'AWAITING_INPUT', 'COMPLETED', 'FAILED', 'STOPPED');

-- CreateEnum
CREATE TYPE "finish_reason" AS ENUM ('STOP', 'MAX_STEPS', 'LENGTH', 'CONTENT_FILTER', 'BUDGET', 'STOPPED', 'ERROR', 'INPUT_REQUIRED');

-- CreateEnum
CREATE TYPE "model_call_purpose" AS ENUM ('ANSWER', 'SUMMARY', 'TITLE');

-- CreateEnum
CREATE TYPE "model_call_status" AS ENUM ('PENDING', 'SUCCEEDED', 'FAILED', 'ABORTED');

-- CreateEnum
CREATE TYPE "tool_call_status" AS ENUM ('PENDING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'DENIED', 'INTERRUPTED');

-- CreateEnum
CREATE TYPE "input_request_kind" AS ENUM ('QUESTION', 'APPROVAL', 'CLIENT_TOOL');

-- CreateEnum
CREATE TYPE "input_request_status" AS ENUM ('PENDING', 'RESOLVED', 'EXPIRED', 'CANCELLED');

-- CreateEnum
CREATE TYPE "trace_event_type" AS ENUM ('HISTORY_SEEDED', 'TURN_STARTED', 'CONTEXT_DECISION', 'MODEL_CALL', 'ASSESSMENT', 'TOOL_CALL', 'DIAGNOSIS', 'INPUT_REQUESTED', 'INPUT_RESOLVED', 'HISTORY_TRIMMED', 'BUDGET_EXCEEDED', 'TURN_FINISHED');

-- CreateTable
CREATE TABLE "budgets" (
    "id" UUID NOT NULL,
    "scope" "budget_scope" NOT NULL DEFAULT 'SESSION',
    "owner" TEXT NOT NULL,
    "tenant" TEXT NOT NULL DEFAULT '',
    "max_cost_usd" DECIMAL(24,12),
    "max_tokens" BIGINT,
    "spent_cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "spent_tokens" BIGINT NOT NULL DEFAULT 0,
    "held_cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "held_tokens" BIGINT NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "budgets_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chat_sessions" (
    "id" UUID NOT NULL,
    "owner" TEXT NOT NULL,
    "tenant" TEXT NOT NULL DEFAULT '',
    "client_session_id" TEXT,
    "input_digest" TEXT NOT NULL,
    "title" TEXT,
    "status" "chat_session_status" NOT NULL DEFAULT 'OPEN',
    "model" TEXT NOT NULL,
    "system_prompt" TEXT NOT NULL,
    "max_history" INTEGER,
    "max_steps_per_turn" INTEGER NOT NULL,
    "temperature" DOUBLE PRECISION,
    "max_output_tokens" INTEGER,
    "tool_names" JSONB,
    "client_tools" JSONB,
    "metadata" JSONB,
    "budget_id" UUID NOT NULL,
    "forked_from_id" UUID,
    "active_turn_id" UUID,
    "turn_count" INTEGER NOT NULL DEFAULT 0,
    "message_count" INTEGER NOT NULL DEFAULT 0,
    "last_message_sequence" INTEGER NOT NULL DEFAULT 0,
    "last_trace_sequence" INTEGER NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
    "usage_estimated" BOOLEAN NOT NULL DEFAULT false,
    "total_cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "closed_at" TIMESTAMPTZ(3),

    CONSTRAINT "chat_sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "messages" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID,
    "sequence" INTEGER NOT NULL,
    "role" "message_role" NOT NULL,
    "status" "message_status" NOT NULL DEFAULT 'COMPLETE',
    "content" TEXT NOT NULL,
    "step" INTEGER,
    "tool_call_id" TEXT,
    "client_message_id" TEXT,
    "seeded" BOOLEAN NOT NULL DEFAULT false,
    "trimmed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "image_blobs" (
    "session_id" UUID NOT NULL,
    "digest" TEXT NOT NULL,
    "mime_type" TEXT NOT NULL,
    "byte_size" INTEGER NOT NULL,
    "data" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "image_blobs_pkey" PRIMARY KEY ("session_id","digest")
);

-- CreateTable
CREATE TABLE "message_images" (
    "id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "url" TEXT,
    "digest" TEXT,

    CONSTRAINT "message_images_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "turns" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "status" "turn_status" NOT NULL,
    "finish_reason" "finish_reason",
    "user_message_id" UUID NOT NULL,
    "final_message_id" UUID,
    "idempotency_key" TEXT,
    "input_digest" TEXT NOT NULL,
    "error_code" TEXT,
    "error_retryable" BOOLEAN,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
    "usage_estimated" BOOLEAN NOT NULL DEFAULT false,
    "cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "tool_calls_made" INTEGER NOT NULL DEFAULT 0,
    "step" INTEGER NOT NULL DEFAULT 0,
    "event_layout" JSONB NOT NULL DEFAULT '[]',
    "context_report" JSONB,
    "lease_owner" TEXT,
    "lease_epoch" INTEGER NOT NULL DEFAULT 0,
    "lease_expires_at" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "stop_requested_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "turns_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "model_calls" (
    "id" UUID NOT NULL,
    "session_id" UUID,
    "turn_id" UUID,
    "budget_id" UUID,
    "owner" TEXT NOT NULL,
    "tenant" TEXT NOT NULL DEFAULT '',
    "step" INTEGER,
    "attempt" INTEGER NOT NULL DEFAULT 1,
    "purpose" "model_call_purpose" NOT NULL,
    "model" TEXT NOT NULL,
    "status" "model_call_status" NOT NULL DEFAULT 'PENDING',
    "input_price" DECIMAL(18,8),
    "cached_input_price" DECIMAL(18,8),
    "output_price" DECIMAL(18,8),
    "held_cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "held_tokens" BIGINT NOT NULL DEFAULT 0,
    "input_tokens" BIGINT NOT NULL DEFAULT 0,
    "cached_input_tokens" BIGINT NOT NULL DEFAULT 0,
    "output_tokens" BIGINT NOT NULL DEFAULT 0,
    "reasoning_tokens" BIGINT NOT NULL DEFAULT 0,
    "usage_estimated" BOOLEAN NOT NULL DEFAULT false,
    "cost_usd" DECIMAL(24,12) NOT NULL DEFAULT 0,
    "latency_ms" INTEGER,
    "time_to_first_token_ms" INTEGER,
    "error_code" TEXT,
    "error_retryable" BOOLEAN,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ(3),

    CONSTRAINT "model_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "tool_calls" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID,
    "message_id" UUID NOT NULL,
    "position" INTEGER NOT NULL,
    "call_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "arguments" JSONB NOT NULL,
    "status" "tool_call_status" NOT NULL DEFAULT 'PENDING',
    "result" TEXT,
    "error_code" TEXT,
    "idempotent" BOOLEAN NOT NULL DEFAULT false,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "duration_ms" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "started_at" TIMESTAMPTZ(3),
    "finished_at" TIMESTAMPTZ(3),

    CONSTRAINT "tool_calls_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "input_requests" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID NOT NULL,
    "tool_call_id" UUID NOT NULL,
    "kind" "input_request_kind" NOT NULL,
    "status" "input_request_status" NOT NULL DEFAULT 'PENDING',
    "question" TEXT,
    "choices" JSONB,
    "arguments_digest" TEXT,
    "answer" JSONB,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "resolved_at" TIMESTAMPTZ(3),

    CONSTRAINT "input_requests_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "trace_events" (
    "id" UUID NOT NULL,
    "session_id" UUID NOT NULL,
    "turn_id" UUID,
    "sequence" INTEGER NOT NULL,
    "type" "trace_event_type" NOT NULL,
    "data" JSONB NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "trace_events_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "budgets_tenant_owner_id_idx" ON "budgets"("tenant", "owner", "id");

-- CreateIndex
CREATE UNIQUE INDEX "chat_sessions_active_turn_id_key" ON "chat_sessions"("active_turn_id");

-- CreateIndex
CREATE INDEX "chat_sessions_tenant_owner_updated_at_id_idx" ON "chat_sessions"("tenant", "owner", "updated_at", "id");

-- CreateIndex
CREATE INDEX "chat_sessions_tenant_owner_created_at_id_idx" ON "chat_sessions"("tenant", "owner", "created_at", "id");

-- CreateIndex
CREATE INDEX "chat_sessions_tenant_owner_total_cost_usd_id_idx" ON "chat_sessions"("tenant", "owner", "total_cost_usd", "id");

-- CreateIndex
CREATE INDEX "chat_sessions_budget_id_idx" ON "chat_sessions"("budget_id");

-- CreateIndex
CREATE INDEX "chat_sessions_forked_from_id_idx" ON "chat_sessions"("forked_from_id");

-- CreateIndex
CREATE UNIQUE INDEX "chat_sessions_tenant_owner_client_session_id_key" ON "chat_sessions"("tenant", "owner", "client_session_id");

-- CreateIndex
CREATE INDEX "messages_turn_id_sequence_idx" ON "messages"("turn_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "messages_session_id_sequence_key" ON "messages"("session_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "messages_session_id_client_message_id_key" ON "messages"("session_id", "client_message_id");

-- CreateIndex
CREATE INDEX "message_images_session_id_digest_idx" ON "message_images"("session_id", "digest");

-- CreateIndex
CREATE UNIQUE INDEX "message_images_message_id_position_key" ON "message_images"("message_id", "position");

-- CreateIndex
CREATE UNIQUE INDEX "turns_user_message_id_key" ON "turns"("user_message_id");

-- CreateIndex
CREATE UNIQUE INDEX "turns_final_message_id_key" ON "turns"("final_message_id");

-- CreateIndex
CREATE UNIQUE INDEX "turns_session_id_number_key" ON "turns"("session_id", "number");

-- CreateIndex
CREATE UNIQUE INDEX "turns_session_id_idempotency_key_key" ON "turns"("session_id", "idempotency_key");

-- CreateIndex
CREATE INDEX "model_calls_session_id_created_at_id_idx" ON "model_calls"("session_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "model_calls_turn_id_step_attempt_idx" ON "model_calls"("turn_id", "step", "attempt");

-- CreateIndex
CREATE INDEX "model_calls_tenant_owner_created_at_id_idx" ON "model_calls"("tenant", "owner", "created_at", "id");

-- CreateIndex
CREATE INDEX "tool_calls_session_id_created_at_id_idx" ON "tool_calls"("session_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "tool_calls_turn_id_created_at_id_idx" ON "tool_calls"("turn_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "tool_calls_message_id_position_key" ON "tool_calls"("message_id", "position");

-- CreateIndex
CREATE INDEX "input_requests_session_id_created_at_id_idx" ON "input_requests"("session_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "input_requests_turn_id_created_at_id_idx" ON "input_requests"("turn_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "input_requests_status_expires_at_id_idx" ON "input_requests"("status", "expires_at", "id");

-- CreateIndex
CREATE INDEX "input_requests_tool_call_id_idx" ON "input_requests"("tool_call_id");

-- CreateIndex
CREATE INDEX "trace_events_session_id_type_sequence_idx" ON "trace_events"("session_id", "type", "sequence");

-- CreateIndex
CREATE INDEX "trace_events_turn_id_sequence_idx" ON "trace_events"("turn_id", "sequence");

-- CreateIndex
CREATE UNIQUE INDEX "trace_events_session_id_sequence_key" ON "trace_events"("session_id", "sequence");

-- AddForeignKey
ALTER TABLE "chat_sessions" ADD CONSTRAINT "chat_sessions_budget_id_fkey" FOREIGN KEY ("budget_id") REFERENCES "budgets"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_sessions" ADD CONSTRAINT "chat_sessions_forked_from_id_fkey" FOREIGN KEY ("forked_from_id") REFERENCES "chat_sessions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chat_sessions" ADD CONSTRAINT "chat_sessions_active_turn_id_fkey" FOREIGN KEY ("active_turn_id") REFERENCES "turns"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "messages" ADD CONSTRAINT "messages_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "image_blobs" ADD CONSTRAINT "image_blobs_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message_images" ADD CONSTRAINT "message_images_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "message_images" ADD CONSTRAINT "message_images_session_id_digest_fkey" FOREIGN KEY ("session_id", "digest") REFERENCES "image_blobs"("session_id", "digest") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "turns" ADD CONSTRAINT "turns_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "turns" ADD CONSTRAINT "turns_user_message_id_fkey" FOREIGN KEY ("user_message_id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "turns" ADD CONSTRAINT "turns_final_message_id_fkey" FOREIGN KEY ("final_message_id") REFERENCES "messages"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "model_calls" ADD CONSTRAINT "model_calls_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turns"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_message_id_fkey" FOREIGN KEY ("message_id") REFERENCES "messages"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "input_requests" ADD CONSTRAINT "input_requests_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "input_requests" ADD CONSTRAINT "input_requests_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "input_requests" ADD CONSTRAINT "input_requests_tool_call_id_fkey" FOREIGN KEY ("tool_call_id") REFERENCES "tool_calls"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "trace_events" ADD CONSTRAINT "trace_events_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "trace_events" ADD CONSTRAINT "trace_events_turn_id_fkey" FOREIGN KEY ("turn_id") REFERENCES "turns"("id") ON DELETE CASCADE ON UPDATE CASCADE;

--------------------------------------------------------------------------------------------------------------------
-- Written by hand. Every name below is listed in test/integration/db/schema-drift.test.ts.
--------------------------------------------------------------------------------------------------------------------

-- At most one turn of a session runs or waits for input, whatever a process believes. The busy check of a new turn is
-- fast because of chat_sessions.active_turn_id, and this index is what makes it true.
CREATE UNIQUE INDEX "turns_one_active_per_session_key" ON "turns"("session_id") WHERE "status" IN ('RUNNING', 'AWAITING_INPUT');

-- Finding turns whose owner has gone silent, oldest lease first, without looking at the finished ones.
CREATE INDEX "turns_running_lease_idx" ON "turns"("lease_expires_at", "id") WHERE "status" = 'RUNNING';

-- Reading the history: messages that were not trimmed, in order. Trimmed ones stay as the record of their turn.
CREATE INDEX "messages_history_idx" ON "messages"("session_id", "sequence") WHERE "trimmed_at" IS NULL;

-- The request that a session or one of its turns waits for. Nearly all requests are answered ones.
CREATE INDEX "input_requests_pending_idx" ON "input_requests"("session_id", "created_at", "id") WHERE "status" = 'PENDING';

-- Full-text search over what people and the model said. 'simple' does not stem, since the language is not known. A
-- query must repeat the expression and the condition to use the index. The cut keeps a huge message below the 1 MB
-- limit of a tsvector, which would refuse the whole row.
CREATE INDEX "messages_content_search_idx" ON "messages" USING GIN (to_tsvector('simple', left("content", 100000)))
  WHERE "trimmed_at" IS NULL AND "role" <> 'TOOL';
CREATE INDEX "chat_sessions_title_search_idx" ON "chat_sessions" USING GIN (to_tsvector('simple', coalesce("title", '')));

-- Money and counters never go below zero, so a double settlement is an error and not a gift. For Postgres NaN is
-- greater than every number, hence the second condition.
ALTER TABLE "budgets"
  ADD CONSTRAINT "budgets_limits_check" CHECK ("max_cost_usd" >= 0 AND "max_cost_usd" <> 'NaN' AND "max_tokens" >= 0),
  ADD CONSTRAINT "budgets_spent_check" CHECK ("spent_cost_usd" >= 0 AND "spent_cost_usd" <> 'NaN' AND "spent_tokens" >= 0),
  ADD CONSTRAINT "budgets_held_check" CHECK ("held_cost_usd" >= 0 AND "held_cost_usd" <> 'NaN' AND "held_tokens" >= 0);

ALTER TABLE "chat_sessions"
  ADD CONSTRAINT "chat_sessions_settings_check" CHECK ("max_history" >= 0 AND "max_steps_per_turn" >= 1 AND "max_output_tokens" >= 1 AND "temperature" <> 'NaN'),
  ADD CONSTRAINT "chat_sessions_counters_check" CHECK ("turn_count" >= 0 AND "message_count" BETWEEN 0 AND "last_message_sequence" AND "last_trace_sequence" >= 0),
  ADD CONSTRAINT "chat_sessions_usage_check" CHECK ("input_tokens" >= 0 AND "cached_input_tokens" >= 0 AND "output_tokens" >= 0 AND "reasoning_tokens" >= 0),
  ADD CONSTRAINT "chat_sessions_cost_check" CHECK ("total_cost_usd" >= 0 AND "total_cost_usd" <> 'NaN'),
  -- A closed session knows since when.
  ADD CONSTRAINT "chat_sessions_closed_check" CHECK (("status" = 'CLOSED') = ("closed_at" IS NOT NULL));

ALTER TABLE "messages"
  ADD CONSTRAINT "messages_sequence_check" CHECK ("sequence" >= 1 AND "step" >= 1),
  -- A tool message without its call, or a call id anywhere else, is a history that no provider takes.
  ADD CONSTRAINT "messages_tool_call_check" CHECK (("role" = 'TOOL') = ("tool_call_id" IS NOT NULL)),
  -- Only the client's own messages carry its ids, and they are whole when they arrive.
  ADD CONSTRAINT "messages_user_check" CHECK ("role" = 'USER' AND "status" = 'COMPLETE' OR "role" <> 'USER' AND "client_message_id" IS NULL);

ALTER TABLE "image_blobs"
  ADD CONSTRAINT "image_blobs_content_check" CHECK ("byte_size" = octet_length("data") AND "digest" ~ '^[0-9a-f]{64}$');

ALTER TABLE "message_images"
  ADD CONSTRAINT "message_images_position_check" CHECK ("position" >= 0),
  -- An image is either passed on as a URL or stored here, never both and never neither.
  ADD CONSTRAINT "message_images_source_check" CHECK (num_nonnulls("url", "digest") = 1);

ALTER TABLE "turns"
  ADD CONSTRAINT "turns_counters_check" CHECK ("number" >= 1 AND "step" >= 0 AND "tool_calls_made" >= 0 AND "attempts" >= 0 AND "lease_epoch" >= 0),
  ADD CONSTRAINT "turns_usage_check" CHECK ("input_tokens" >= 0 AND "cached_input_tokens" >= 0 AND "output_tokens" >= 0 AND "reasoning_tokens" >= 0),
  ADD CONSTRAINT "turns_cost_check" CHECK ("cost_usd" >= 0 AND "cost_usd" <> 'NaN'),
  -- A turn has ended exactly when it says when, and it never ends without a reason.
  ADD CONSTRAINT "turns_finished_check" CHECK (("status" IN ('COMPLETED', 'FAILED', 'STOPPED')) = ("finished_at" IS NOT NULL)),
  ADD CONSTRAINT "turns_finish_reason_check" CHECK ("finished_at" IS NULL OR "finish_reason" IS NOT NULL),
  -- A failure has a code and says whether it may be tried again, and nothing else has either.
  ADD CONSTRAINT "turns_error_check" CHECK (("status" = 'FAILED') = ("error_code" IS NOT NULL) AND ("error_code" IS NULL) = ("error_retryable" IS NULL)),
  -- A running turn without a lease would never be found when its owner dies.
  ADD CONSTRAINT "turns_lease_check" CHECK ("status" <> 'RUNNING' OR "lease_expires_at" IS NOT NULL);

ALTER TABLE "model_calls"
  ADD CONSTRAINT "model_calls_counters_check" CHECK ("step" >= 1 AND "attempt" >= 1 AND "latency_ms" >= 0 AND "time_to_first_token_ms" >= 0),
  ADD CONSTRAINT "model_calls_usage_check" CHECK ("input_tokens" >= 0 AND "cached_input_tokens" >= 0 AND "output_tokens" >= 0 AND "reasoning_tokens" >= 0 AND "held_tokens" >= 0),
  ADD CONSTRAINT "model_calls_cost_check" CHECK ("cost_usd" >= 0 AND "cost_usd" <> 'NaN' AND "held_cost_usd" >= 0 AND "held_cost_usd" <> 'NaN'),
  ADD CONSTRAINT "model_calls_prices_check" CHECK ("input_price" >= 0 AND "input_price" <> 'NaN' AND "cached_input_price" >= 0 AND "cached_input_price" <> 'NaN' AND "output_price" >= 0 AND "output_price" <> 'NaN'),
  -- A call is settled once, and then it knows when.
  ADD CONSTRAINT "model_calls_settled_check" CHECK (("status" = 'PENDING') = ("settled_at" IS NULL)),
  ADD CONSTRAINT "model_calls_error_check" CHECK ("status" <> 'FAILED' OR "error_code" IS NOT NULL);

ALTER TABLE "tool_calls"
  ADD CONSTRAINT "tool_calls_counters_check" CHECK ("position" >= 0 AND "attempts" >= 0 AND "duration_ms" >= 0);

ALTER TABLE "input_requests"
  -- Answered, expired or cancelled: a request leaves PENDING once, and then it knows when.
  ADD CONSTRAINT "input_requests_resolved_check" CHECK (("status" = 'PENDING') = ("resolved_at" IS NULL));

ALTER TABLE "trace_events"
  ADD CONSTRAINT "trace_events_sequence_check" CHECK ("sequence" >= 1);
