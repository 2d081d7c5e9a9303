import { type Backoff, backoffMs as backoffOf } from '../../model/backoff.js';

const backoff: Backoff = { firstMs: 250, longestMs: 30_000 };

/** How long to wait before a server is tried again, by its failures in a row; `random` is from 0 up to 1. */
export const backoffMs = (failures: number, random: number): number => backoffOf(backoff, failures, random);
