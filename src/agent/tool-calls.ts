import type { StoredToolCall } from '../db/queries/owned-turn.js';
import type { ModelToolCall } from '../model/port.js';
import type { AgentDependencies } from './dependencies.js';
import { parseArguments } from './tools/arguments.js';
import type { Tool } from './tools/tool.js';

/** Calls of one step that may be run; a model that makes more has lost its way, and is told so once. */
export const mostCalls = 32;

const longestId = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is not allowed.
const unusual = /[\u0000-\u0020\u007f\ufffd]/;

/** A name as every provider takes it back in a history; the model may have invented it. */
const legalName = (name: string) => {
  const legal = name
    .trim()
    .replace(/[^A-Za-z0-9_-]/g, '_')
    .slice(0, 64);
  return legal === '' ? 'unnamed' : legal;
};

/**
 * The calls of a step as they are stored: each with an id of its own, a name and arguments that can stand in a history.
 * Arguments that were cut off stay a text, so that their tool is never run. Of calls beyond what one step may make the
 * first is kept, to be refused: hundreds of refusals would help nobody and take long.
 */
export function toStoredCalls(
  newId: AgentDependencies['newId'],
  calls: readonly ModelToolCall[],
  messageId: string,
  tools: readonly Tool[],
): StoredToolCall[] {
  const taken = new Set<string>();
  return calls.slice(0, mostCalls + 1).map((call, position) => {
    const isUsable = call.id !== '' && call.id.length <= longestId && !unusual.test(call.id) && !taken.has(call.id);
    const callId = isUsable ? call.id : `call_${newId().replaceAll('-', '')}`;
    taken.add(callId);
    const name = legalName(call.name);
    return {
      id: newId(),
      messageId,
      position,
      callId,
      name,
      arguments: call.isTruncated ? call.arguments : parseArguments(call.arguments),
      status: 'PENDING',
      idempotent: tools.find((tool) => tool.name === name)?.idempotent ?? false,
      input: null,
    };
  });
}

/** Whether a call has no result yet. */
export const isOpen = ({ status }: StoredToolCall) => status === 'PENDING' || status === 'RUNNING';
