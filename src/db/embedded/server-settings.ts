/** The settings of the embedded server that differ from the defaults of Postgres, given at every start. */
export const serverSettings = (
  durable: boolean,
  maxConnections: number,
): Readonly<Record<string, string | number>> => ({
  // Only this machine, and only over TCP: no socket files in places that other people look after.
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: maxConnections,
  timezone: 'UTC',
  lc_messages: 'C',
  log_timezone: 'UTC',
  log_line_prefix: '',
  // Values of rows and statements are people's words and never belong into a log.
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  ...(durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
});
