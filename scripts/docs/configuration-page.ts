import type { DescribedSetting } from './described-settings.js';

const cell = (text: string) => text.replaceAll('|', '\\|');

/** JSON in a sentence becomes code. */
const withCode = (text: string) => text.replace(/\{.*\}/, (json) => `\`${json}\``);

const row = ({ name, meaning, fallback, allowed }: DescribedSetting) =>
  `| \`${name}\` | ${cell(withCode(meaning))} | ${fallback === null ? '' : `\`${fallback}\``} | ${cell(allowed)} |`;

/** docs/configuration.md */
export const configurationPage = (settings: readonly DescribedSetting[]): string => `# Configuration

<!-- Written by \`npm run docs\` from src/settings.ts. Do not edit. -->

Every setting is an environment variable. None is needed: without any, the server listens on loopback, keeps its data in
an embedded Postgres and answers with the demo model. An empty variable counts as unset. A setting that is not valid stops
the start, with all problems named at once; values are never repeated in the message, since some are secrets.

The server does not read a \`.env\` file itself. Copy \`.env.example\` to \`.env\` and start it with
\`node --env-file=.env dist/main.js\`, or let your process manager set the variables.

| Variable | Meaning | Default | Allowed |
| --- | --- | --- | --- |
${settings.map(row).join('\n')}

## Rules between settings

- \`HOST\` may be something else than \`127.0.0.1\`, \`::1\` or \`localhost\` only with \`AUTH_JWT_SECRET\` or \`AUTH_JWKS_URL\`.
- \`AUTH_JWT_SECRET\` and \`AUTH_JWKS_URL\` exclude each other. \`AUTH_ISSUER\` and \`AUTH_AUDIENCE\` need one of them.
- \`OPENAI_API_KEY\` or \`OPENAI_BASE_URL\`, either one, replaces the demo model by a provider. A base URL without a key sends
  no Authorization header, which is what local servers want.

## Models

The table of models on offer is built in for OpenAI's models and shown by the query \`models\`. \`MODELS\` adds to it and
overrides it; what an entry leaves out of a built-in model stays as it is, but for \`contextWindow\`,
which every entry names.

| Field | Meaning |
| --- | --- |
| \`contextWindow\` | Tokens of prompt and reply together, from 256. Required. |
| \`maxOutputTokens\` | Most tokens of one reply. |
| \`inputPrice\`, \`outputPrice\` | USD per million tokens, both or neither. 0 for a free model. |
| \`cachedInputPrice\` | USD per million input tokens that the provider had cached; left out, the same as \`inputPrice\`. |

A model without prices cannot run under a cost limit: such a session is refused with \`MODEL_PRICE_UNKNOWN\` until the model
has prices, or the session has \`budget: { maxCostUsd: null }\`.
`;
