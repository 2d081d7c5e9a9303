-- AlterTable
ALTER TABLE "message_images" ADD COLUMN "was_refused" BOOLEAN NOT NULL DEFAULT false;
