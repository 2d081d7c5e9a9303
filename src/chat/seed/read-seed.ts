import type { SeededMessage, SeededToolCall } from '../../db/queries/seed-messages.js';
import { badInput } from '../../errors.js';
import type { SeedMessage } from '../service.js';
import { checkClientId, checkStorableJson, checkText } from '../text.js';

const mostMessages = 10_000;
const mostCallsPerMessage = 128;
/** A client's clock may run a little ahead of ours. */
const clockToleranceMs = 60_000;
/** What the chat completions protocol allows as the name of a function. */
const functionName = /^[A-Za-z0-9_-]{1,64}$/;

/** A seed that has passed every check, ready to be stored. */
export interface ReadSeed {
  readonly messages: readonly SeededMessage[];
  readonly toolCalls: readonly SeededToolCall[];
  readonly skippedSystemCount: number;
  readonly roleCounts: Readonly<Record<string, number>>;
}

interface OpenCall extends Omit<SeededToolCall, 'result'> {
  readonly at: string;
  result: string | null;
}

function readToolCalls(at: string, messageId: string, message: SeedMessage, newId: () => string): OpenCall[] {
  const calls = message.toolCalls ?? [];
  if (calls.length === 0) return [];
  if (message.role !== 'ASSISTANT') throw badInput(`${at}.toolCalls is only for ASSISTANT messages: remove it.`);
  if (calls.length > mostCallsPerMessage) {
    throw badInput(`${at}.toolCalls has ${calls.length} calls and the limit is ${mostCallsPerMessage}.`);
  }
  const seen = new Set<string>();
  return calls.map((call, position) => {
    const name = `${at}.toolCalls[${position}]`;
    checkClientId(`${name}.id`, call.id);
    if (seen.has(call.id)) throw badInput(`${name}.id repeats an id of the same message: ids must differ.`);
    seen.add(call.id);
    if (!functionName.test(call.name)) {
      throw badInput(`${name}.name must have 1 to 64 letters, digits, underscores or hyphens.`);
    }
    if (call.arguments === null || typeof call.arguments !== 'object' || Array.isArray(call.arguments)) {
      throw badInput(`${name}.arguments must be a JSON object.`);
    }
    checkStorableJson(`${name}.arguments`, call.arguments);
    return {
      id: newId(),
      messageId,
      position,
      callId: call.id,
      name: call.name,
      arguments: JSON.stringify(call.arguments),
      at: name,
      result: null,
    };
  });
}

function refuseUnanswered(open: ReadonlyMap<string, OpenCall>): void {
  const [call] = open.values();
  if (call) {
    throw badInput(
      `${call.at} is not answered: its TOOL message must follow before the next USER or ASSISTANT message.`,
    );
  }
}

/**
 * Checks a whole seed before anything of it is stored. SYSTEM entries are skipped, since the system prompt belongs to
 * the session. Tool results must directly follow the assistant message that made the calls, because providers refuse
 * any other order.
 *
 * @throws ChatError BAD_USER_INPUT naming the first entry that is not valid.
 */
export function readSeed(
  entries: readonly SeedMessage[],
  options: { readonly maxMessageBytes: number; readonly now: Date; readonly newId: () => string },
): ReadSeed {
  if (entries.length > mostMessages) {
    throw badInput(`messages has ${entries.length} entries and the limit is ${mostMessages}: seed in several calls.`, {
      limit: mostMessages,
    });
  }
  const messages: SeededMessage[] = [];
  const toolCalls: OpenCall[] = [];
  const roleCounts: Record<string, number> = { user: 0, assistant: 0, tool: 0 };
  let open = new Map<string, OpenCall>();
  let skippedSystemCount = 0;

  for (const [index, entry] of entries.entries()) {
    const at = `messages[${index}]`;
    if (entry.role === 'SYSTEM') {
      skippedSystemCount += 1;
      continue;
    }
    const id = options.newId();
    const calls = readToolCalls(at, id, entry, options.newId);
    // A message that only makes calls needs no words.
    if (calls.length === 0 || entry.content !== '') checkText(`${at}.content`, entry.content, options.maxMessageBytes);
    if (entry.createdAt && entry.createdAt.getTime() > options.now.getTime() + clockToleranceMs) {
      throw badInput(`${at}.createdAt lies in the future: give the time at which the message was written.`);
    }
    const toolCallId = entry.toolCallId ?? null;
    if (entry.role === 'TOOL') {
      const call = toolCallId === null ? undefined : open.get(toolCallId);
      if (!call) {
        throw badInput(
          `${at} answers no open tool call: give the toolCallId of a call in the ASSISTANT message before it, once.`,
        );
      }
      call.result = entry.content;
      open.delete(call.callId);
    } else {
      if (toolCallId !== null) throw badInput(`${at}.toolCallId is only for TOOL messages: remove it.`);
      refuseUnanswered(open);
      open = new Map(calls.map((call) => [call.callId, call]));
      toolCalls.push(...calls);
    }
    const role = entry.role.toLowerCase();
    roleCounts[role] = (roleCounts[role] ?? 0) + 1;
    messages.push({ id, role: entry.role, content: entry.content, toolCallId, createdAt: entry.createdAt ?? null });
  }
  refuseUnanswered(open);
  return {
    messages,
    toolCalls: toolCalls.map(({ at: _at, ...call }) => ({ ...call, result: call.result ?? '' })),
    skippedSystemCount,
    roleCounts,
  };
}
