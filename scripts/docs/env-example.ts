import type { DescribedSetting } from './described-settings.js';

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const entry = ({ name, meaning, fallback, allowed }: DescribedSetting) =>
  [...wrap(meaning, 110), ...(allowed === 'text' ? [] : [`Allowed: ${allowed.replaceAll('`', '')}.`])]
    .map((line) => `# ${line}`)
    .concat(`#${name}=${fallback ?? ''}`)
    .join('\n');

/** .env.example: every setting with its default, commented out, so that the file as it is changes nothing. */
export const envExample = (settings: readonly DescribedSetting[]): string =>
  `# Written by \`npm run docs\` from src/settings.ts. Copy it to .env, take the # from what you set, and start the server
# with \`node --env-file=.env dist/main.js\`. docs/configuration.md has the rules between settings.

${settings.map(entry).join('\n\n')}
`;
