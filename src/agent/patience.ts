import type { Queryable } from '../db/queries/queryable.js';
import { whileUnavailable } from '../db/while-unavailable.js';
import type { AgentDependencies } from './dependencies.js';

type Patience = Pick<AgentDependencies, 'log' | 'patienceMs'>;

/**
 * Does a piece of a turn's work in the database, and again while that is away: a restart of Postgres is no reason to end
 * a turn. The work must bear being repeated, since its answer may have been lost.
 *
 * @param delayed what could not be done yet, for the log
 * @throws what the work throws for another reason, or when the lease of the turn must have run out: whoever takes the
 *   turn up goes on from what is stored.
 */
export function patiently<Result>(
  { log, patienceMs }: Patience,
  turnId: string,
  delayed: string,
  work: () => Promise<Result>,
): Promise<Result> {
  return whileUnavailable(work, patienceMs, (error) => log.warn({ turnId, err: error }, delayed));
}

/** The database for reads of a turn that has not written anything yet, each repeated by itself. */
export const patientReads = (deps: Patience & Pick<AgentDependencies, 'db'>, turnId: string): Queryable => ({
  query: (config) => patiently(deps, turnId, 'the turn could not be read yet', () => deps.db.query(config)),
});
