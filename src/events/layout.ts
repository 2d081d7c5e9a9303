import type { ContextReport } from './context-report.js';
import type { GoesOn, StepAssessment, StepUsage, TurnEventBody } from './event.js';
import type { ReachedLimit } from './reached-limit.js';

/**
 * The shape of a turn's log as it is stored with the turn. Reply texts are left out, since they stand in the messages;
 * `length` says how many UTF-16 units of the message a run of deltas covers. Thinking is not a message, so its text
 * stands here. `at` is in milliseconds since the epoch.
 */
export type LayoutEntry =
  | { readonly type: 'start'; readonly at: number }
  | { readonly type: 'context'; readonly at: number; readonly step: number; readonly report: ContextReport }
  | {
      readonly type: 'text';
      readonly at: number;
      readonly step: number;
      readonly messageId: string;
      readonly length: number;
      /** Only when the message itself is not stored, because it says nothing. */
      readonly text?: string;
    }
  | { readonly type: 'thinking'; readonly at: number; readonly step: number; readonly text: string }
  | {
      readonly type: 'step';
      readonly at: number;
      readonly step: number;
      readonly usage: StepUsage;
      readonly costUsd: number;
      /** Absent, like the next, in turns that ended before judgements were kept. */
      readonly assessment?: StepAssessment;
      readonly goesOn?: GoesOn | null;
    }
  | { readonly type: 'toolStart' | 'toolEnd'; readonly at: number; readonly step: number; readonly toolCallId: string }
  | {
      readonly type: 'diagnosis';
      readonly at: number;
      readonly step: number;
      readonly callId: string;
      readonly category: string;
      readonly suggestion: string;
    }
  | { readonly type: 'input' | 'inputEnd'; readonly at: number; readonly requestId: string }
  /** `reached` is there when a budget has ended the turn. */
  | { readonly type: 'end'; readonly at: number; readonly reached?: ReachedLimit };

/**
 * How far an event moves the sequence. A delta moves it by its length, so every sequence names an exact place in the
 * text and neighbouring deltas can be merged or split without renumbering.
 */
export function sequenceLength(body: TurnEventBody): number {
  return body.type === 'TextDelta' || body.type === 'ThinkingDelta' ? body.delta.length : 1;
}

/** Adds an event to a layout, joining it to a run of deltas of the same kind. */
export function extendLayout(layout: LayoutEntry[], body: TurnEventBody, at: number): void {
  const last = layout.at(-1);
  switch (body.type) {
    case 'TurnStarted':
      layout.push({ type: 'start', at });
      return;
    case 'ContextReported':
      layout.push({ type: 'context', at, step: body.step, report: body.report });
      return;
    case 'TextDelta':
      if (last?.type === 'text' && last.messageId === body.messageId) {
        layout[layout.length - 1] = { ...last, length: last.length + body.delta.length };
      } else {
        layout.push({ type: 'text', at, step: body.step, messageId: body.messageId, length: body.delta.length });
      }
      return;
    case 'ThinkingDelta':
      if (last?.type === 'thinking' && last.step === body.step) {
        layout[layout.length - 1] = { ...last, text: last.text + body.delta };
      } else {
        layout.push({ type: 'thinking', at, step: body.step, text: body.delta });
      }
      return;
    case 'StepCompleted': {
      const { type: _type, ...step } = body;
      layout.push({ type: 'step', at, ...step });
      return;
    }
    case 'ToolCallStarted':
    case 'ToolCallCompleted': {
      const type = body.type === 'ToolCallStarted' ? 'toolStart' : 'toolEnd';
      layout.push({ type, at, step: body.step, toolCallId: body.toolCallId });
      return;
    }
    case 'DiagnosisReported': {
      const { type: _type, ...diagnosis } = body;
      layout.push({ type: 'diagnosis', at, ...diagnosis });
      return;
    }
    case 'InputRequested':
    case 'InputResolved':
      layout.push({ type: body.type === 'InputRequested' ? 'input' : 'inputEnd', at, requestId: body.requestId });
      return;
    default: {
      const reached = 'reached' in body ? body.reached : undefined;
      layout.push({ type: 'end', at, ...(reached && { reached }) });
    }
  }
}

const isOfOpenStep = ({ type }: LayoutEntry) => type === 'context' || type === 'text' || type === 'thinking';

/**
 * The layout without what was told of a step that has not ended: what is left when that step is run again. A step ends
 * with a `step` entry, so these can only be the last ones.
 */
export function withoutUnfinishedStep(layout: readonly LayoutEntry[]): readonly LayoutEntry[] {
  return layout.slice(0, layout.findLastIndex((entry) => !isOfOpenStep(entry)) + 1);
}

/** How much of a message's text a layout covers, in UTF-16 units. */
export const textLength = (layout: readonly LayoutEntry[], messageId: string): number =>
  layout.reduce((sum, entry) => (entry.type === 'text' && entry.messageId === messageId ? sum + entry.length : sum), 0);

/** How far a layout moves the sequence. */
export const layoutLength = (layout: readonly LayoutEntry[]): number =>
  layout.reduce(
    (sum, entry) => sum + (entry.type === 'text' ? entry.length : entry.type === 'thinking' ? entry.text.length : 1),
    0,
  );

/** The layout with the text of a message that is not stored written into it, so that it can be told again all the same. */
export function withText(layout: readonly LayoutEntry[], messageId: string, content: string): readonly LayoutEntry[] {
  let from = 0;
  return layout.map((entry) => {
    if (entry.type !== 'text' || entry.messageId !== messageId) return entry;
    const text = content.slice(from, from + entry.length);
    from += entry.length;
    return { ...entry, text };
  });
}
