import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config.js';
import { createModelCatalog } from '../../../src/model/catalog.js';

const catalog = (env: Record<string, string> = {}) => createModelCatalog(loadConfig(env).model);
const provider = { OPENAI_API_KEY: 'sk-test' };
const pricesOf = (env: Record<string, string>, id: string) => {
  const prices = catalog(env).find(id)?.prices;
  return prices ? [prices.input, prices.cachedInput, prices.output].map((price) => price.toFixed()) : prices;
};

describe('the models on offer', () => {
  test('without a provider: the demo model alone, with a price', () => {
    const models = catalog();
    expect(models.list().map((model) => model.id)).toEqual(['demo']);
    expect(models.default).toMatchObject({ id: 'demo', isDemo: true });
    expect(models.default.prices?.output.toFixed()).toBe('2');
    expect(models.find('gpt-4o')).toBeNull();
    expect(models.warnings).toEqual([]);
  });

  test('with a key or a base URL: the built-in table and no demo', () => {
    for (const env of [provider, { OPENAI_BASE_URL: 'http://localhost:11434/v1' }]) {
      const models = catalog(env);
      expect(models.find('demo')).toBeNull();
      expect(models.default).toMatchObject({ id: 'gpt-5.4-mini', contextWindow: 400_000, isDemo: false });
      expect(models.find('gpt-4o')?.contextWindow).toBe(128_000);
    }
    expect(pricesOf(provider, 'gpt-4o')).toEqual(['2.5', '1.25', '10']);
  });

  test('every built-in model has a sensible window, and prices in order', () => {
    for (const model of catalog(provider).list()) {
      expect(model.contextWindow).toBeGreaterThanOrEqual(model.maxOutputTokens ?? 0);
      expect(model.prices?.cachedInput.lt(model.prices.input)).toBe(true);
      expect(model.prices?.input.lt(model.prices.output)).toBe(true);
    }
  });

  test('MODELS adds, and overrides only what it names', () => {
    const env = {
      ...provider,
      MODELS: JSON.stringify({
        mine: { contextWindow: 8192, maxOutputTokens: 1024, inputPrice: 2.5, cachedInputPrice: 1.25, outputPrice: 10 },
        free: { contextWindow: 4096, inputPrice: 0, outputPrice: 0 },
        unpriced: { contextWindow: 4096 },
        'gpt-4o': { contextWindow: 64_000 },
        'gpt-4.1': { contextWindow: 64_000, inputPrice: 7, outputPrice: 9 },
      }),
    };
    expect(catalog(env).find('mine')).toMatchObject({ contextWindow: 8192, maxOutputTokens: 1024 });
    expect(pricesOf(env, 'mine')).toEqual(['2.5', '1.25', '10']);
    expect(pricesOf(env, 'free')).toEqual(['0', '0', '0']);
    expect(pricesOf(env, 'unpriced')).toBeNull();
    expect(catalog(env).find('unpriced')).toMatchObject({ maxOutputTokens: null });
    expect(catalog(env).find('gpt-4o')).toMatchObject({ contextWindow: 64_000, maxOutputTokens: 16_384 });
    expect(pricesOf(env, 'gpt-4o')).toEqual(['2.5', '1.25', '10']);
    expect(pricesOf(env, 'gpt-4.1')).toEqual(['7', '7', '9']);
  });

  test('a MODEL that is in no table can be used, without a price and with a warning', () => {
    const models = catalog({ OPENAI_BASE_URL: 'http://localhost:11434/v1', MODEL: 'llama3.2' });
    expect(models.default).toEqual({
      id: 'llama3.2',
      contextWindow: 8_192,
      maxOutputTokens: null,
      prices: null,
      takesTools: true,
      isDemo: false,
    });
    expect(models.find('llama3.2')).toBe(models.default);
    expect(models.warnings).toEqual([expect.stringContaining('"llama3.2"')]);
  });

  test('a MODEL of the built-in table without a provider: the warning names what is missing', () => {
    const models = catalog({ MODEL: 'gpt-4o' });
    expect(models.default).toMatchObject({ id: 'gpt-4o', contextWindow: 128_000, isDemo: true });
    expect(models.warnings).toEqual([expect.stringMatching(/"gpt-4o".*OPENAI_API_KEY or OPENAI_BASE_URL/)]);
    expect(catalog({ ...provider, MODEL: 'gpt-4o' }).warnings).toEqual([]);
  });

  test('a MODEL out of MODELS needs no warning, and names of object properties are no models', () => {
    const models = catalog({
      ...provider,
      MODEL: 'mine',
      MODELS: '{"mine":{"contextWindow":8192},"constructor":{"contextWindow":512}}',
    });
    expect(models.default.id).toBe('mine');
    expect(models.warnings).toEqual([]);
    expect(models.find('constructor')).toMatchObject({ contextWindow: 512, maxOutputTokens: null, prices: null });
    expect(models.find('__proto__')).toBeNull();
    expect(models.find('toString')).toBeNull();
  });
});

describe('a broken price table stops the start', () => {
  test.each([
    ['a negative price', '{"m":{"contextWindow":8192,"inputPrice":-1,"outputPrice":1}}'],
    ['a price in words', '{"m":{"contextWindow":8192,"inputPrice":"cheap","outputPrice":1}}'],
    ['a missing output price', '{"m":{"contextWindow":8192,"inputPrice":1}}'],
    ['no JSON', '{"m":'],
  ])('%s', (_name, MODELS) => {
    expect(() => catalog({ ...provider, MODELS })).toThrow(/MODELS/);
  });
});
