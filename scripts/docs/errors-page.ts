import type { ErrorCategory, errorTable } from '../../src/errors.js';

const actors: Readonly<Record<ErrorCategory, { readonly title: string; readonly text: string }>> = {
  user: {
    title: 'what the caller can mend',
    text: 'Logged at `info`. The message names the argument or the state, and what to do.',
  },
  provider: {
    title: 'what comes from the model provider',
    text: "Logged at `warn`. The provider's own words never reach a client, since they may hold keys, hosts and prompts.",
  },
  system: {
    title: 'what comes from this server',
    text: 'Logged at `error` with the stack. `extensions.requestId` finds the line.',
  },
};

const cell = (text: string) => text.replaceAll('|', '\\|');

function section(table: typeof errorTable, category: ErrorCategory): string {
  const rows = Object.entries(table)
    .filter(([, entry]) => entry.category === category)
    .map(
      ([code, { retryable, description, message }]) =>
        `| \`${code}\` | ${retryable ? 'yes' : 'no'} | ${cell(description)} | ${cell(message)} |`,
    );
  const { title, text } = actors[category];
  return `## \`${category}\`: ${title}

${text}

| Code | Retryable | Meaning | What to do |
| --- | --- | --- | --- |
${rows.join('\n')}`;
}

/** docs/errors.md */
export const errorsPage = (table: typeof errorTable): string => `# Errors

<!-- Written by \`npm run docs\` from src/errors.ts. Do not edit. -->

A client meets these codes, and no others, in three places:

- \`errors[].extensions.code\`: the call was refused and nothing was stored, or \`send\` waited for a turn that failed. Errors of
  parsing and validation carry \`BAD_USER_INPUT\`.
- \`Turn.error\` and \`ModelCall.error\`: why a stored turn or model call failed.
- \`TurnFailed.error\`: the last event of a turn that failed.

A code is never renamed or removed. New ones may come: treat one that you do not know like \`INTERNAL\`.

An error's \`extensions\` hold \`code\` and \`retryable\` (whether the same call may succeed later without any change). Codes
of the categories \`provider\` and \`system\` add \`requestId\`, which finds the call in the log. Some codes add plain values:
\`turnId\` (\`TURN_IN_PROGRESS\`, \`INPUT_PENDING\`, and every failed turn of \`send\`), \`limitScope\`,
\`limitKind\`, \`limit\`, \`spent\`, \`held\` and mostly \`needed\` (\`BUDGET_EXCEEDED\`, and \`MODEL_PRICE_UNKNOWN\` of a turn), \`limit\` (something is too large). \`message\` is a sentence for people: do not parse it. The column
"What to do" has the message for places that have nothing more precise to say.

A refusal does not use up a \`clientMessageId\`: retry with the same one, after a pause that grows with every attempt. A
turn that failed stays failed under its id: to ask again, send the message with a new one.

${(['user', 'provider', 'system'] as const).map((category) => section(table, category)).join('\n\n')}

## Over HTTP

A request that was refused before it ran has the status of its first error: 401 \`UNAUTHENTICATED\`, 403 \`FORBIDDEN\`, 404
\`NOT_FOUND\`, 429 \`RATE_LIMITED\`, 500 \`INTERNAL\`, 503 \`UNAVAILABLE\`, and 400 for every other code; but an invalid document that
is asked for as \`application/json\` is 200 with \`errors\`, as GraphQL over HTTP has it. Once the operation has run, the
status is 200 whatever its errors. Inside of an event stream or a WebSocket there is no status; the code is what counts.
`;
