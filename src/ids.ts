import { v7 } from 'uuid';

/** A new id: a UUIDv7, so that ids rise with time and index pages stay warm. */
export const newId = (): string => v7();
