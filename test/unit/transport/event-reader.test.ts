import {
  type ExecutionArgs,
  execute,
  GraphQLBoolean,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
  GraphQLUnionType,
  parse,
  validate,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createEventReader } from '../../../src/transport/event-reader.js';

interface Event {
  readonly type: 'Word' | 'Number';
  readonly value: unknown;
}

const text = new GraphQLNonNull(GraphQLString);
const eventInterface = new GraphQLInterfaceType({
  name: 'Event',
  fields: { place: { type: text } },
  resolveType: ({ type }: Event) => type,
});
const common = { place: { type: text, resolve: ({ type }: Event) => `a ${type}` } };
const detail = new GraphQLObjectType({ name: 'Detail', fields: { length: { type: GraphQLInt } } });
const word = new GraphQLObjectType({
  name: 'Word',
  interfaces: [eventInterface],
  fields: {
    ...common,
    value: { type: text },
    loud: { type: text, args: { twice: { type: GraphQLBoolean } }, resolve: ({ value }) => `${value}!` },
    later: { type: text, resolve: async ({ value }) => value },
    detail: { type: detail, resolve: ({ value }) => ({ length: String(value).length }) },
  },
});
const number = new GraphQLObjectType({
  name: 'Number',
  interfaces: [eventInterface],
  fields: {
    ...common,
    value: { type: GraphQLInt },
    whole: { type: GraphQLInt, resolve: (_event, _args, _c, info) => info.fieldName.length },
  },
});
const union = new GraphQLUnionType({ name: 'Any', types: [word, number], resolveType: ({ type }: Event) => type });
const schema = new GraphQLSchema({
  query: new GraphQLObjectType({ name: 'Query', fields: { nothing: { type: GraphQLInt } } }),
  subscription: new GraphQLObjectType({
    name: 'Subscription',
    fields: {
      events: {
        type: new GraphQLNonNull(union),
        args: { louder: { type: GraphQLBoolean } },
        resolve: (event: Event, { louder }) =>
          louder ? { ...event, value: String(event.value).toUpperCase() } : event,
      },
    },
  }),
});

const hello: Event = { type: 'Word', value: 'hello' };

function read(query: string, event: Event, variableValues: ExecutionArgs['variableValues'] = {}) {
  const document = parse(query);
  expect(validate(schema, document)).toEqual([]);
  const args = { schema, document, contextValue: {}, variableValues };
  return {
    result: createEventReader(args)(event),
    executed: JSON.parse(JSON.stringify(execute({ ...args, rootValue: event }))) as object,
  };
}

describe('an event of which plain values are asked', () => {
  it.each([
    ['by name', 'subscription { events { __typename ... on Word { value } } }', hello],
    [
      'by alias',
      'subscription { all: events { kind: __typename ... on Word { said: value again: value value } } }',
      hello,
    ],
    ['through an interface', 'subscription { events { ... on Event { place } ... on Number { value } } }', hello],
    [
      'in fragments',
      'subscription { ...A } fragment A on Subscription { events { ...B } } fragment B on Any { ... on Word { ...C } } fragment C on Word { value place }',
      hello,
    ],
    ['twice', 'subscription { events { ... on Word { value } ... on Event { ... on Word { value place } } } }', hello],
    ['not at all', 'subscription { events { ... on Number { value } } }', hello],
    [
      'with what resolvers are told',
      'subscription { events { ... on Number { size: whole } } }',
      { type: 'Number', value: 1 },
    ],
  ] as const)('is read as an execution would tell it, asked %s', (_how, query, event) => {
    const { result, executed } = read(query, event);
    expect(result).not.toBeNull();
    expect(result).toEqual(executed);
  });

  it('takes arguments of the subscription from variables', () => {
    const { result, executed } = read(
      'subscription S($a: Boolean) { events(louder: $a) { ... on Word { value } } }',
      hello,
      { a: true },
    );
    expect(result).toEqual({ data: { events: { value: 'HELLO' } } });
    expect(result).toEqual(executed);
  });
});

describe('an event that needs more than a look', () => {
  it.each([
    ['an object is asked for', '{ ... on Word { detail { length } } }', hello],
    ['a field has arguments', '{ ... on Word { loud } }', hello],
    ['a value comes later', '{ ... on Word { later } }', hello],
    ['a value is null', '{ ... on Number { value } }', { type: 'Number', value: null }],
    ['a value has another type', '{ ... on Number { value } }', { type: 'Number', value: 'ten' }],
    ['a value must not be null', '{ ... on Word { value } }', { type: 'Word', value: undefined }],
    ['a value is an error', '{ ... on Word { value } }', { type: 'Word', value: new Error('broken') }],
    ['its type is unknown', '{ __typename }', { type: 'Verb', value: 1 } as unknown as Event],
    ['a directive decides', '{ __typename ... on Word @skip(if: true) { value } }', hello],
    ['a directive decides on a field', '{ ... on Word { value @include(if: false) place } }', hello],
  ] as const)('is left to an execution when %s', (_why, selection, event) => {
    expect(read(`subscription { events ${selection} }`, event).result).toBeNull();
  });

  it('is left to an execution when the subscription is asked for in two parts', () => {
    expect(read('subscription { events { __typename } events { ... on Word { value } } }', hello).result).toBeNull();
  });
});
