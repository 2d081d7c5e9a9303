import type { Config } from '../config.js';
import type { ModelEntry } from '../settings.js';
import { exact, type ModelPrices } from './cost.js';
import { defaultProviderModel, demoEntry, demoModel, priceTable, type TableEntry } from './price-table.js';

/** A model that sessions can use. */
export interface ModelInfo {
  readonly id: string;
  /** Tokens of prompt and reply together. */
  readonly contextWindow: number;
  /** Most tokens of one reply; null when unknown. */
  readonly maxOutputTokens: number | null;
  /** Null when unknown: such a model cannot run under a cost limit. */
  readonly prices: ModelPrices | null;
  /** Whether its server takes requests with tools. */
  readonly takesTools: boolean;
  /** Whether the built-in demo model answers for it. */
  readonly isDemo: boolean;
}

export interface ModelCatalog {
  list(): readonly ModelInfo[];
  find(id: string): ModelInfo | null;
  /** The model of new sessions that name none. */
  readonly default: ModelInfo;
  /** What the operator should know about the settings, for the log at start. */
  readonly warnings: readonly string[];
}

/** What small local servers have without further settings; too small only costs context, too large costs the reply. */
const unknownWindow = 8_192;

/**
 * The models on offer: the built-in table where a provider is configured, else the demo model; MODELS on top, where what
 * an entry leaves out stays as it is built in; and the default model, if need be without a price.
 */
export function createModelCatalog(config: Config['model']): ModelCatalog {
  const isDemo = config.provider === null;
  const builtIn = isDemo ? { [demoModel]: demoEntry } : priceTable;
  const models = new Map<string, ModelInfo>();
  for (const [id, entry] of Object.entries(builtIn)) models.set(id, toModelInfo(id, entry, undefined, isDemo));
  for (const [id, entry] of Object.entries(config.models)) {
    const base = Object.hasOwn(builtIn, id) ? builtIn[id] : undefined;
    models.set(id, toModelInfo(id, base, entry, isDemo));
  }
  const defaultId = config.defaultModel ?? (isDemo ? demoModel : defaultProviderModel);
  const warnings: string[] = [];
  if (isDemo && Object.hasOwn(priceTable, defaultId)) {
    models.set(defaultId, models.get(defaultId) ?? toModelInfo(defaultId, priceTable[defaultId], undefined, isDemo));
    warnings.push(
      `MODEL ${JSON.stringify(defaultId)} needs a provider, and none is configured, so the demo model answers in its name. Set OPENAI_API_KEY or OPENAI_BASE_URL.`,
    );
  } else if (!models.has(defaultId)) {
    models.set(defaultId, toModelInfo(defaultId, undefined, { contextWindow: unknownWindow }, isDemo));
    warnings.push(
      `MODEL ${JSON.stringify(defaultId)} is in no table: its context window is taken for ${unknownWindow} tokens and its price is unknown, so it cannot run under a cost limit. Name both in MODELS, with prices 0 for a free model.`,
    );
  }
  return {
    list: () => [...models.values()],
    find: (id) => models.get(id) ?? null,
    default: models.get(defaultId) as ModelInfo,
    warnings,
  };
}

function toModelInfo(
  id: string,
  base: TableEntry | undefined,
  override: ModelEntry | undefined,
  isDemo: boolean,
): ModelInfo {
  const input = override?.inputPrice ?? base?.inputPrice;
  const output = override?.outputPrice ?? base?.outputPrice;
  // A new input price makes the built-in cached one meaningless.
  const cached =
    override?.cachedInputPrice ?? (override?.inputPrice === undefined ? base?.cachedInputPrice : undefined);
  return {
    id,
    contextWindow: override?.contextWindow ?? base?.contextWindow ?? unknownWindow,
    maxOutputTokens: override?.maxOutputTokens ?? base?.maxOutputTokens ?? null,
    prices:
      input === undefined || output === undefined
        ? null
        : { input: exact(input), cachedInput: exact(cached ?? input), output: exact(output) },
    takesTools: override?.tools ?? true,
    isDemo,
  };
}
