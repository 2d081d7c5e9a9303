import type { ContextReport, ContextStrategy } from '../../events/context-report.js';
import { currentLevels } from './current-round.js';
import { type Level, levelIn } from './forms.js';
import { type History, recentRounds } from './history.js';
import type { Plan } from './planned.js';
import { messagesOf } from './rounds.js';

/** What became of neighbouring messages in a prompt, and why. */
export interface Decision {
  /** Sequences of the first and the last of them. */
  readonly from: number;
  readonly to: number;
  readonly messages: number;
  readonly decision: 'kept' | 'compressed' | 'dropped';
  /** How much is left of each; null of what is not told one by one. */
  readonly level: Level | null;
  readonly why: 'first request' | 'summary' | 'not read' | 'older' | 'recent' | 'current turn';
}

const oneOf = (sequence: number, level: Level | null, why: Decision['why']): Decision => ({
  from: sequence,
  to: sequence,
  messages: 1,
  decision: level === null ? 'dropped' : level === 0 ? 'kept' : 'compressed',
  level,
  why,
});

function join(decisions: readonly Decision[]): Decision[] {
  const joined: Decision[] = [];
  for (const next of decisions) {
    const last = joined.at(-1);
    if (last && last.decision === next.decision && last.level === next.level && last.why === next.why) {
      joined[joined.length - 1] = { ...last, to: next.to, messages: last.messages + next.messages };
    } else {
      joined.push(next);
    }
  }
  return joined;
}

/** What became of each message of a history, in order, neighbours that fared the same together. */
export function decide(plan: Plan, { first, summary, omitted, rounds }: History): Decision[] {
  const decisions: Decision[] = [];
  const add = (...more: Decision[]) => decisions.push(...more);
  if (first) {
    const isWhole = first.content.length <= plan.firstLength + 40;
    add(oneOf(first.sequence, plan.first ? (isWhole ? 0 : 1) : null, 'first request'));
  }
  if (summary) {
    const { from, through: to, messages } = summary;
    add({ from, to, messages, decision: plan.summary ? 'compressed' : 'dropped', level: null, why: 'summary' });
  }
  const start = rounds[0]?.groups[0]?.message.sequence ?? 1;
  if (omitted > 0) {
    const from = (decisions.at(-1)?.to ?? 0) + 1;
    add({ from, to: start - 1, messages: omitted, decision: 'dropped', level: null, why: 'not read' });
  }
  plan.past.forEach(({ round, form }, at) => {
    const why = at >= plan.past.length - recentRounds ? 'recent' : 'older';
    for (const message of messagesOf(round)) {
      add(oneOf(message.sequence, form === 'dropped' ? null : levelIn(message, form), why));
    }
  });
  const levels = currentLevels(plan.current, plan.currentForm);
  messagesOf(plan.current).forEach(({ sequence }, at) => {
    add(oneOf(sequence, levels[at] ?? null, 'current turn'));
  });
  return join(decisions);
}

const sumOf = (decisions: readonly Decision[], isMeant: (decision: Decision) => boolean) =>
  decisions.filter(isMeant).reduce((sum, { messages }) => sum + messages, 0);

function strategyOf(plan: Plan, decisions: readonly Decision[], hidesImages: boolean): ContextStrategy {
  if (decisions.some(({ decision }) => decision === 'dropped')) return 'AGGRESSIVE';
  if (plan.summary) return 'SUMMARY';
  return hidesImages || decisions.some(({ decision }) => decision === 'compressed') ? 'FIDELITY' : 'PASSTHROUGH';
}

/** The part of a report that its history makes. */
export function reportHistory(
  plan: Plan,
  decisions: readonly Decision[],
  hidesImages: boolean,
): Pick<
  ContextReport,
  'strategy' | 'messagesTotal' | 'messagesKept' | 'messagesCompressed' | 'messagesDropped' | 'fidelity'
> {
  const atLevel = (level: Level) => sumOf(decisions, (one) => one.level === level);
  return {
    strategy: strategyOf(plan, decisions, hidesImages),
    messagesTotal: sumOf(decisions, () => true),
    messagesKept: sumOf(decisions, ({ decision }) => decision === 'kept'),
    messagesCompressed: sumOf(decisions, ({ decision }) => decision === 'compressed'),
    messagesDropped: sumOf(decisions, ({ decision }) => decision === 'dropped'),
    fidelity: { l0: atLevel(0), l1: atLevel(1), l2: atLevel(2), l3: atLevel(3) },
  };
}
