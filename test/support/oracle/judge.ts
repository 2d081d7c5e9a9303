import { endProblems } from './ends.js';
import { messageProblems } from './messages.js';
import { moneyProblems } from './money.js';
import { numberProblems } from './numbers.js';
import { ownershipProblems } from './ownership.js';
import type { Run } from './run.js';
import { sliceProblems } from './slices.js';
import { textProblems } from './texts.js';
import { toolProblems } from './tool-results.js';

const rules: Readonly<Record<string, (run: Run) => string[]>> = {
  I1: messageProblems,
  I2: endProblems,
  I3: numberProblems,
  I4: sliceProblems,
  I5: textProblems,
  I6: toolProblems,
  I7: moneyProblems,
  I8: ownershipProblems,
};

/** Every violation of I1 to I8 in a run that is over. Empty in a correct product. */
export const judge = (run: Run): string[] =>
  Object.entries(rules).flatMap(([name, rule]) => rule(run).map((problem) => `${name}: ${problem}`));
