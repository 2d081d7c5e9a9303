/** USD per million tokens of the scripted model. */
export const prices = { inputPrice: 2.5, cachedInputPrice: 1.25, outputPrice: 10 };

export const scriptedModels = JSON.stringify({
  scripted: { contextWindow: 32_768, maxOutputTokens: 4_096, ...prices },
});

/** Settings that make a server talk to a scripted provider, quickly. */
export const scriptedEnv = (
  provider: { readonly url: string },
  database: { readonly url: string },
): Record<string, string> => ({
  PORT: '0',
  DATABASE_URL: database.url,
  OPENAI_BASE_URL: provider.url,
  OPENAI_API_KEY: 'sk-canary-provider-key-0123456789',
  MODEL: 'scripted',
  MODELS: scriptedModels,
  SHUTDOWN_GRACE_MS: '0',
});
