import type { ModelToolCall } from './port.js';
import { storable } from './repair.js';
import type { ToolCallPiece } from './wire-chunk.js';

/** Puts tool calls together from their pieces. */
export interface ToolCallCollector {
  readonly size: number;
  /** Takes a piece; gives what it adds, to be counted. */
  add(piece: ToolCallPiece): string;
  /** @param isCut whether the output limit ended the reply, so that the last call may lack its end. */
  calls(isCut: boolean): ModelToolCall[];
}

interface Draft {
  readonly index: number | null;
  id: string;
  name: string;
  arguments: string;
}

export function createToolCallCollector(): ToolCallCollector {
  const drafts: Draft[] = [];

  /** The call that a piece goes on with; null when it begins another one. */
  function draftOf({ index, id, name }: ToolCallPiece): Draft | null {
    const last = drafts.at(-1) ?? null;
    // Some servers number nothing, and send calls whole or one after the other.
    const draft = index === null ? last : (drafts.findLast((one) => one.index === index) ?? null);
    if (!draft) return null;
    // Others give every call the same number; then another id or, without ids, another name tells them apart.
    const isOther = id !== '' && draft.id !== '' && id !== draft.id;
    const isWhole = index === null && id === '' && name !== '' && isObject(draft.arguments);
    return isOther || isWhole ? null : draft;
  }

  return {
    get size() {
      return drafts.length;
    },
    add(piece) {
      const draft = draftOf(piece);
      if (!draft) {
        drafts.push({ index: piece.index, id: piece.id, name: piece.name, arguments: piece.arguments });
        return piece.name + piece.arguments;
      }
      if (draft.id === '') draft.id = piece.id;
      // A name comes once, or in pieces, or again with every piece.
      const name = piece.name === draft.name ? '' : piece.name;
      draft.name += name;
      draft.arguments += piece.arguments;
      return name + piece.arguments;
    },
    calls: (isCut) =>
      drafts.map((draft, at) => ({
        id: storable(draft.id),
        name: storable(draft.name),
        arguments: storable(draft.arguments),
        isTruncated: isCut && at === drafts.length - 1 && !isObject(draft.arguments),
      })),
  };
}

function isObject(json: string): boolean {
  if (!json.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}
