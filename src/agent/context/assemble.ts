import { tellCurrent } from './current-round.js';
import { type Piece, tellFirst, tellRound, traceLine } from './forms.js';
import type { Plan } from './planned.js';
import { messagesOf } from './rounds.js';
import { plural } from './texts.js';

const leftOut = (count: number) => `[${plural(count, 'message')} left out here]`;
const traces = (lines: readonly string[]) => ['[Of the messages here only a trace is left:', ...lines, ']'].join('\n');
const summarised = (content: string) => `[Summary of what was said since:\n${content}\n]`;

/**
 * Adds a note of this server to a prompt: as words of the assistant, never of the user, and together with what the
 * assistant has just said, since some providers want the two to speak in turns.
 */
function addNote(pieces: Piece[], text: string): void {
  const last = pieces.at(-1)?.message;
  if (last?.role === 'assistant' && last.toolCalls.length === 0) {
    pieces[pieces.length - 1] = { message: { ...last, content: `${last.content}\n\n${text}` }, key: null };
  } else {
    pieces.push({ message: { role: 'assistant', content: text, toolCalls: [] }, key: null });
  }
}

/**
 * The messages of a prompt without the system prompt, as they are planned.
 *
 * @param omitted messages in front of the rounds of the plan that nothing tells.
 */
export function assemble(plan: Plan, omitted: number): Piece[] {
  const pieces: Piece[] = [];
  if (plan.first) pieces.push(tellFirst(plan.first, plan.firstLength));
  if (plan.summary) addNote(pieces, summarised(plan.summary.content));
  let missing = omitted;
  let lines: string[] = [];
  const writeNotes = () => {
    if (missing > 0) addNote(pieces, leftOut(missing));
    if (lines.length > 0) addNote(pieces, traces(lines));
    missing = 0;
    lines = [];
  };
  for (const { round, form, isShown } of plan.past) {
    if (form === 'trace') {
      lines.push(traceLine(round));
    } else if (form === 'dropped') {
      if (lines.length > 0) writeNotes();
      missing += messagesOf(round).length;
    } else {
      writeNotes();
      pieces.push(...tellRound(round, form, isShown));
    }
  }
  writeNotes();
  pieces.push(...tellCurrent(plan.current, plan.currentForm, plan.isCurrentShown));
  return pieces;
}
