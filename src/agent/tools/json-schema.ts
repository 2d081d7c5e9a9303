import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ReadArguments } from './tool.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** Problems that the model is told of at once, and how much of each. */
const mostProblems = 5;
const longestProblem = 200;

const options = {
  strict: false,
  // All of what is wrong at once saves the model a step for each.
  allErrors: true,
  validateFormats: false,
  logger: false,
  // Whoever wrote the schema may not make this process spend its time in an expression that never ends: patterns are
  // shown to the model and not checked.
  code: { regExp: Object.assign(() => ({ test: () => true }), { code: '' }) },
} as const;

/** Schemas that one compiler compiles: it keeps something of each for as long as it lives. */
const mostCompiled = 100;

/** One for each dialect, made when it is first needed: it takes some milliseconds. */
const compilers = new Map<string, { readonly compiler: Ajv; compiled: number }>();

function compilerOf(dialect: 'draft-07' | '2020-12'): Ajv {
  const known = compilers.get(dialect);
  if (known && known.compiled < mostCompiled) {
    known.compiled += 1;
    return known.compiler;
  }
  const compiler = dialect === 'draft-07' ? new Ajv(options) : new Ajv2020(options);
  compiler.removeKeyword('pattern').removeKeyword('patternProperties');
  compilers.set(dialect, { compiler, compiled: 1 });
  return compiler;
}

const isOlder = ({ $schema }: JsonSchema) => typeof $schema === 'string' && /draft-0[3-7]/.test($schema);

/**
 * Compiles a schema as a whole: a keyword with a value of the wrong kind anywhere in it is an error, an unknown keyword
 * is not.
 *
 * @throws for what is no JSON Schema, or refers to another document.
 */
function compile(schema: JsonSchema): ValidateFunction {
  // None of these says anything about the arguments, and each of them could do something else.
  const { $schema: _, $id: __, $async: ___, ...own } = schema;
  const compiler = compilerOf(isOlder(schema) ? 'draft-07' : '2020-12');
  try {
    return compiler.compile(own);
  } finally {
    // It would keep every schema for ever.
    compiler.removeSchema(own);
  }
}

function wordsOf({ instancePath, keyword, message, params }: ErrorObject): string {
  const path = instancePath.slice(1).replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~');
  const detail =
    keyword === 'additionalProperties' || keyword === 'unevaluatedProperties'
      ? `: ${JSON.stringify(params.additionalProperty ?? params.unevaluatedProperty)}`
      : keyword === 'enum' || keyword === 'const'
        ? `: ${JSON.stringify(params.allowedValues ?? params.allowedValue)}`
        : '';
  return `${path === '' ? 'arguments' : path}: ${message ?? 'is not valid'}${detail}`.slice(0, longestProblem);
}

/** Reads arguments by a JSON Schema; they stay as they are. What it cannot check, it does not let through. */
export type ArgumentsReader = (
  given: Readonly<Record<string, unknown>>,
) => ReadArguments<Readonly<Record<string, unknown>>>;

/**
 * A reader for the schema of an object.
 *
 * @throws Error that says what is wrong with the schema.
 */
export function readerOf(schema: JsonSchema): ArgumentsReader {
  if (schema.type !== 'object') throw new Error('its type must be "object"');
  const validate = compile(schema);
  return (given) => {
    try {
      if (validate(given)) return { value: given };
    } catch {
      // Arguments or schema go in circles deeper than the stack.
      return { problem: 'arguments: cannot be checked' };
    }
    const problems = (validate.errors ?? []).slice(0, mostProblems).map(wordsOf);
    return { problem: problems.join('; ') || 'arguments: are not valid' };
  };
}
