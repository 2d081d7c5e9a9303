import { z } from 'zod';
import { defineTool } from '../define-tool.js';
import type { ServerTool } from '../tool.js';
import { ToolFailure } from '../tool-failure.js';

const parameters = z.object({
  timeZone: z
    .string()
    .max(64)
    .optional()
    .describe('IANA name of a time zone, such as Europe/Berlin. Left out: UTC only.'),
});

const isoDate = (now: Date) => now.toISOString().replace(/\.\d+Z$/, 'Z');

/** A moment as the clocks of a zone show it. @throws RangeError for a zone that is not known. */
function localTime(now: Date, timeZone: string) {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    weekday: 'long',
    timeZoneName: 'longOffset',
  });
  const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const { year, month, day, hour, minute, second, weekday, timeZoneName = 'GMT' } = parts;
  const offset = timeZoneName === 'GMT' ? '+00:00' : timeZoneName.slice('GMT'.length);
  return { timeZone, localTime: `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`, weekday };
}

/** Tells the time by the clock of this server. */
export const currentTime = (now: () => Date): ServerTool =>
  defineTool({
    name: 'current_time',
    description: 'The current date, time and weekday, in UTC and, if named, in a time zone.',
    parameters,
    origin: 'built_in',
    sideEffect: 'read',
    timeoutMs: 1_000,
    run({ timeZone }) {
      const moment = now();
      const utc = { utc: isoDate(moment), weekday: localTime(moment, 'UTC').weekday };
      if (timeZone === undefined) return utc;
      try {
        return { utc: utc.utc, ...localTime(moment, timeZone) };
      } catch (error) {
        const message = `There is no time zone ${JSON.stringify(timeZone)}: give an IANA name such as Asia/Tokyo.`;
        throw new ToolFailure('INVALID_ARGUMENTS', 'validation', message, { cause: error });
      }
    },
  });
