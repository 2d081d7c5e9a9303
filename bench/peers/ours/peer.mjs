import { fileURLToPath } from 'node:url';
import { chatSessionClient } from '../../clients/chat-session.mjs';
import { copyTurns } from './copy-turns.mjs';

/** A model that takes whatever the longest session holds, at prices, so that money is reckoned and stored. */
const model = {
  contextWindow: 4_000_000,
  maxOutputTokens: 16_384,
  inputPrice: 0.15,
  cachedInputPrice: 0.075,
  outputPrice: 0.6,
};

const settings = ({ providerUrl, databaseUrl }) => ({
  DATABASE_URL: databaseUrl,
  OPENAI_BASE_URL: providerUrl,
  MODEL: 'bench',
  MODELS: JSON.stringify({ bench: model }),
});

const server = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
// The budget is kept, and large enough for every workload.
const budget = { maxCostUsd: 1_000_000, maxTokens: 1e12 };

/** This product as it is started, with the log and all other settings at their defaults. */
export const ours = {
  name: 'ours',
  title: 'chatsession',
  server,
  environment: settings,
  connect: chatSessionClient({ budget }),
  addTurns: copyTurns,
};

/** The same with sessions that keep their newest 20 messages in the history. */
export const ours20 = {
  ...ours,
  name: 'ours20',
  title: 'chatsession, maxHistory 20',
  connect: chatSessionClient({ budget, maxHistory: 20 }),
  only: ['w4'],
};
