import { ageOfToken } from '../stage/clock.mjs';

const length = 8;

/** Calls back with the age of every whole token of a text, in microseconds; returns where the rest begins. */
function scan(text, onToken) {
  let at = text.indexOf('~');
  while (at >= 0 && at + length <= text.length) {
    onToken(ageOfToken(text, at));
    at = text.indexOf('~', at + length);
  }
  return at < 0 ? text.length : at;
}

/** For messages, which never cut a token. */
export const scanMessage = (data, onToken) => scan(data.latin1Slice(0, data.length), onToken);

/** For the bytes of a stream, which may. */
export function createTokenScanner(onToken) {
  let rest = '';
  return (bytes) => {
    const text = rest + bytes.latin1Slice(0, bytes.length);
    rest = text.slice(scan(text, onToken));
  };
}
