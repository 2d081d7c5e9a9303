import { describe, expect, it } from 'vitest';
import { currentTime } from '../../../../src/agent/tools/built-in/current-time.js';

const at = (iso: string, timeZone?: string) => currentTime(() => new Date(iso)).run({ timeZone }, {} as never);

describe('the current time', () => {
  it('is told in UTC by the clock it was given', () => {
    expect(at('2026-02-28T23:59:59.999Z')).toEqual({ utc: '2026-02-28T23:59:59Z', weekday: 'Saturday' });
  });

  it('is told as the clocks of a zone show it, with the weekday there', () => {
    expect(at('2026-02-28T23:59:59Z', 'Asia/Kolkata')).toEqual({
      utc: '2026-02-28T23:59:59Z',
      timeZone: 'Asia/Kolkata',
      localTime: '2026-03-01T05:29:59+05:30',
      weekday: 'Sunday',
    });
  });

  it('knows summer time', () => {
    expect(at('2026-01-15T12:00:00Z', 'Europe/Berlin')).toMatchObject({ localTime: '2026-01-15T13:00:00+01:00' });
    expect(at('2026-07-15T12:00:00Z', 'Europe/Berlin')).toMatchObject({ localTime: '2026-07-15T14:00:00+02:00' });
    expect(at('2026-07-15T00:00:00Z', 'UTC')).toMatchObject({ localTime: '2026-07-15T00:00:00+00:00' });
  });

  it('says that a zone is not known', () => {
    expect(() => at('2026-01-15T12:00:00Z', 'Mars/Olympus')).toThrow(/no time zone "Mars\/Olympus"/);
  });
});
