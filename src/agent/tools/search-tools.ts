import MiniSearch from 'minisearch';
import { termsOf } from '../context/relevance.js';
import type { Tool } from './tool.js';

/** Names are told apart into their words: readFile and read_file are about reading and about files. */
const spaced = (name: string) => name.replaceAll(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2').replaceAll(/[_-]/g, ' ');

const parameterNames = ({ parameters }: Tool): string => {
  const { properties } = parameters;
  return typeof properties === 'object' && properties !== null ? Object.keys(properties).map(spaced).join(' ') : '';
};

/** The tools that have to do with a text, the best first. */
export function searchTools(tools: readonly Tool[], text: string): readonly Tool[] {
  const index = new MiniSearch<{ id: number; name: string; description: string; parameters: string }>({
    fields: ['name', 'description', 'parameters'],
    tokenize: (field) => [...termsOf(field)],
    // The terms are in lower case.
    processTerm: (term) => term,
  });
  index.addAll(
    tools.map((tool, id) => ({
      id,
      name: spaced(tool.name),
      description: tool.description,
      parameters: parameterNames(tool),
    })),
  );
  const found = index.search(text, { boost: { name: 3 }, prefix: (term) => term.length > 3, fuzzy: 0.2 });
  return found.map(({ id }) => tools[id] as Tool);
}
