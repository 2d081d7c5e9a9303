/** What the demo model understands of a request. */
export interface Conversation {
  readonly system: string;
  /** Texts of the user, oldest first; the last one is what is to be answered. */
  readonly said: readonly string[];
  /** The last of them, as much of it as is looked at: rules must not take long, whatever the text. */
  readonly message: string;
  /** Images that came with it. */
  readonly imageCount: number;
  /** Texts of the model, oldest first. */
  readonly answered: readonly string[];
  readonly tools: readonly OfferedTool[];
  /** Results of the calls that were made since the user's last message, oldest first. */
  readonly results: readonly ToolResult[];
}

export interface OfferedTool {
  readonly name: string;
  /** Names of its parameters. */
  readonly parameters: readonly string[];
}

export interface ToolResult {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly content: string;
}

/** What the demo model does: it speaks, or it calls a tool. */
export interface DemoReply {
  readonly thinking?: string;
  readonly text?: string;
  readonly call?: { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> };
}

const longestMessage = 2_000;

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((part) => fieldsOf(part).text)
    .filter((text) => typeof text === 'string')
    .join('\n');
}

function parseArguments(json: unknown): Fields {
  try {
    return fieldsOf(JSON.parse(String(json)));
  } catch {
    return {};
  }
}

/** Reads the body of a chat completion request. Null when it has no messages. */
export function readConversation(body: unknown): Conversation | null {
  const { messages, tools } = fieldsOf(body);
  if (!Array.isArray(messages) || messages.length === 0) return null;
  const all = messages.map(fieldsOf);
  const users = all.filter(({ role }) => role === 'user');
  const lastUser = users.at(-1);
  const since = lastUser === undefined ? [] : all.slice(all.lastIndexOf(lastUser) + 1);
  const calls = since.flatMap(({ tool_calls }) => listOf(tool_calls)).map(fieldsOf);
  const said = users.map(({ content }) => textOf(content));
  return {
    system: all
      .filter(({ role }) => role === 'system' || role === 'developer')
      .map(({ content }) => textOf(content))
      .join('\n'),
    said,
    message: (said.at(-1) ?? '').trim().slice(0, longestMessage),
    imageCount: listOf(lastUser?.content).filter((part) => fieldsOf(part).type === 'image_url').length,
    answered: all
      .filter(({ role }) => role === 'assistant')
      .map(({ content }) => textOf(content))
      .filter((text) => text !== ''),
    tools: listOf(tools).map((tool) => {
      const { name, parameters } = fieldsOf(fieldsOf(tool).function);
      return { name: String(name), parameters: Object.keys(fieldsOf(fieldsOf(parameters).properties)) };
    }),
    results: since
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id, content }) => {
        const call = fieldsOf(calls.find(({ id }) => id === tool_call_id)?.function);
        return {
          name: String(call.name ?? ''),
          arguments: parseArguments(call.arguments ?? '{}'),
          content: textOf(content),
        };
      }),
  };
}
