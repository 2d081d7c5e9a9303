-- What the model of a session wants to keep in view. A new table: the version before does not look at it.

-- CreateTable
CREATE TABLE "session_pins" (
    "session_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "content" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "session_pins_pkey" PRIMARY KEY ("session_id","key")
);

-- AddForeignKey
ALTER TABLE "session_pins" ADD CONSTRAINT "session_pins_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "chat_sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;
