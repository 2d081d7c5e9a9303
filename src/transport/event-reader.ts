import {
  defaultFieldResolver,
  type ExecutionArgs,
  type ExecutionResult,
  type FragmentDefinitionNode,
  type GraphQLField,
  getArgumentValues,
  getNullableType,
  getOperationAST,
  getVariableValues,
  isAbstractType,
  isObjectType,
  Kind,
} from 'graphql';
import { type EventReader, fieldsOf, infoOf, keyOf, type OperationInfo, planEvent } from './event-plan.js';

/** The result of an event without executing the operation anew; null when it has to be. */
export type ReadEvent = (event: unknown) => ExecutionResult | null;

const never: ReadEvent = () => null;

function operationInfo({ schema, document, operationName, variableValues }: ExecutionArgs): OperationInfo | null {
  const operation = getOperationAST(document, operationName);
  const { coerced } = operation
    ? getVariableValues(schema, operation.variableDefinitions ?? [], variableValues ?? {})
    : { coerced: undefined };
  if (!operation || !coerced) return null;
  const fragments: Record<string, FragmentDefinitionNode> = {};
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments[definition.name.value] = definition;
  }
  return { schema, fragments, rootValue: undefined, operation, variableValues: coerced };
}

/**
 * Prepares a subscription for events that are read rather than executed: the same resolvers, called in the same way,
 * without looking up again for every token which fields the document asks for. Whatever is not a plain value, or goes
 * wrong, is left to a full execution.
 */
export function createEventReader(args: ExecutionArgs): ReadEvent {
  const operation = operationInfo(args);
  const root = args.schema.getSubscriptionType();
  const [node, ...others] = (operation && root && fieldsOf(operation.operation.selectionSet, root, operation)) ?? [];
  const field: GraphQLField<unknown, unknown> | undefined = node && root?.getFields()[node.name.value];
  const type = field && getNullableType(field.type);
  if (!operation || !root || !node?.selectionSet || others.length > 0 || !field) return never;
  if (!isAbstractType(type) && !isObjectType(type)) return never;
  const { selectionSet } = node;
  const { resolve = defaultFieldResolver } = field;
  const key = keyOf(node);
  const info = infoOf(operation, root, node, field);
  const rootArgs = getArgumentValues(field, node, operation.variableValues);
  const context: unknown = args.contextValue;
  const readers = new Map<string, EventReader | null>();

  const readerOf = (name: unknown): EventReader | null => {
    if (typeof name !== 'string') return null;
    let reader = readers.get(name);
    if (reader === undefined) {
      const member = args.schema.getType(name);
      reader = isObjectType(member) ? planEvent(selectionSet, member, operation, info.path) : null;
      readers.set(name, reader);
    }
    return reader;
  };

  return (event) => {
    try {
      const value: unknown = resolve(event, rootArgs, context, info);
      const name = isObjectType(type) ? type.name : type.resolveType?.(value, context, info, type);
      const values = readerOf(name)?.(value, context);
      return values ? { data: { [key]: values } } : null;
    } catch {
      return null;
    }
  };
}
