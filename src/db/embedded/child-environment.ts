/** What Postgres gets of our environment: how to find libraries, and none of the secrets. Messages are in English. */
export function childEnvironment(): NodeJS.ProcessEnv {
  const kept = ['PATH', 'LD_LIBRARY_PATH', 'DYLD_LIBRARY_PATH', 'SystemRoot', 'TMPDIR', 'TMP', 'TEMP'];
  const inherited = kept.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C', TZ: 'UTC' };
}
