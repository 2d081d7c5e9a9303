import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';
import { contractProblems } from '../../../scripts/contract-problems.js';

const contract = `
  interface Node { id: ID! }
  type Query { items(first: Int, kind: Kind = A): [Item!]! item(id: ID!): Item }
  type Item implements Node { id: ID! name: String }
  type Gone { id: ID! }
  union Event = Item | Gone
  enum Kind { A B }
  input Filter { text: String limit: Int = 5 }
`;
const problemsOf = (change: (sdl: string) => string, allowances: string[] = []) =>
  contractProblems(buildSchema(change(contract)), buildSchema(contract), allowances);
const replaced = (from: string, to: string) => (sdl: string) => {
  expect(sdl).toContain(from);
  return sdl.replace(from, to);
};

describe('the comparison with a contract', () => {
  it('finds nothing in the contract itself, nor in a schema that has more', () => {
    expect(problemsOf((sdl) => sdl)).toEqual([]);
    const more = (sdl: string) =>
      `${sdl.replace('name: String', 'name: String size(unit: Kind): Int').replace('text: String', 'text: String flag: Boolean').replace('first: Int', 'first: Int, skip: Int! = 0')} type New { id: ID! }`;
    expect(problemsOf(more)).toEqual([]);
  });

  it.each([
    ['a renamed field', 'name: String', 'title: String', 'Item.name is missing'],
    ['a field that may be null now', '[Item!]!', '[Item]!', 'Query.items is [Item]!, not [Item!]!'],
    ['a field that may no longer be null', 'name: String', 'name: String!', 'Item.name is String!, not String'],
    ['another type', 'name: String', 'name: Int', 'Item.name is Int, not String'],
    ['a lost argument', 'first: Int, ', '', 'Query.items(first:) is missing'],
    ['a retyped argument', 'item(id: ID!)', 'item(id: String!)', 'Query.item(id:) is String!, not ID!'],
    ['another default', 'kind: Kind = A', 'kind: Kind = B', 'Query.items(kind:) has the default B, not A'],
    ['a lost default of an input field', 'limit: Int = 5', 'limit: Int', 'Filter.limit has the default none, not 5'],
    [
      'a new required argument',
      'item(id: ID!)',
      'item(id: ID!, at: Int!)',
      'Query.item(at:) is required, but the contract does not have it',
    ],
    [
      'a new required input field',
      'text: String',
      'text: String now: Int!',
      'Filter.now is required, but the contract does not have it',
    ],
    ['a lost enum value', '{ A B }', '{ A }', 'Kind.B is missing'],
    ['an enum value that clients do not know', '{ A B }', '{ A B C }', 'Kind.C is not in the contract'],
    ['a lost union member', 'Item | Gone', 'Item', 'Event = Gone is missing'],
    ['a lost interface', ' implements Node', '', 'Item implements Node is missing'],
    [
      'another kind of type',
      'input Filter { text: String limit: Int = 5 }',
      'scalar Filter',
      'Filter is another kind of type than in the contract',
    ],
  ])('finds %s', (_what, from, to, problem) => {
    expect(problemsOf(replaced(from, to))).toEqual([problem]);
  });

  it('lets pass what is allowed to be missing, and only while it is', () => {
    const without = replaced('type Gone { id: ID! }\n  union Event = Item | Gone', 'union Event = Item');
    expect(problemsOf(without, ['Gone', 'Event = Gone'])).toEqual([]);
    expect(problemsOf(without, ['Gone'])).toEqual(['Event = Gone is missing']);
    expect(problemsOf((sdl) => sdl, ['Gone'])).toEqual(['Gone is allowed to be missing, but it is there']);
  });
});
