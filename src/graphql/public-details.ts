import type { ErrorDetails } from '../errors.js';
import { globalId } from './ids.js';

/** Details of an error as clients see them: a turn is named by the same id as everywhere in the schema. */
export const publicDetails = ({ turnId, ...details }: ErrorDetails): ErrorDetails =>
  typeof turnId === 'string' ? { ...details, turnId: globalId('Turn', turnId) } : details;
