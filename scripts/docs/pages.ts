import { errorTable } from '../../src/errors.js';
import { configurationPage } from './configuration-page.js';
import { describedSettings } from './described-settings.js';
import { envExample } from './env-example.js';
import { errorsPage } from './errors-page.js';

/** The documents that are made from the code, by their path in the repository. */
export const pages: Readonly<Record<string, string>> = {
  'docs/configuration.md': configurationPage(describedSettings),
  'docs/errors.md': errorsPage(errorTable),
  '.env.example': envExample(describedSettings),
};
