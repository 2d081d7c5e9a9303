import type { ReachedLimit } from '../events/reached-limit.js';

/** The reason with which a turn's signal is aborted when its user stops it. */
export class StopRequested extends Error {
  override readonly name = 'StopRequested';
}

/** The reason when this process has to end before the turn does. */
export class ProcessEnding extends Error {
  override readonly name = 'ProcessEnding';
}

/** The reason when the turn was taken over: nothing that this process still writes about it counts. */
export class OwnershipLost extends Error {
  override readonly name = 'OwnershipLost';
}

/** The reason when the budget was used up while the turn waited in the queue. */
export class BudgetExhausted extends Error {
  override readonly name = 'BudgetExhausted';

  constructor(readonly reached: ReachedLimit) {
    super();
  }
}

/** The reason when the turn has lost too many owners to be given to one more. */
export class AttemptsExhausted extends Error {
  override readonly name = 'AttemptsExhausted';
}
