import type { Prisma } from '../db/generated/prisma/client.js';

/** Money leaves the exact world here and nowhere else: one rounding to the nearest double, never a sum of doubles. */
export const toUsd = (amount: Prisma.Decimal): number => amount.toNumber();

/** Token counts as SafeInt; a count beyond 2^53 - 1 is refused by the scalar, never rounded. */
export const toSafeInt = (count: bigint): number => Number(count);
