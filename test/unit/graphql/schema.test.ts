import {
  type GraphQLNamedType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isRequiredArgument,
  isSpecifiedScalarType,
  isUnionType,
  validateSchema,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { errorTable } from '../../../src/errors.js';
import { buildSchema } from '../../../src/graphql/schema.js';

const schema = buildSchema();
const ownTypes = Object.values(schema.getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

/** Every described thing of a type, by its name in the schema. */
function described(type: GraphQLNamedType): [string, string | null | undefined][] {
  const own: [string, string | null | undefined] = [type.name, type.description];
  if (isEnumType(type)) {
    return [own, ...type.getValues().map((value) => [`${type.name}.${value.name}`, value.description] as typeof own)];
  }
  if (isObjectType(type) || isInterfaceType(type)) {
    return [
      own,
      ...Object.values(type.getFields()).flatMap((field) => [
        [`${type.name}.${field.name}`, field.description] as typeof own,
        ...field.args.map((arg) => [`${type.name}.${field.name}(${arg.name}:)`, arg.description] as typeof own),
      ]),
    ];
  }
  if (isInputObjectType(type)) {
    return [
      own,
      ...Object.values(type.getFields()).map(
        (field) => [`${type.name}.${field.name}`, field.description] as typeof own,
      ),
    ];
  }
  return [own];
}

describe('the schema', () => {
  it('is a valid GraphQL schema', () => {
    expect(validateSchema(schema)).toEqual([]);
  });

  it('describes every type, field, argument, enum value and input field in a sentence', () => {
    const all = ownTypes.flatMap(described);
    const without = all.filter(([, text]) => !text || !/^\S.{3,}\.$/s.test(text));
    expect(without.map(([name]) => name)).toEqual([]);
    expect(all.length).toBeGreaterThan(250);
  });

  it('has exactly the error codes of the error table', () => {
    const type = schema.getType('ErrorCode');
    const values = isEnumType(type) ? type.getValues() : [];
    expect(values.map(({ name, description }) => [name, description])).toEqual(
      Object.entries(errorTable).map(([code, { description }]) => [code, description]),
    );
  });

  it('gives a field of the same name the same type in every member of a union', () => {
    const parted = ownTypes.filter(isUnionType).flatMap((union) => {
      const types = new Map<string, Set<string>>();
      for (const field of union.getTypes().flatMap((member) => Object.values(member.getFields()))) {
        types.set(field.name, (types.get(field.name) ?? new Set()).add(String(field.type)));
      }
      return [...types].filter(([, found]) => found.size > 1).map(([name]) => `${union.name}.${name}`);
    });
    expect(parted).toEqual([]);
  });

  it('has every stream event implement TurnEvent', () => {
    const union = schema.getType('StreamEvent');
    const members = isUnionType(union) ? union.getTypes() : [];
    expect(members.length).toBeGreaterThan(0);
    for (const member of members) {
      expect(member.getInterfaces().map(({ name }) => name)).toContain('TurnEvent');
    }
  });

  it('gives every mutation one input object or one id, so that arguments can be added', () => {
    const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
    for (const { name, args } of mutations) {
      // More of them may be left out.
      const required = args.filter(isRequiredArgument);
      expect(required, name).toHaveLength(1);
      const [argument] = required;
      const isInput = isInputObjectType(getNamedType(argument?.type));
      expect(isInput ? String(argument?.type) : argument?.type.toString(), name).toMatch(
        isInput ? /^\w+Input!$/ : /^ID!$/,
      );
    }
  });

  it('uses no input object in two mutations, so that one can change without the other', () => {
    const inputs = Object.values(schema.getMutationType()?.getFields() ?? {})
      .flatMap(({ args }) => args.map(({ type }) => getNamedType(type).name))
      .filter((name) => name !== 'ID');
    expect(new Set(inputs).size).toBe(inputs.length);
  });
});
