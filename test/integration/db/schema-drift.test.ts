import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffSchemas } from '../../../scripts/schema-engine.js';
import { type Catalog, readCatalog } from '../../support/catalog.js';
import { createEmptyDatabase, createTestDatabase, type TestDatabase } from '../../support/database.js';
import { runSql } from '../../support/database-server.js';

/** What Prisma cannot express and a migration adds by hand. Whoever adds one names it here. */
const handWrittenIndexes = [
  'budgets_owner_key',
  'budgets_tenant_key',
  'chat_sessions_title_search_idx',
  'input_requests_pending_idx',
  'messages_content_search_idx',
  'messages_history_idx',
  'turns_one_active_per_session_key',
  'turns_queue_idx',
  'turns_refused_idx',
  'turns_running_lease_idx',
];
const handWrittenConstraints = [
  'budgets_held_check',
  'budgets_limits_check',
  'budgets_spent_check',
  'chat_sessions_closed_check',
  'chat_sessions_cost_check',
  'chat_sessions_counters_check',
  'chat_sessions_events_check',
  'chat_sessions_settings_check',
  'chat_sessions_usage_check',
  'context_summaries_counters_check',
  'context_summaries_range_check',
  'image_blobs_content_check',
  'input_requests_digest_check',
  'input_requests_resolved_check',
  'message_images_position_check',
  'message_images_source_check',
  'messages_sequence_check',
  'messages_tool_call_check',
  'messages_user_check',
  'model_calls_cost_check',
  'model_calls_counters_check',
  'model_calls_error_check',
  'model_calls_prices_check',
  'model_calls_settled_check',
  'model_calls_usage_check',
  'tool_calls_counters_check',
  'trace_events_sequence_check',
  'turns_cost_check',
  'turns_counters_check',
  'turns_error_check',
  'turns_event_base_check',
  'turns_finish_reason_check',
  'turns_finished_check',
  'turns_lease_check',
  'turns_usage_check',
];

describe('the migrations and schema.prisma', () => {
  let fromMigrations: TestDatabase;
  let fromSchema: TestDatabase;
  let migrated: Catalog;
  let wanted: Catalog;

  beforeAll(async () => {
    [fromMigrations, fromSchema] = await Promise.all([createTestDatabase(), createEmptyDatabase()]);
    const schema = await readFile(new URL('../../../prisma/schema.prisma', import.meta.url), 'utf8');
    await runSql(fromSchema.url, await diffSchemas(null, schema));
    [migrated, wanted] = await Promise.all([readCatalog(fromMigrations.url), readCatalog(fromSchema.url)]);
  });

  afterAll(async () => {
    await Promise.all([fromMigrations?.drop(), fromSchema?.drop()]);
  });

  it('make the same tables with the same columns, types, nullability and defaults', () => {
    expect(wanted.columns.length).toBeGreaterThan(150);
    expect(migrated.columns).toEqual(wanted.columns);
  });

  it('make the same enums with their values in the same order', () => {
    expect(wanted.enums.length).toBeGreaterThan(10);
    expect(migrated.enums).toEqual(wanted.enums);
  });

  it('make the same indexes, apart from those written by hand', () => {
    const { missing, extra } = compare(migrated.indexes, wanted.indexes);
    expect(missing).toEqual([]);
    expect(extra.map((line) => /INDEX (\S+)/.exec(line)?.[1]).sort()).toEqual(handWrittenIndexes);
  });

  it('make the same keys and foreign keys, apart from the checks written by hand', () => {
    const { missing, extra } = compare(migrated.constraints, wanted.constraints);
    expect(missing).toEqual([]);
    expect(extra.map((line) => /\.(\S+)/.exec(line)?.[1]).sort()).toEqual(handWrittenConstraints);
  });
});

const compare = (actual: readonly string[], expected: readonly string[]) => ({
  missing: expected.filter((line) => !actual.includes(line)),
  extra: actual.filter((line) => !expected.includes(line)),
});
