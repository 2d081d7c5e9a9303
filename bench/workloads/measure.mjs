import { microseconds } from '../stage/clock.mjs';

/** Runs work and gives what it took: microseconds of time and of the server's CPU, and statements of Postgres. */
export async function measure({ server, database }, work) {
  const statements = await database.statements();
  const cpu = await server.ask('cpu');
  const start = microseconds();
  await work();
  const wallUs = microseconds() - start;
  return {
    wallUs,
    cpuUs: (await server.ask('cpu')) - cpu,
    statements: (await database.statements()) - statements,
  };
}
