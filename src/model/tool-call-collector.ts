import type { ModelToolCall } from './port.js';
import { storable } from './repair.js';
import type { ToolCallPiece } from './wire-chunk.js';

/** Puts tool calls together from their pieces. */
export interface ToolCallCollector {
  readonly size: number;
  /** Takes a piece; gives what it adds, to be counted. */
  add(piece: ToolCallPiece): string;
  /** @param isCut whether the output limit ended the reply, so that any call may lack its end. */
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
  function draftOf(piece: ToolCallPiece): Draft | null {
    const { index, id } = piece;
    // Some servers number nothing, and send calls whole, one after the other, or in turns under their ids.
    const possible = index === null ? drafts : drafts.filter((one) => one.index === index);
    const draft = (id === '' ? null : possible.findLast((one) => one.id === id)) ?? possible.at(-1) ?? null;
    return draft && !isAnother(draft, piece) ? draft : null;
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
      drafts.map((draft) => ({
        id: storable(draft.id),
        name: storable(draft.name),
        arguments: storable(draft.arguments),
        // They may come in turns, so what is not whole is not taken for a call without arguments.
        isTruncated: isCut && !isObject(draft.arguments),
      })),
  };
}

/** Servers that give every call the same number, or the same id, send them one after the other. */
function isAnother(draft: Draft, piece: ToolCallPiece): boolean {
  if (piece.id !== '' && draft.id !== '' && piece.id !== draft.id) return true;
  // A name that comes again with every piece comes without arguments once these are whole.
  const begins = piece.name !== '' && (piece.name !== draft.name || piece.arguments !== '');
  return begins && isObject(draft.arguments);
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
