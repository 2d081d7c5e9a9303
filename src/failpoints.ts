/** The places where a crash is told apart from every other one, in the order in which a turn comes by them. */
export const failpointNames = [
  /** Message and turn are committed, nothing of the turn has run. */
  'after-accept',
  /** A turn has left the queue, nothing of it has run. */
  'after-promote',
  /** The ledger's row of a call is written, the request is not made. */
  'after-open-call',
  /** The provider has begun to answer, nothing of its answer is stored. */
  'after-request-sent',
  /** A part of the reply is stored, more is under way. */
  'after-flush',
  /** The assistant's message with its tool calls is committed, nobody was told. */
  'after-step',
  /** A tool has done its work, its result is not stored. */
  'after-tool-effect',
  /** A tool's result is committed, nobody was told. */
  'after-tool-result',
  /** A question is committed, nobody was told. */
  'after-question-asked',
  /** The end of the turn is committed, nobody was told. */
  'after-settle-before-tell',
  /** A turn without an owner is claimed, nothing else was done about it. */
  'after-claim',
  /** A turn was handed over by a server that stops. */
  'after-release',
] as const;

export type FailpointName = (typeof failpointNames)[number];

/**
 * Called at every such place. A test stops or breaks the process there; what is thrown counts as a fault of the code
 * around it.
 */
export type Failpoint = (name: FailpointName) => void | Promise<void>;

export const noFailpoint: Failpoint = () => {};
