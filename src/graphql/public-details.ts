import type { ErrorDetails } from '../errors.js';
import { globalId } from './ids.js';

/** Details of an error as clients see them: objects are named by the same ids as everywhere in the schema. */
export const publicDetails = ({ turnId, requestId, ...details }: ErrorDetails): ErrorDetails => ({
  ...details,
  ...(typeof turnId === 'string' && { turnId: globalId('Turn', turnId) }),
  ...(typeof requestId === 'string' && { requestId: globalId('InputRequest', requestId) }),
});
