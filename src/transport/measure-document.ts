import { type DocumentNode, type FragmentDefinitionNode, Kind, type SelectionSetNode } from 'graphql';

/** The size of an operation with its fragments written out, found without writing them out. */
export interface DocumentSize {
  readonly depth: number;
  readonly fields: number;
  readonly aliases: number;
  readonly directives: number;
  /** The most times that one name, or any fragments, stand side by side in one place. Validation compares all pairs. */
  readonly repeats: number;
}

const nothing: DocumentSize = { depth: 0, fields: 0, aliases: 0, directives: 0, repeats: 0 };

const beside = (one: DocumentSize, other: DocumentSize): DocumentSize => ({
  depth: Math.max(one.depth, other.depth),
  fields: one.fields + other.fields,
  aliases: one.aliases + other.aliases,
  directives: one.directives + other.directives,
  repeats: Math.max(one.repeats, other.repeats),
});

export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) {
      fragments.set(definition.name.value, definition);
    }
  }
  return fragments;
}

/**
 * Measures selection sets of one document. Every fragment is measured once, so the time is linear in the document
 * even when fragments that spread each other twice would write out to millions of fields. A cycle counts as nothing:
 * validation names it.
 */
export function createMeasure(fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const known = new Map<string, DocumentSize>();
  const ofFragment = (name: string): DocumentSize => {
    const before = known.get(name);
    if (before) {
      return before;
    }
    known.set(name, nothing);
    const fragment = fragments.get(name);
    const size = fragment ? measure(fragment.selectionSet) : nothing;
    known.set(name, size);
    return size;
  };
  const measureWith = (selectionSet: SelectionSetNode, names: Map<string, number>): DocumentSize => {
    let sum = nothing;
    const count = (name: string) => {
      const repeats = (names.get(name) ?? 0) + 1;
      names.set(name, repeats);
      return repeats;
    };
    for (const selection of selectionSet.selections) {
      const directives = selection.directives?.length ?? 0;
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const own = { ...nothing, directives, repeats: count('...') };
        sum = beside(sum, beside(own, ofFragment(selection.name.value)));
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        sum = beside(sum, beside({ ...nothing, directives }, measureWith(selection.selectionSet, names)));
      } else {
        const below = selection.selectionSet ? measure(selection.selectionSet) : nothing;
        sum = beside(sum, {
          depth: below.depth + 1,
          fields: below.fields + 1,
          aliases: below.aliases + (selection.alias ? 1 : 0),
          directives: below.directives + directives,
          repeats: Math.max(below.repeats, count(selection.alias?.value ?? selection.name.value)),
        });
      }
    }
    return sum;
  };
  const measure = (selectionSet: SelectionSetNode): DocumentSize => measureWith(selectionSet, new Map());
  return measure;
}

/** The fields at the root of an operation, by the key they have in the answer: each of them runs once. */
export function rootFieldsOf(
  selectionSet: SelectionSetNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): Map<string, string> {
  const fields = new Map<string, string>();
  const seen = new Set<string>();
  const collect = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (selection.kind === Kind.FIELD) {
        fields.set(selection.alias?.value ?? selection.name.value, selection.name.value);
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        collect(selection.selectionSet);
      } else if (!seen.has(selection.name.value)) {
        seen.add(selection.name.value);
        const fragment = fragments.get(selection.name.value);
        if (fragment) {
          collect(fragment.selectionSet);
        }
      }
    }
  };
  collect(selectionSet);
  return fields;
}
