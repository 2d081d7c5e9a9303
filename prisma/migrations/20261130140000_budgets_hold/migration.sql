-- AlterTable
ALTER TABLE "model_calls" ADD COLUMN     "held_by" UUID[] DEFAULT ARRAY[]::UUID[];

--------------------------------------------------------------------------------------------------------------------
-- Written by hand. Every name below is listed in test/integration/db/schema-drift.test.ts.
--------------------------------------------------------------------------------------------------------------------

-- Calls that are under way while this is applied were opened without a hold. They are settled like all others, which
-- charges the budgets that are named here.
UPDATE "model_calls" SET "held_by" = ARRAY["budget_id"] WHERE "status" = 'PENDING' AND "budget_id" IS NOT NULL;

-- An owner and a tenant have one budget each, or none.
CREATE UNIQUE INDEX "budgets_owner_key" ON "budgets"("tenant", "owner") WHERE "scope" = 'OWNER';
CREATE UNIQUE INDEX "budgets_tenant_key" ON "budgets"("tenant") WHERE "scope" = 'TENANT';
