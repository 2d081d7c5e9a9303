/** How many rounds a run of rounds takes: CHAOS_ROUNDS, 200 before a release, 20 otherwise. */
export const chaosRounds = Number(process.env.CHAOS_ROUNDS || 20);
