import type { TurnEventBody } from '../events/event.js';
import type { LayoutEntry } from '../events/layout.js';
import type { FailpointName } from '../failpoints.js';
import type { AgentDependencies } from './dependencies.js';
import { OwnershipLost } from './ends.js';
import { patiently } from './patience.js';
import type { RunningTurn } from './running-turn.js';

/**
 * Stores something of a turn with its layout. False when the turn is not this owner's any more; `withheld` when it was
 * not stored for another reason.
 */
export type StoreWithLayout = (layout: readonly LayoutEntry[]) => Promise<boolean | 'withheld'>;

/**
 * Stores what happens in a turn together with the events that tell of it, then tells them: whoever sees an event finds
 * stored what it stands for. One write at a time, since each stores the layout of the whole log.
 */
export class TurnJournal {
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly deps: Pick<AgentDependencies, 'log' | 'now' | 'failpoint' | 'patienceMs'>,
    private readonly turn: Pick<RunningTurn, 'log' | 'onLost'>,
  ) {}

  /**
   * While the database is away it keeps trying, for as long as the lease of the turn holds.
   *
   * @returns false when it was withheld.
   * @param place where a test may break the process: stored and not told.
   * @throws OwnershipLost, and the error of a database that stayed away or refused.
   */
  write(events: readonly TurnEventBody[], place: FailpointName | null, store: StoreWithLayout): Promise<boolean> {
    const writing = this.#last.then(() => this.#write(events, place, store));
    this.#last = writing.catch(() => {});
    return writing;
  }

  async #write(
    events: readonly TurnEventBody[],
    place: FailpointName | null,
    store: StoreWithLayout,
  ): Promise<boolean> {
    const at = this.deps.now();
    const layout = this.turn.log.layoutWith(events, at);
    const { turnId } = this.turn.log.turn;
    const stored = await patiently(this.deps, turnId, 'a step could not be stored yet', () => store(layout));
    if (stored === 'withheld') return false;
    if (!stored) {
      // Tools that still run do so for nobody.
      this.turn.onLost();
      throw new OwnershipLost();
    }
    if (place) await this.deps.failpoint(place);
    for (const event of events) this.turn.log.append(event, at);
    return true;
  }
}
