import type { SeenEvent } from './run.js';

/** What a client has of a turn, built as docs/protocol.md says. */
export interface TurnView {
  readonly turnId: string;
  /** Since the last TurnStarted; nothing twice. Deltas are cut where their beginning was there already. */
  events: SeenEvent[];
  /** False when the client came in later, by a cursor. */
  isWhole: boolean;
  /** Sequence of the last event, null before the first. */
  sequence: number | null;
  isEnded: boolean;
  /** How often it was begun anew in mid-stream. */
  restarts: number;
}

export interface View {
  /** In the order in which they were first met. */
  readonly turns: readonly TurnView[];
  /** What no client should have been told, as it was told. */
  readonly problems: readonly string[];
}

const terminal = new Set(['TurnCompleted', 'TurnFailed', 'TurnStopped']);

export const isTerminalEvent = ({ __typename }: SeenEvent) => terminal.has(__typename);

/** How far an event moves the sequence. */
export const lengthOf = ({ delta }: SeenEvent) => delta?.length ?? 1;

const nameOf = ({ __typename, sequence }: SeenEvent) => `${__typename} ${sequence}`;

function cutDelta(event: SeenEvent, after: number): SeenEvent {
  if (event.delta === undefined) return event;
  return { ...event, delta: event.delta.slice(event.delta.length - (event.sequence - after)) };
}

function take(view: TurnView, event: SeenEvent, complain: (problem: string) => void): void {
  const { sequence } = view;
  if (sequence !== null && event.sequence <= sequence) return;
  if (event.__typename === 'TurnStarted') {
    if (view.isEnded) complain(`${nameOf(event)} comes after the end`);
    if (sequence !== null) view.restarts += 1;
    view.events = [event];
    view.isWhole = true;
    view.isEnded = false;
    view.sequence = event.sequence;
    return;
  }
  if (view.isEnded) complain(`${nameOf(event)} comes after the end`);
  const start = event.sequence - lengthOf(event);
  if (sequence !== null && start > sequence) complain(`${nameOf(event)} leaves out what lies after ${sequence}`);
  view.events.push(cutDelta(event, sequence ?? start));
  view.sequence = event.sequence;
  view.isEnded = isTerminalEvent(event);
}

/** Reads events in the order of their arrival, as a client does. Events of several turns may follow each other. */
export function viewOf(events: readonly SeenEvent[]): View {
  const turns = new Map<string, TurnView>();
  const problems: string[] = [];
  for (const event of events) {
    let view = turns.get(event.turnId);
    if (!view) {
      const before = [...turns.values()].at(-1);
      if (before && !before.isEnded) problems.push(`turn ${event.turnId} begins before ${before.turnId} has ended`);
      if (before?.sequence != null && event.sequence <= before.sequence) {
        problems.push(
          `${nameOf(event)} of turn ${event.turnId} is no further than the turn before it, ${before.sequence}`,
        );
      }
      view = { turnId: event.turnId, events: [], isWhole: false, sequence: null, isEnded: false, restarts: 0 };
      turns.set(event.turnId, view);
    }
    take(view, event, (problem) => problems.push(`turn ${event.turnId}: ${problem}`));
  }
  return { turns: [...turns.values()], problems };
}

/** The texts of the messages that a client has put together, by message id. */
export function textsOf({ events }: TurnView): Map<string, string> {
  const texts = new Map<string, string>();
  for (const { __typename, messageId, delta } of events) {
    if (__typename === 'TextDelta' && messageId !== undefined)
      texts.set(messageId, (texts.get(messageId) ?? '') + delta);
  }
  return texts;
}

/** The part of an event that lies behind `after` and up to `until`; null when there is none. */
function cutTo(event: SeenEvent, after: number, until: number): SeenEvent | null {
  const { delta, sequence } = event;
  const start = sequence - lengthOf(event);
  if (sequence <= after || start >= until) return null;
  if (delta === undefined) return event;
  return { ...event, delta: delta.slice(Math.max(0, after - start), delta.length - Math.max(0, sequence - until)) };
}

/** The same events in one form, however deltas were merged, as far as they lie behind `after` and up to `until`. */
export function slice(events: readonly SeenEvent[], after: number, until: number): string[] {
  const pieces: { readonly key: string; text: string }[] = [];
  for (const event of events) {
    const part = cutTo(event, after, until);
    if (!part) continue;
    const { __typename, step, messageId, delta, sequence } = part;
    const of = `${__typename}${step === undefined ? '' : ` of step ${step}`}${messageId ? ` in ${messageId}` : ''}`;
    const last = pieces.at(-1);
    if (delta === undefined) pieces.push({ key: `${of} at ${sequence}`, text: '' });
    else if (last?.key === of) last.text += delta;
    else pieces.push({ key: of, text: delta });
  }
  return pieces.map(({ key, text }) => (text === '' ? key : `${key}: ${JSON.stringify(text)}`));
}
