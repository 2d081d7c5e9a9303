/** What the small servers read from their environment. */
export const plainSettings = ({ providerUrl, databaseUrl }) => ({
  PROVIDER_URL: providerUrl,
  DATABASE_URL: databaseUrl,
});
