import { readFileSync } from 'node:fs';
import { z } from 'zod';

interface Named {
  /** As in the file. */
  readonly name: string;
  /** Of one call. */
  readonly timeoutMs: number;
}

/** An MCP server that runs as a child of this process and speaks over its standard input and output. */
export interface ChildMcpServer extends Named {
  readonly kind: 'child';
  readonly command: string;
  readonly args: readonly string[];
  /** Besides the few variables that every child gets. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string | null;
}

/** An MCP server that is reached over streamable HTTP. */
export interface HttpMcpServer extends Named {
  readonly kind: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type McpServerConfig = ChildMcpServer | HttpMcpServer;

const withoutNul = z.string('must be a text').refine((text) => !text.includes('\0'), 'must not hold a NUL character');

const httpUrl = z.string('must be a text').superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    context.addIssue({ code: 'custom', message: 'must be an http or https URL' });
  } else if (url.username !== '' || url.password !== '') {
    context.addIssue({ code: 'custom', message: 'must not hold a password: put it into "headers"' });
  }
});

function isHeader(name: string, value: string): boolean {
  try {
    new Headers([[name, value]]);
    return true;
  } catch {
    return false;
  }
}

const headers = z.record(z.string(), z.string('must be a text')).superRefine((all, context) => {
  for (const [name, value] of Object.entries(all)) {
    if (!isHeader(name, value)) context.addIssue({ code: 'custom', path: [name], message: 'is no HTTP header' });
  }
});

const env = z.record(
  z.string().regex(/^[^=\0]+$/, 'is no name of an environment variable'),
  withoutNul,
  'must be an object of texts',
);

const timeoutRange = 'must be a whole number of milliseconds from 100 to 3600000';
const stdioOnly = ['command', 'args', 'env', 'cwd'] as const;
const httpOnly = ['url', 'headers'] as const;

const entry = z
  .strictObject({
    type: z
      .enum(['stdio', 'http', 'streamable-http', 'streamableHttp'], {
        error: 'must be "stdio" or "http": the older "sse" is not supported',
      })
      .optional(),
    command: withoutNul.min(1, 'must not be empty').optional(),
    args: z.array(withoutNul, 'must be a list of texts').default([]),
    env: env.default({}),
    cwd: withoutNul.min(1, 'must not be empty').optional(),
    url: httpUrl.optional(),
    headers: headers.default({}),
    timeoutMs: z
      .number(timeoutRange)
      .int(timeoutRange)
      .min(100, timeoutRange)
      .max(3_600_000, timeoutRange)
      .default(30_000),
    disabled: z.boolean('must be true or false').default(false),
  })
  .superRefine((given, context) => {
    const say = (message: string, ...path: string[]) => context.addIssue({ code: 'custom', path, message });
    const { command, url, type } = given;
    if (command === undefined && url === undefined) {
      say('needs a "command" to start, or the "url" of a server that runs already');
    } else if (command !== undefined && url !== undefined) {
      say('has both "command" and "url": keep one of them');
    } else {
      const [kind, others] = command === undefined ? (['http', stdioOnly] as const) : (['stdio', httpOnly] as const);
      for (const key of others) {
        const value = given[key];
        if (value !== undefined && Object.keys(value).length > 0)
          say(`has no meaning beside "${kind === 'http' ? 'url' : 'command'}"`, key);
      }
      if (type !== undefined && (type === 'stdio') !== (kind === 'stdio')) {
        say(`does not fit: this is a server over ${kind}`, 'type');
      }
    }
  });

const file = z.object(
  {
    mcpServers: z.record(
      z.string().trim().min(1, 'a server needs a name').max(100, 'a name has at most 100 characters'),
      entry,
      'must be an object of servers by their names',
    ),
  },
  'must hold an object: {"mcpServers": {"name": {"command": "…"}}}',
);

type Entry = z.infer<typeof entry>;

function toServer(
  name: string,
  { command, args, env: own, cwd, url, headers: sent, timeoutMs }: Entry,
): McpServerConfig {
  return command === undefined
    ? { kind: 'http', name, url: url ?? '', headers: sent, timeoutMs }
    : { kind: 'child', name, command, args, env: own, cwd: cwd ?? null, timeoutMs };
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function parse(text: string): { readonly json: unknown } | null {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return null;
  }
}

/**
 * Reads the file that MCP_CONFIG names. All problems at once, each a sentence; they repeat no values of the file, since
 * some are secrets.
 */
export function readMcpConfig(path: string): {
  readonly servers: readonly McpServerConfig[];
  readonly problems: readonly string[];
} {
  const refuse = (...problems: string[]) => ({ servers: [], problems: problems.map((one) => `MCP_CONFIG ${one}`) });
  const text = readText(path);
  if (text === null) return refuse('names a file that cannot be read: check the path and who may read it');
  const parsed = parse(text);
  if (!parsed) return refuse('names a file that is not valid JSON');
  const read = file.safeParse(parsed.json);
  if (!read.success) {
    return refuse(
      ...read.error.issues.map(({ path: at, message }) =>
        at.length > 0 ? `${at.join('.')} ${message}` : `file ${message}`,
      ),
    );
  }
  const servers = Object.entries(read.data.mcpServers)
    .filter(([, { disabled }]) => !disabled)
    .map(([name, one]) => toServer(name, one));
  return { servers, problems: [] };
}

/** Shorter values are flags and names, and words that the log needs. */
const shortestSecret = 8;

/** What of the servers may never be logged: any of their headers and variables may be a key. */
export const mcpSecrets = (servers: readonly McpServerConfig[]): string[] =>
  servers
    .flatMap((server) => Object.values(server.kind === 'child' ? server.env : server.headers))
    // Of `Bearer key`, the key by itself too.
    .flatMap((value) => [value, ...value.split(' ').slice(1)])
    .filter((value) => value.length >= shortestSecret);
