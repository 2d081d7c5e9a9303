import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNullableType,
  isAbstractType,
  isLeafType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

/** What all fields of one operation are told alike. */
export type OperationInfo = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'rootValue' | 'operation' | 'variableValues'
>;

/** A field of an event that is a plain value. */
interface PlannedField {
  readonly key: string;
  /** The value as it is sent; null when only a full execution can tell what becomes of it. */
  read(event: unknown, context: unknown): unknown;
}

/** Reads all that is asked of an event; null when only a full execution can. */
export type EventReader = (event: unknown, context: unknown) => object | null;

export const keyOf = (node: FieldNode) => (node.alias ?? node.name).value;

/** The fields that are asked of a type, fragments written out; null where a directive has a say in it. */
export function fieldsOf(
  { selections }: SelectionSetNode,
  type: GraphQLObjectType,
  operation: OperationInfo,
): FieldNode[] | null {
  const fields: FieldNode[] = [];
  for (const selection of selections) {
    if (selection.directives?.length) return null;
    if (selection.kind === Kind.FIELD) {
      fields.push(selection);
      continue;
    }
    const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? operation.fragments[selection.name.value] : selection;
    if (!fragment) return null;
    const condition = operation.schema.getType(fragment.typeCondition?.name.value ?? type.name);
    if (condition !== type && !(isAbstractType(condition) && operation.schema.isSubType(condition, type))) continue;
    const inner = fieldsOf(fragment.selectionSet, type, operation);
    if (!inner) return null;
    fields.push(...inner);
  }
  return fields;
}

export const infoOf = (
  operation: OperationInfo,
  parentType: GraphQLObjectType,
  node: FieldNode,
  field: { readonly type: GraphQLOutputType; readonly above?: GraphQLResolveInfo['path'] },
): GraphQLResolveInfo => ({
  fieldName: node.name.value,
  fieldNodes: [node],
  returnType: field.type,
  parentType,
  path: { prev: field.above, key: keyOf(node), typename: parentType.name },
  ...operation,
});

function planField(
  node: FieldNode,
  type: GraphQLObjectType,
  operation: OperationInfo,
  above: GraphQLResolveInfo['path'],
): PlannedField | null {
  const key = keyOf(node);
  if (node.name.value === '__typename') return { key, read: () => type.name };
  const field = type.getFields()[node.name.value];
  const leaf = field && getNullableType(field.type);
  if (!field || field.args.length > 0 || !isLeafType(leaf)) return null;
  const { resolve = defaultFieldResolver } = field;
  const info = infoOf(operation, type, node, { type: field.type, above });
  return {
    key,
    read(event, context) {
      const value: unknown = resolve(event, {}, context, info);
      return value == null || value instanceof Promise || value instanceof Error ? null : leaf.serialize(value);
    },
  };
}

/**
 * Makes a reader for the events of a type of which nothing but plain values are asked: a delta, which comes a thousand
 * times in a turn. Null for all others.
 */
export function planEvent(
  selectionSet: SelectionSetNode,
  type: GraphQLObjectType,
  operation: OperationInfo,
  above: GraphQLResolveInfo['path'],
): EventReader | null {
  const planned: PlannedField[] = [];
  for (const node of fieldsOf(selectionSet, type, operation) ?? [null]) {
    const field = node && planField(node, type, operation, above);
    if (!field) return null;
    planned.push(field);
  }
  return (event, context) => {
    const values: Record<string, unknown> = {};
    for (const { key, read } of planned) {
      const value = read(event, context);
      if (value == null) return null;
      values[key] = value;
    }
    return values;
  };
}
