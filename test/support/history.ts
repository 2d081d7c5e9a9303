interface WireMessage {
  readonly role?: unknown;
  readonly content?: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: unknown;
}

const isBlank = (value: unknown) => typeof value !== 'string' || value.trim() === '';

function isBlankContent(content: unknown): boolean {
  if (!Array.isArray(content)) return isBlank(content);
  return !content.some((part: { type?: unknown; text?: unknown }) =>
    part.type === 'text' ? !isBlank(part.text) : part.type === 'image_url',
  );
}

/**
 * What a strict provider would refuse in a prompt: the system prompt first and once, every tool call answered by exactly
 * one tool message before anything else, no orphan result, no empty assistant message, no blank user message, and a
 * user's or a tool's message at the end.
 */
export function historyProblems(messages: unknown): string[] {
  if (!Array.isArray(messages) || messages.length === 0) return ['there are no messages'];
  const problems: string[] = [];
  let open = new Set<string>();
  (messages as WireMessage[]).forEach((message, at) => {
    const complain = (problem: string) => problems.push(`message ${at} (${String(message.role)}): ${problem}`);
    if (message.role !== 'tool' && open.size > 0) {
      complain(`comes before the results of ${[...open].join(', ')}`);
      open = new Set();
    }
    switch (message.role) {
      case 'system':
      case 'developer':
        if (at > 0) complain('the system prompt must be first and once');
        if (isBlankContent(message.content)) complain('is blank');
        break;
      case 'user':
        if (isBlankContent(message.content)) complain('is blank');
        break;
      case 'assistant': {
        const calls = (message.tool_calls ?? []) as {
          id?: unknown;
          function?: { name?: unknown; arguments?: unknown };
        }[];
        if (calls.length === 0 && isBlankContent(message.content)) complain('has neither text nor tool calls');
        if (message.tool_calls !== undefined && calls.length === 0) complain('has an empty list of tool calls');
        for (const call of calls) {
          if (isBlank(call.id)) complain('has a tool call without id');
          else if (open.has(String(call.id))) complain(`has two tool calls with the id ${String(call.id)}`);
          if (isBlank(call.function?.name)) complain('has a tool call without a name');
          if (!isJson(call.function?.arguments)) complain(`has arguments that are not JSON for ${String(call.id)}`);
          open.add(String(call.id));
        }
        break;
      }
      case 'tool':
        if (typeof message.content !== 'string' && !Array.isArray(message.content)) complain('has no content');
        if (!open.delete(String(message.tool_call_id)))
          complain(`answers no open call: ${String(message.tool_call_id)}`);
        break;
      default:
        complain('has an unknown role');
    }
  });
  if (open.size > 0) problems.push(`the prompt ends without the results of ${[...open].join(', ')}`);
  const last = (messages as WireMessage[]).at(-1);
  if (last?.role !== 'user' && last?.role !== 'tool') problems.push('the prompt must end with a user or tool message');
  return problems;
}

function isJson(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}

export function assertValidHistory(messages: unknown): void {
  const problems = historyProblems(messages);
  if (problems.length > 0) throw new Error(`A provider would refuse this prompt:\n${problems.join('\n')}`);
}
