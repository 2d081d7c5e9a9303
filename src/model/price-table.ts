/** A row of the built-in table: window and output limit in tokens, prices in USD per million tokens. */
export interface TableEntry {
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly inputPrice: string;
  readonly cachedInputPrice: string;
  readonly outputPrice: string;
}

const entry = (
  contextWindow: number,
  maxOutputTokens: number,
  inputPrice: string,
  cachedInputPrice: string,
  outputPrice: string,
): TableEntry => ({ contextWindow, maxOutputTokens, inputPrice, cachedInputPrice, outputPrice });

/** The model of new sessions where a provider is configured and MODEL names none. */
export const defaultProviderModel = 'gpt-5.4-mini';

export const demoModel = 'demo';

/** The demo model costs nothing. Its prices are play money, so that costs and budgets can be seen at work. */
export const demoEntry = entry(16_384, 4_096, '0.25', '0.025', '2');

/**
 * OpenAI's chat models that answer over chat completions, at standard prices. Read on 30 November 2026: prices from OpenAI's
 * price and model pages (the prices in gpt-tokenizer 4.0.0 are those of older models), windows and output limits from
 * the model data of gpt-tokenizer 4.0.0. MODELS overrides and extends it.
 *
 * A flat price does not tell everything. Models with a window over a million charge double beyond 272,000 tokens of
 * input, so their window ends there. Models from gpt-5.6 on charge a quarter more for input that they write to their
 * cache; that part is not in the figures.
 *
 * gpt-5, gpt-5-mini and gpt-5-nano leave OpenAI's API on 11 December 2026, gpt-4o and gpt-4.1 with their minis on
 * 14 January 2027, gpt-5.1 and gpt-5.4-nano on 1 April 2027.
 */
export const priceTable: Readonly<Record<string, TableEntry>> = {
  'gpt-6-sol': entry(272_000, 128_000, '2', '0.2', '10'),
  'gpt-6-luna': entry(272_000, 128_000, '0.1', '0.01', '0.5'),
  'gpt-5.6-terra': entry(272_000, 128_000, '2', '0.2', '12'),
  'gpt-5.6-luna': entry(272_000, 128_000, '0.2', '0.02', '1.2'),
  'gpt-5.5': entry(272_000, 128_000, '5', '0.5', '30'),
  'gpt-5.4': entry(272_000, 128_000, '2.5', '0.25', '15'),
  'gpt-5.4-mini': entry(400_000, 128_000, '0.75', '0.075', '4.5'),
  'gpt-5.4-nano': entry(400_000, 128_000, '0.2', '0.02', '1.25'),
  'gpt-5.2': entry(400_000, 128_000, '1.75', '0.175', '14'),
  'gpt-5.1': entry(400_000, 128_000, '1.25', '0.125', '10'),
  'gpt-5': entry(400_000, 128_000, '1.25', '0.125', '10'),
  'gpt-5-mini': entry(400_000, 128_000, '0.25', '0.025', '2'),
  'gpt-5-nano': entry(400_000, 128_000, '0.05', '0.005', '0.4'),
  'gpt-4.1': entry(1_047_576, 32_768, '2', '0.5', '8'),
  'gpt-4.1-mini': entry(1_047_576, 32_768, '0.4', '0.1', '1.6'),
  'gpt-4o': entry(128_000, 16_384, '2.5', '1.25', '10'),
  'gpt-4o-mini': entry(128_000, 16_384, '0.15', '0.075', '0.6'),
};
