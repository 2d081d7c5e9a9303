import { describe, expect, it } from 'vitest';
import { admit } from '../../../../src/agent/mcp/admission.js';

describe('a tool of an MCP server', () => {
  it('may run unasked only when it says that it reads, and does not say that it destroys', () => {
    const read = { sideEffect: 'read', requiresApproval: false, idempotent: true };
    expect(admit({ readOnlyHint: true })).toEqual(read);
    expect(admit({ readOnlyHint: true, destructiveHint: false, idempotentHint: false })).toEqual(read);
  });

  it.each([
    undefined,
    {},
    { readOnlyHint: false },
    { readOnlyHint: true, destructiveHint: true },
    { destructiveHint: false },
  ])('writes and needs an approval otherwise: %j', (annotations) => {
    expect(admit(annotations)).toEqual({ sideEffect: 'write', requiresApproval: true, idempotent: false });
  });

  it('may be run again after a crash when it says so', () => {
    expect(admit({ idempotentHint: true })).toEqual({ sideEffect: 'write', requiresApproval: true, idempotent: true });
  });
});
