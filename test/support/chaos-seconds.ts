/** How long a run under load is meant to last: CHAOS_SECONDS, a minute and more before a release, 20 otherwise. */
export const chaosSeconds = Number(process.env.CHAOS_SECONDS || 20);
