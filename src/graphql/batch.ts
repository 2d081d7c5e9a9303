import DataLoader from 'dataloader';
import type { GraphQLResolveInfo } from 'graphql';
import type { Context } from './context.js';

/** The place of a field in the document, the same for every object of a list around it. */
function placeOf(info: GraphQLResolveInfo): string {
  const names: (string | number)[] = [`${info.parentType.name}.${info.fieldName}`];
  for (let path: GraphQLResolveInfo['path'] | undefined = info.path; path; path = path.prev) {
    if (typeof path.key === 'string') {
      names.push(path.key);
    }
  }
  return names.join(' ');
}

/**
 * Loads `key` together with the keys of all objects that resolve the same field of the document at the same time.
 * At one place of the document a field has one set of arguments, so `load` may use those of whichever object came
 * first.
 */
export function batched<Key, Value>(
  context: Context,
  info: GraphQLResolveInfo,
  purpose: string,
  key: Key,
  load: (keys: readonly Key[]) => Promise<readonly (Value | Error)[]>,
): Promise<Value> {
  const place = `${purpose} ${placeOf(info)}`;
  let loader = context.loaders.get(place) as DataLoader<Key, Value> | undefined;
  if (loader === undefined) {
    loader = new DataLoader<Key, Value>(load, { cache: false });
    context.loaders.set(place, loader as unknown as DataLoader<never, unknown>);
  }
  return loader.load(key);
}
