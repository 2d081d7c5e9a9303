import { readFile } from 'node:fs/promises';
import { parseEnv } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describedSettings } from '../../../scripts/docs/described-settings.js';
import { pages } from '../../../scripts/docs/pages.js';
import { loadConfig } from '../../../src/config.js';
import { errorTable } from '../../../src/errors.js';
import { settings } from '../../../src/settings.js';

const read = (path: string) => readFile(new URL(`../../../${path}`, import.meta.url), 'utf8');
const settingNames = Object.keys(settings);

describe('documents made from the code', () => {
  it.each(Object.keys(pages))('%s is what the code says: else run `npm run docs`', async (path) => {
    expect(await read(path)).toBe(pages[path]);
  });

  it('names every setting in .env.example, once, and nothing else', async () => {
    const names = [...(await read('.env.example')).matchAll(/^#([A-Z_]+)=/gm)].map((match) => match[1]);
    expect(names).toEqual(settingNames);
  });

  it('gives in .env.example the values that hold without it', async () => {
    const uncommented = (await read('.env.example')).replaceAll(/^#([A-Z_]+=)/gm, '$1');
    expect(loadConfig(parseEnv(uncommented) as Record<string, string>)).toEqual(loadConfig({}));
  });

  it('has a row with a meaning and the bounds of every setting in docs/configuration.md', async () => {
    const page = await read('docs/configuration.md');
    for (const name of settingNames)
      expect(page).toMatch(new RegExp(`^\\| \`${name}\` \\| .{10,} \\| .* \\| .{3,} \\|$`, 'm'));
  });

  it('has a row of every error code in docs/errors.md', async () => {
    const page = await read('docs/errors.md');
    for (const code of Object.keys(errorTable))
      expect(page).toMatch(new RegExp(`^\\| \`${code}\` \\| (yes|no) \\| .{10,} \\|$`, 'm'));
  });
});

describe('the description of a setting', () => {
  const find = (name: string) => describedSettings.find((setting) => setting.name === name);

  it('has its default and its bounds', () => {
    expect(find('TURN_LEASE_MS')).toMatchObject({
      fallback: '15000',
      allowed: 'whole number from 200 to 86,400,000',
    });
  });

  it('has no default where unset means something of its own', () => {
    expect(find('DATABASE_URL')?.fallback).toBeNull();
    expect(find('MODELS')?.fallback).toBeNull();
    expect(find('CORS_ORIGINS')?.fallback).toBeNull();
  });
});
