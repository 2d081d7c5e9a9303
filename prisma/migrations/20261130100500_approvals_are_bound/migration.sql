-- The version before asks for no approvals, so every row there is holds the rule.

--------------------------------------------------------------------------------------------------------------------
-- Written by hand. Every name below is listed in test/integration/db/schema-drift.test.ts.
--------------------------------------------------------------------------------------------------------------------

-- Nothing can be approved without saying what.
ALTER TABLE "input_requests"
  ADD CONSTRAINT "input_requests_digest_check" CHECK (("kind" = 'APPROVAL') = ("arguments_digest" IS NOT NULL)) NOT VALID;
ALTER TABLE "input_requests" VALIDATE CONSTRAINT "input_requests_digest_check";
