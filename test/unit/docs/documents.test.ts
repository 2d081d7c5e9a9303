import { access, readdir, readFile } from 'node:fs/promises';
import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../../src/errors.js';
import { settings } from '../../../src/settings.js';

const root = new URL('../../../', import.meta.url);
const markdownIn = async (folder: string) =>
  (await readdir(new URL(folder, root))).filter((name) => name.endsWith('.md')).map((name) => `${folder}${name}`);

const paths = (await Promise.all(['', 'docs/', 'docs/decisions/'].map(markdownIn))).flat();
const documents = await Promise.all(
  paths.map(async (path) => ({ path, text: await readFile(new URL(path, root), 'utf8') })),
);
const schema = buildSchema(await readFile(new URL('schema.graphql', root), 'utf8'));

const blocks = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map((match) => String(match[1]));

/** The operation inside of a curl call or a JavaScript template. */
const embedded = (text: string) => [
  ...[...text.matchAll(/"query": ?"([^"]+)"/g)].map((match) => String(match[1])),
  ...[...text.matchAll(/query = `([^`]+)`/g)].map((match) => String(match[1])),
];

describe.each(documents)('$path', ({ path, text }) => {
  it('links to files that are there', async () => {
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(
      (match) => new URL(String(match[1]), new URL(path, root)),
    );
    for (const target of targets) await expect(access(target)).resolves.toBeUndefined();
  });

  it('shows operations that the schema takes', () => {
    for (const operation of [...blocks(text, 'graphql'), ...embedded(text)]) {
      expect(validate(schema, parse(operation)), operation).toEqual([]);
    }
  });

  it('names only settings, codes and scripts that exist', async () => {
    const { scripts } = JSON.parse(await readFile(new URL('package.json', root), 'utf8')) as { scripts: object };
    const known = new Set([...Object.keys(settings), ...Object.keys(errorTable)]);
    const shouted = [
      ...text.matchAll(/`((?:AUTH|BUDGET|DATABASE|MAX|MODEL|OPENAI|PROVIDER|TURN|SHUTDOWN|CORS|IMAGE)_[A-Z_]+)/g),
    ];
    for (const [, name] of shouted) expect([...known, 'MAX_STEPS', 'MODEL_CALL'], path).toContain(name);
    for (const [, name] of text.matchAll(/npm run ([a-z0-9:]+)/g)) expect(Object.keys(scripts)).toContain(name);
  });
});

describe('README.md', () => {
  const readme = documents.find(({ path }) => path === 'README.md')?.text ?? '';

  it('has something to check', () => {
    expect(blocks(readme, 'graphql').length).toBeGreaterThan(3);
    expect(embedded(readme)).toHaveLength(3);
  });

  it('opens with the two commands', () => {
    expect(blocks(readme, 'sh')[0]).toMatch(/^npm install && npm start .*\nnpm install && npm test /);
  });
});
