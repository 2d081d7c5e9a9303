import {
  astFromValue,
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLInputField,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  print,
} from 'graphql';

type InputElement = GraphQLArgument | GraphQLInputField;

const defaultOf = ({ defaultValue, type }: InputElement): string => {
  const node = defaultValue === undefined ? null : astFromValue(defaultValue, type);
  return node ? print(node) : 'none';
};

/**
 * Where `schema` breaks `contract`, one line each.
 *
 * @param allowances what the schema may lack: `Type`, `Type.field` or `Union = Member`; one that is not needed is a
 *   problem too, so that the list stays true
 */
export function contractProblems(
  schema: GraphQLSchema,
  contract: GraphQLSchema,
  allowances: readonly string[],
): readonly string[] {
  const problems: string[] = [];
  const unused = new Set(allowances);
  const allowed = (name: string) => unused.delete(name) || allowances.includes(name);
  const lacks = (name: string) => {
    if (!allowed(name)) {
      problems.push(`${name} is missing`);
    }
  };
  const inputs = (
    place: (name: string) => string,
    ours: readonly InputElement[],
    theirs: readonly InputElement[],
    isRequired: (element: InputElement) => boolean,
  ) => {
    for (const expected of theirs) {
      const actual = ours.find(({ name }) => name === expected.name);
      const name = place(expected.name);
      if (!actual) {
        lacks(name);
      } else if (String(actual.type) !== String(expected.type)) {
        problems.push(`${name} is ${actual.type}, not ${expected.type}`);
      } else if (expected.defaultValue !== undefined && defaultOf(actual) !== defaultOf(expected)) {
        problems.push(`${name} has the default ${defaultOf(actual)}, not ${defaultOf(expected)}`);
      }
    }
    for (const actual of ours) {
      if (isRequired(actual) && !theirs.some(({ name }) => name === actual.name)) {
        problems.push(`${place(actual.name)} is required, but the contract does not have it`);
      }
    }
  };
  const fields = (
    type: string,
    ours: Readonly<Record<string, GraphQLField<unknown, unknown>>>,
    theirs: Readonly<Record<string, GraphQLField<unknown, unknown>>>,
  ) => {
    for (const [name, expected] of Object.entries(theirs)) {
      const actual = ours[name];
      if (!actual) {
        lacks(`${type}.${name}`);
        continue;
      }
      if (String(actual.type) !== String(expected.type)) {
        problems.push(`${type}.${name} is ${actual.type}, not ${expected.type}`);
      }
      const place = (argument: string) => `${type}.${name}(${argument}:)`;
      inputs(place, actual.args, expected.args, (argument) => isRequiredArgument(argument as GraphQLArgument));
    }
  };
  const names = (place: (name: string) => string, ours: readonly string[], theirs: readonly string[]) => {
    for (const name of theirs.filter((expected) => !ours.includes(expected))) {
      lacks(place(name));
    }
  };
  const namesOf = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);
  const valuesOf = (type: GraphQLEnumType) => namesOf(type.getValues());

  const compare = (actual: GraphQLNamedType, expected: GraphQLNamedType) => {
    const { name } = expected;
    if ((isObjectType(actual) && isObjectType(expected)) || (isInterfaceType(actual) && isInterfaceType(expected))) {
      names(
        (wanted) => `${name} implements ${wanted}`,
        namesOf(actual.getInterfaces()),
        namesOf(expected.getInterfaces()),
      );
      fields(name, actual.getFields(), expected.getFields());
    } else if (isInputObjectType(actual) && isInputObjectType(expected)) {
      inputs(
        (field) => `${name}.${field}`,
        Object.values(actual.getFields()),
        Object.values(expected.getFields()),
        (field) => isRequiredInputField(field as GraphQLInputField),
      );
    } else if (isEnumType(actual) && isEnumType(expected)) {
      names((value) => `${name}.${value}`, valuesOf(actual), valuesOf(expected));
      // A client that knows the contract has no branch for a value that the contract does not have.
      for (const value of valuesOf(actual).filter((mine) => !valuesOf(expected).includes(mine))) {
        problems.push(`${name}.${value} is not in the contract`);
      }
    } else if (isUnionType(actual) && isUnionType(expected)) {
      names((member) => `${name} = ${member}`, namesOf(actual.getTypes()), namesOf(expected.getTypes()));
    } else if (actual.constructor.name !== expected.constructor.name) {
      problems.push(`${name} is another kind of type than in the contract`);
    }
  };

  for (const expected of Object.values(contract.getTypeMap())) {
    if (expected.name.startsWith('__')) {
      continue;
    }
    const actual = schema.getType(expected.name);
    if (actual) {
      compare(actual, expected);
    } else {
      lacks(expected.name);
    }
  }
  return [...problems, ...[...unused].map((name) => `${name} is allowed to be missing, but it is there`)];
}
